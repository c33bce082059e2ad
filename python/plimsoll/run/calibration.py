"""What one worker of this machine can send: for each kind of user a run of 2 s against a server on the same machine."""

from __future__ import annotations

import os
import resource
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import PlimsollError

if TYPE_CHECKING:
    from collections.abc import Iterable

NATIVE, PYTHON = "native", "python"
CALIBRATION_S = 2
CONNECTIONS = 50
TIMEOUT_S = 20.0
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
END_OF_REQUEST = b"\r\n\r\n"
LOCUSTFILE = """\
from locust import HttpUser, task


class Visitor(HttpUser):
    @task
    def get(self):
        self.client.get("/")
"""
CAPACITY = ("cpus", "native", "python", "open_files", "ports")
"""Fields of `plimsoll.run.sizing.MachineCapacity` that a machine measures of itself; each may be None but the first."""
PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")


def calibrate() -> dict[str, Any]:
    """The fields of a `MachineCapacity` that are measured here."""
    return {
        "native": requests_per_second(NATIVE),
        "python": requests_per_second(PYTHON),
        "open_files": _open_files(),
        "ports": _ports(),
    }


def requests_per_second(kind: str) -> float | None:
    """Of one worker with a core for itself, from the CPU time that each request takes; None if that cannot be measured.

    So it does not matter that the server, and whatever else runs, has the cores too."""
    with (
        tempfile.TemporaryDirectory(prefix="plimsoll-calibration-") as folder,
        socket.create_server(("127.0.0.1", 0), backlog=256) as listener,
    ):
        threading.Thread(target=answer_all, args=(listener,), daemon=True).start()
        url, store = f"http://127.0.0.1:{listener.getsockname()[1]}/", str(Path(folder) / "calibration.db")
        what = [url]
        if kind == PYTHON:
            file = Path(folder) / "calibration.py"
            file.write_text(LOCUSTFILE)
            what = ["-f", str(file), "-H", url]
        command = [
            sys.executable, "-P", "-m", "plimsoll", "run", *what, "-u", str(CONNECTIONS), "-r", str(CONNECTIONS),
            "-t", f"{CALIBRATION_S}s", "--headless", "--only-summary", "--store", store, "--yes",
        ]  # fmt: skip
        # Options of the user's environment are for the user's runs.
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("PLIMSOLL_", "LOCUST_"))
        }
        quiet = subprocess.DEVNULL
        try:
            subprocess.run(
                command, stdin=quiet, stdout=quiet, stderr=quiet, timeout=TIMEOUT_S, check=False, cwd=folder,
                env=environment,
            )  # fmt: skip
            return _per_cpu_second(store)
        except (PlimsollError, subprocess.TimeoutExpired):
            return None


def _per_cpu_second(place: str) -> float | None:
    """Of the seconds that are whole."""
    # Only here: a node that is not measured need not import it.
    from plimsoll.store import Store

    counts: Counter[int] = Counter()
    busy: defaultdict[int, float] = defaultdict(float)
    with Store.open(place, create=False) as store:
        run = store.run("last")
        for interval in run.intervals():
            counts[interval.second] += interval.count
        for row in run.health():
            busy[row.second] += row.cpu
    whole = [second for second in busy if 0 < second < CALIBRATION_S and busy[second]]
    return sum(counts[second] for second in whole) / sum(busy[second] for second in whole) if whole else None


def _open_files() -> int | None:
    """That a worker may have; None: as many as one likes."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return None if hard == resource.RLIM_INFINITY else hard


def _ports() -> int | None:
    """For connections to one address; None if that is not known."""
    try:
        low, high = (int(each) for each in PORTS.read_text().split())
    except (OSError, ValueError):
        return None
    return high - low + 1


def answer_all(listener: socket.socket) -> None:
    """Answer every request that comes, until the listener is closed. All that wait are answered together: a worker that
    gets answers one by one, as they are made, needs more time for each than a busy one does."""
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        while True:
            asked: list[tuple[socket.socket, int]] = []
            for key, _ in selector.select():
                if key.fileobj is listener:
                    try:
                        connection, _ = listener.accept()
                    except OSError:
                        return
                    selector.register(connection, selectors.EVENT_READ)
                elif isinstance(key.fileobj, socket.socket):
                    if data := _received(key.fileobj):
                        asked.append((key.fileobj, data.count(END_OF_REQUEST)))
                    else:
                        selector.unregister(key.fileobj)
                        key.fileobj.close()
            _answer(asked)


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1 << 16)
    except OSError:
        return b""


def _answer(asked: Iterable[tuple[socket.socket, int]]) -> None:
    for connection, requests in asked:
        try:
            connection.sendall(ANSWER * requests)
        except OSError:
            continue  # the next look finds the end of the connection

"""Masters, and workers that join them, as processes."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING, Any

import psutil

from plimsoll.store import Store

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.command import Command

    from plimsoll.record import Health

VISITOR = """
from locust import FastHttpUser, constant, task

class Visitor(FastHttpUser):
    wait_time = constant(0.1)
    @task
    def index(self):
        self.client.get("/")
"""
"""A locustfile."""


def free_port() -> int:
    """One that is free now: workers have to know it before there is a master."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def start_worker(
    plimsoll: Command, port: int, *arguments: str, file: str = "-", cwd: Path | None = None
) -> subprocess.Popen[str]:
    words = ("run", "-f", file, "--worker", "--master-port", str(port), *arguments)
    return plimsoll.start(*words, cwd=cwd or plimsoll.directory)


def start_master(plimsoll: Command, port: int, *arguments: str) -> subprocess.Popen[str]:
    return plimsoll.start(
        "run", "--master", "--master-bind-host", "127.0.0.1", "--master-bind-port", str(port), "--headless", *arguments
    )


def processes_of(worker: subprocess.Popen[str]) -> list[psutil.Process]:
    """Those that send load."""
    children = psutil.Process(worker.pid).children()
    return [each for each in children if "plimsoll.locust.script.process" in each.cmdline()]


def stored_health(plimsoll: Command) -> list[Health]:
    """Of the last run, as far as it is stored."""
    if not plimsoll.store.exists():
        return []
    with Store.open(str(plimsoll.store), create=False) as store:
        return [row for run in store.runs(limit=1) for row in run.health()]


def stored_facts(plimsoll: Command) -> dict[str, Any]:
    """Of the last run."""
    with Store.open(str(plimsoll.store), create=False) as store:
        return store.run("last").facts.to_json()


class Link:
    """Carries connections to a port of this machine, and nothing while it is cut: as a cable, it does not say so."""

    def __init__(self, to: int) -> None:
        self._to = to
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._is_whole = threading.Event()
        self._is_whole.set()
        self._ends = [self._listener]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def __enter__(self) -> Link:
        return self

    def __exit__(self, *_: object) -> None:
        self.mend()
        for each in self._ends:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for each in self._ends:
            each.close()

    def cut(self) -> None:
        self._is_whole.clear()

    def sever(self) -> None:
        """As a cut, but both sides learn of it. What is under way is lost."""
        self.cut()
        for each in self._ends[1:]:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._is_whole.set()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self._ends.append(near)
                try:
                    far = socket.create_connection(("127.0.0.1", self._to))
                except OSError:
                    near.shutdown(socket.SHUT_RDWR)
                    continue
                self._ends.append(far)
                for ends in ((near, far), (far, near)):
                    self._threads.append(threading.Thread(target=self._carry, args=ends))
                    self._threads[-1].start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        data = b"-"
        with contextlib.suppress(OSError):
            while data:
                data = source.recv(1 << 16)
                self._is_whole.wait()
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

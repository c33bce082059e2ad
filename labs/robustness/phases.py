"""What a command may be doing when a signal comes: how it gets there, and how the lab knows that it is there."""

import contextlib
import os
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.record.manifest import Manifest
from plimsoll.store import Store

from .visitor import VISITOR

REACHED = "reached"
"""A file that a program of a phase makes once it runs."""
MARK = f"open({REACHED!r}, 'w').close()\n"
HELD_UP = f"""
import ctypes, socket

def never(*_, **__):
    # The system's resolver: nothing in Python ends it.
    {MARK.strip()}
    lock = ctypes.create_string_buffer(64)
    c = ctypes.CDLL(None)
    c.pthread_mutex_lock(lock)
    c.pthread_mutex_lock(lock)

socket.getaddrinfo = never
"""
EXPERIMENT = """
name = "interrupted"
question = "Does it end?"
repeats = 1
cool_down = 0
[scenario]
url = "/"
run_time = "30s"
[levels]
users = 2
[target]
url = "http://127.0.0.1:{{port}}"
start = ["{python}", "-m", "http.server", "{{port}}"]
{target}
[hooks]
{hooks}
[[variant]]
name = "a"
"""
WAITS = f'["sh", "-c", "touch {{folder}}/{REACHED}; exec sleep 600"]'


@dataclass
class Surroundings:
    """What a phase needs. Everything ends with the trial."""

    folder: Path
    target: str
    """The URL of a server that answers everything except for /never."""
    silent: int
    """A port at which connections are accepted and nothing is ever sent, except a byte a second to HTTP."""
    python: str
    hits: list[float] = field(default_factory=list)
    """When the target was asked."""
    calls: list[float] = field(default_factory=list)
    """When something was sent to the silent port."""

    @property
    def errors(self) -> str:
        """What the command has printed for people so far."""
        return (self.folder / "errors").read_text(errors="replace")

    @property
    def is_marked(self) -> bool:
        return (self.folder / REACHED).exists()

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        return name

    def locustfile(self, path: str = "/", before: str = "") -> str:
        return self.write("locustfile.py", before + VISITOR.format(path=path))

    def run(self, *options: str, path: str = "/", before: str = "") -> list[str]:
        """A run of a locustfile, to which the options are added."""
        file = self.locustfile(path, before)
        return ["run", "-f", file, "-H", self.target, "--headless", "--summary", "run.json", *options]

    def run_with_page(self, *options: str) -> list[str]:
        """The same with a page, at a free port."""
        return ["run", "-f", self.locustfile(), "-H", self.target, "--web-port", "0", *options]

    def experiment(self, target: str = "", hooks: str = "") -> list[str]:
        text = EXPERIMENT.format(python=self.python, target=target, hooks=hooks.format(folder=self.folder))
        self.write("experiment.toml", text)
        return ["experiment", ".", "--yes"]


@dataclass(frozen=True)
class Phase:
    """arguments: of the command; it is in the phase once is_reached. has_report: a signal leaves a report. in_order:
    the first signal lets things end in their order, however long that takes; the second one has the limit. is_read:
    what the command prints is read."""

    arguments: Callable[[Surroundings], list[str]]
    is_reached: Callable[[Surroundings], object]
    has_report: bool = False
    in_order: bool = False
    is_read: bool = True
    environment: Callable[[Surroundings], dict[str, str]] = lambda _: {}


def _file_that_never_ends(around: Surroundings) -> list[str]:
    os.mkfifo(around.folder / "body")
    return ["run", around.target, "-d", "@body", "--headless"]


def _is_opened(around: Surroundings) -> bool:
    """Somebody reads the file. It is opened for writing from now on, and nothing is written."""
    with contextlib.suppress(OSError):
        os.open(around.folder / "body", os.O_WRONLY | os.O_NONBLOCK)
        return True
    return False


def _resolving(around: Surroundings) -> dict[str, str]:
    around.write("sitecustomize.py", HELD_UP)
    return {"PYTHONPATH": str(around.folder)}


def _locked_store(around: Surroundings) -> bool:
    """There is load, and the store is locked from now on."""
    if len(around.hits) < 20 or not (around.folder / "runs.db").exists():
        return False
    connection = sqlite3.connect(around.folder / "runs.db", timeout=0.2, isolation_level=None)
    with contextlib.suppress(sqlite3.OperationalError):
        connection.execute("BEGIN EXCLUSIVE")
        HELD.append(connection)
        return True
    return False


HELD: list[sqlite3.Connection] = []
"""Locks, until their trials are over."""


def _free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return str(listener.getsockname()[1])


def _large_file(around: Surroundings) -> list[str]:
    rows = "".join(f"{1_700_000_000_000 + n},{n % 900},GET,200,OK,t 1,text,true,100,1,1\n" for n in range(400_000))
    head = (
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,bytes,grpThreads,allThreads\n"
    )
    around.write("result.jtl", head + rows)
    return ["import", "result.jtl"]


def _busy(around: Surroundings) -> list[str]:
    arguments = around.run("-u", "1")
    around.write("locustfile.py", VISITOR.format(path="/") + f"        {MARK.strip()}\n        while True: pass\n")
    return arguments


def _serve(around: Surroundings) -> list[str]:
    with Store.open(str(around.folder / "runs.db")) as store:
        store.start_run(Manifest(started=time.time())).finish("finished", time.time(), [])
    return ["serve", "--web-port", "0"]


PHASES: dict[str, Phase] = {
    "starting": Phase(lambda around: around.run("-t", "30s"), lambda _: True),
    "reading a file": Phase(_file_that_never_ends, _is_opened),
    "resolving a name": Phase(
        lambda around: around.run_with_page("--web-host", "a-name"),
        lambda around: around.is_marked,
        environment=_resolving,
    ),
    "asking for a schema": Phase(
        lambda around: ["run", f"grpc://127.0.0.1:{around.silent}/a.B/C", "--headless", "-d", "{}"],
        lambda around: around.calls,
    ),
    "waiting for workers": Phase(
        lambda around: around.run(
            "--master", "--master-bind-host", "127.0.0.1", "--master-bind-port", _free_port(), "--expect-workers", "1"
        ),
        lambda around: "waiting for 1 worker" in around.errors,
    ),
    "importing": Phase(
        lambda around: around.run("-t", "30s", before=f"import time\n{MARK}time.sleep(600)\n"),
        lambda around: around.is_marked,
    ),
    "importing, busily": Phase(
        lambda around: around.run("-t", "30s", before=f"{MARK}while True: pass\n"), lambda around: around.is_marked
    ),
    "ramp": Phase(lambda around: around.run("-u", "500", "-r", "2"), lambda around: around.hits, has_report=True),
    "load": Phase(
        lambda around: around.run("-u", "4", "-r", "4"), lambda around: len(around.hits) > 20, has_report=True
    ),
    "native load": Phase(
        lambda around: ["run", around.target, "-u", "4", "--headless", "--summary", "run.json", "-t", "60s"],
        lambda around: len(around.hits) > 20,
        has_report=True,
    ),
    "users that do not end": Phase(
        lambda around: around.run("-u", "4", "-r", "4", "-s", "60", path="/never"),
        lambda around: len(around.hits) >= 4,
        has_report=True,
        in_order=True,
    ),
    "code that never waits": Phase(
        _busy,
        lambda around: around.is_marked,
        has_report=True,
        in_order=True,
    ),
    "observing": Phase(
        lambda around: around.run("-u", "2", "-t", "2s", "--observe", f"http://127.0.0.1:{around.silent}/metrics"),
        lambda around: "limit reached" in around.errors,
        has_report=True,
    ),
    "a locked store": Phase(lambda around: around.run("-u", "4", "-r", "4"), _locked_store, has_report=True),
    "a report that nobody reads": Phase(
        lambda around: around.run("-u", "4", "-r", "4", "-t", "1s"),
        lambda around: "Shutting down" in around.errors,
        is_read=False,
    ),
    "an open page": Phase(
        lambda around: around.run_with_page("-t", "1s", "--autostart", "--autoquit", "-1"),
        lambda around: "Shutting down" in around.errors,
    ),
    "a page that waits": Phase(
        lambda around: around.run_with_page(),
        lambda around: "Start the run there" in around.errors,
    ),
    "preparing a target": Phase(
        lambda around: around.experiment(hooks=f"prepare.wait = {WAITS}"),
        lambda around: around.is_marked,
        in_order=True,
    ),
    "waiting for a target": Phase(
        lambda around: around.experiment(f"healthy = {{{{ command = {WAITS} }}}}".format(folder=around.folder)),
        lambda around: around.is_marked,
        in_order=True,
    ),
    "seeding a target": Phase(
        lambda around: around.experiment(hooks=f"seed.wait = {WAITS}"), lambda around: around.is_marked, in_order=True
    ),
    "a search for the capacity": Phase(
        lambda around: ["capacity", around.target, "--slo", "p99 < 60s", "-t", "20s"],
        lambda around: len(around.hits) > 20,
        in_order=True,
    ),
    "importing a result": Phase(_large_file, lambda _: True),
    "serving": Phase(_serve, lambda around: "the page:" in around.errors),
    "a check of the machine": Phase(lambda around: ["doctor"], lambda _: True),
}
"""By name."""


@contextlib.contextmanager
def surroundings(folder: Path, python: str) -> Iterator[Surroundings]:
    """The servers of a trial."""
    with (
        socket.create_server(("127.0.0.1", 0), backlog=512) as target,
        socket.create_server(("127.0.0.1", 0)) as silent,
    ):
        url = f"http://127.0.0.1:{target.getsockname()[1]}"
        around = Surroundings(folder, url, silent.getsockname()[1], python)
        for listener, serve in ((target, _answer), (silent, _drip)):
            threading.Thread(target=_accept, args=(listener, serve, around), daemon=True).start()
        try:
            yield around
        finally:
            while HELD:
                HELD.pop().close()
            for listener in (target, silent):
                with contextlib.suppress(OSError):
                    listener.shutdown(socket.SHUT_RDWR)


def _accept(
    listener: socket.socket, serve: Callable[[socket.socket, Surroundings], None], around: Surroundings
) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=_served, args=(serve, connection, around), daemon=True).start()


def _served(
    serve: Callable[[socket.socket, Surroundings], None], connection: socket.socket, around: Surroundings
) -> None:
    with connection, contextlib.suppress(OSError):
        serve(connection, around)


def _answer(connection: socket.socket, around: Surroundings) -> None:
    buffer = b""
    while data := connection.recv(65536):
        buffer += data
        while b"\r\n\r\n" in buffer:
            head, _, buffer = buffer.partition(b"\r\n\r\n")
            around.hits.append(time.monotonic())
            if b"/never" in head:
                time.sleep(600)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")


def _drip(connection: socket.socket, around: Surroundings) -> None:
    begin = connection.recv(65536)
    around.calls.append(time.monotonic())
    if begin.startswith(b"GET"):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        time.sleep(1)
        if begin.startswith(b"GET"):
            connection.sendall(b"a")

"""The server of WebSockets and event streams: `echo`, which costs as little as one can, on the server's core."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from .errors import BenchError
from .nginx import Status
from .process import SERVER_CPU
from .subjects import FOLDER

ECHO = FOLDER.parent / "target" / "release" / "examples" / "echo"
EVENTS = 1_000
"""Of each response that is a stream."""


class Echo:
    """The running server; its counts are of messages and events."""

    def __init__(self, process: "subprocess.Popen[str]", place: str) -> None:
        self.place = place
        """HOST:PORT"""
        self._process = process

    def url_of(self, path: str, http2: bool) -> str:
        """The URL to which the path is added."""
        return f"{'http' if path == '/events' else 'ws'}://{self.place}"

    def cpu_seconds(self) -> float:
        """User and system time so far."""
        times = psutil.Process(self._process.pid).cpu_times()
        return float(times.user + times.system)

    def status(self) -> Status:
        """Its open connections, and the messages and events so far."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        connections, count = self._process.stdout.readline().split()
        return Status(int(connections), int(count))


@contextmanager
def running_echo() -> Iterator[Echo]:
    """Raises BenchError if it is not built."""
    if not ECHO.exists():
        raise BenchError(f"{ECHO} is missing: cargo build --release -p plimsoll-engine --examples")
    process = subprocess.Popen([str(ECHO)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        psutil.Process(process.pid).cpu_affinity([SERVER_CPU])
        assert process.stdout is not None
        yield Echo(process, process.stdout.readline().split()[-1])
    finally:
        process.communicate()  # the end of its input is its end

"""The coordinator's handle on a worker process."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

from plimsoll._engine import now
from plimsoll.run.reports import Complete, EncodedSnapshot, Ending, Exchanges, Quit, Ready
from plimsoll.run.transport import Frames, ProtocolError, RemoteWorker, unpack_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from plimsoll.errors import PlimsollError

    Report = Ready | EncodedSnapshot | Exchanges | Complete | Ending | Quit | PlimsollError

CHUNK = 1 << 20
FAREWELL = 5.0
"""Seconds that a process may take to exit once it has said all."""


class WorkerProcess:
    """A child with one worker in it. capture: its stdout and stderr come through `output` instead of going to ours."""

    def __init__(self, index: int, *, capture: bool = False) -> None:
        self.index = index
        self.users = 0
        """Alive, as it last said."""
        self.second = -1
        """The last second of the run that it has handed over."""
        self.heard = now()
        self.ending: Ending | None = None
        self.connection, theirs = socket.socketpair()
        with theirs:
            self._process = _spawn(index, theirs.fileno(), capture)
        self.connection.setblocking(False)
        self.output = self._process.stdout
        if self.output is not None:
            os.set_blocking(self.output.fileno(), False)
        self.orders = RemoteWorker(self)
        self._frames = Frames()
        self._sequence = 0
        """Of the next snapshot."""

    @property
    def pid(self) -> int:
        return self._process.pid

    def sendall(self, data: bytes) -> None:
        """For `orders`. What cannot be sent is dropped: a worker that is gone, or takes nothing in, is noticed by its
        silence."""
        with contextlib.suppress(OSError):
            self.connection.sendall(data)

    def read(self) -> Iterator[Report | None]:
        """What has come in; None as the last once nothing more will."""
        try:
            data = self.connection.recv(CHUNK)
            for name, arguments in self._frames.feed(data):
                self.heard = now()
                yield self._in_sequence(_report(name, arguments))
        except BlockingIOError:
            return
        except (OSError, ProtocolError):
            data = b""
        if not data:
            yield None

    def _in_sequence(self, report: Report) -> Report:
        if isinstance(report, EncodedSnapshot):
            if report.sequence != self._sequence:
                raise ProtocolError(f"snapshot {report.sequence} came instead of {self._sequence}")
            self._sequence += 1
        return report

    def read_output(self) -> Iterator[bytes]:
        """What it has printed since the last call; b"" as the last once nothing more will come."""
        assert self.output is not None
        with contextlib.suppress(BlockingIOError):
            data = b"-"
            while data:
                data = os.read(self.output.fileno(), CHUNK)
                yield data

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> str | None:
        """How it exited; None if well. One that does not exit by itself soon is killed."""
        self.connection.close()
        try:
            code = self._process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"exited with code {code}" if code else None


def _spawn(index: int, fd: int, capture: bool) -> subprocess.Popen[bytes]:
    # Not the current folder on sys.path (-P): a redis.py there must not meet our own imports.
    command = [sys.executable, "-P", "-m", "plimsoll.run.worker_main", str(fd), str(index)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"} if capture else None
    # An ignored signal stays ignored in the child: Ctrl-C, which goes to the whole foreground group, is ours alone.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return subprocess.Popen(
            command,
            pass_fds=(fd,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if capture else None,
            stderr=subprocess.STDOUT if capture else None,
            env=environment,
        )
    finally:
        signal.signal(signal.SIGINT, before)


def _report(name: str, arguments: list[Any]) -> Report:
    kinds: dict[str, Callable[[Any], Report]] = {
        "quit": Quit,
        "complete": Complete.from_list,
        "exchanges": Exchanges.from_list,
        "ready": Ready.from_list,
        "snapshot": EncodedSnapshot.from_list,
        "done": Ending.from_list,
        "refused": unpack_error,
    }
    if name not in kinds:
        raise ProtocolError(f"unknown report {name!r}")
    return kinds[name](arguments[0])

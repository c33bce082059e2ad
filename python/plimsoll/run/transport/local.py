"""The coordinator's handle on a worker process."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

from plimsoll._engine import now
from plimsoll.run.transport.clock import WorkerClock
from plimsoll.run.transport.frames import Frames, ProtocolError, RemoteWorker, unpack_report
from plimsoll.run.transport.messages import EncodedSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.run.transport.frames import Report
    from plimsoll.run.transport.messages import Ending

logger = logging.getLogger("plimsoll.run")

READ_BYTES = 1 << 20
MAX_BACKLOG_BYTES = 1 << 28
"""Bytes."""
EXIT_TIMEOUT_S = 5.0
"""Seconds that a process may take to exit once it has said all."""


class WorkerProcess:
    """A child with one worker, or the main node, in it.

    capture: its stdout and stderr come through `output` instead of going to ours. clock: that of its stamps, which is
    ours as long as it runs on this machine.
    """

    def __init__(self, index: int, *, capture: bool = False, clock: WorkerClock | None = None) -> None:
        self.index = index
        self._clock = clock or WorkerClock()
        self.users: dict[str, int] = {}
        """Alive per class, as it last said."""
        self.second = -1
        """The last second of the run that it has handed over."""
        self.last_report = now()
        """The stamp of what it said last; or of when it was asked to end."""
        self.ending: Ending | None = None
        self.adjustments = 0
        """Orders to have other users that it has not yet carried out; counted only if there is a main node."""
        self.connection, theirs = socket.socketpair()
        with theirs:
            self._process = _spawn(index, theirs.fileno(), capture)
        self.connection.setblocking(False)
        self.output = self._process.stdout
        if self.output is not None:
            os.set_blocking(self.output.fileno(), False)
        self.orders = RemoteWorker(self, self._clock)
        self._backlog = bytearray()
        self._frames = Frames()
        self._sequence = 0
        """Of the next snapshot."""

    @property
    def pid(self) -> int:
        return self._process.pid

    def sendall(self, data: bytes) -> None:
        """For `orders`. What it does not take at once is sent by `flush`; a process that is gone is noticed where it is
        read from, and one that takes nothing in any more is killed."""
        self._backlog += data
        self.flush()
        if len(self._backlog) > MAX_BACKLOG_BYTES:
            logger.error("process %d takes nothing in any more and is killed", self.pid)
            self.kill()
            self._backlog.clear()

    @property
    def has_backlog(self) -> bool:
        """There is something that it has not yet taken in."""
        return bool(self._backlog)

    def flush(self) -> None:
        """Send as much of the backlog as it takes."""
        try:
            while self._backlog:
                del self._backlog[: self.connection.send(self._backlog)]
        except BlockingIOError:
            pass
        except OSError:
            self._backlog.clear()

    def read(self) -> Iterator[Report | None]:
        """What has come in; None as the last once nothing more will."""
        try:
            data = self.connection.recv(READ_BYTES)
            for name, arguments in self._frames.feed(data):
                self.last_report = now()
                yield self._in_sequence(self._clock.on_coordinator(unpack_report(name, arguments)))
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
                data = os.read(self.output.fileno(), READ_BYTES)
                yield data

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> str | None:
        """How it exited; None if well. One that does not exit by itself soon is killed."""
        self.connection.close()
        try:
            code = self._process.wait(EXIT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"exited with code {code}" if code else None


def _spawn(index: int, fd: int, capture: bool) -> subprocess.Popen[bytes]:
    # Not the current folder on sys.path (-P): a redis.py there must not meet our own imports.
    command = [sys.executable, "-P", "-m", "plimsoll.locust.script.process", str(fd), str(index)]
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

"""The coordinator's handle on a worker, wherever it runs: a stream socket, and what came through it. And where one more
worker can run."""

from __future__ import annotations

import contextlib
import logging
import os
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Protocol

from plimsoll._engine import now
from plimsoll.run.transport.clock import WorkerClock
from plimsoll.run.transport.frames import Frames, ProtocolError, RemoteWorker, unpack_report
from plimsoll.run.transport.messages import EncodedSnapshot

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from plimsoll.run.transport.frames import Report
    from plimsoll.run.transport.kept import KeptSeconds
    from plimsoll.run.transport.messages import Ending

logger = logging.getLogger("plimsoll.run")

READ_BYTES = 1 << 20
MAX_BACKLOG_BYTES = 1 << 28
"""Bytes."""


class WorkerHandle:
    """One worker, or the main node, of a run.

    connection: our end of its stream. output: what it prints, if that does not go where ours goes. clock: that of its
    stamps, which is ours as long as it runs on this machine.
    """

    def __init__(
        self, index: int, connection: socket.socket, output: IO[bytes] | None = None, clock: WorkerClock | None = None
    ) -> None:
        self.index = index
        self.users: dict[str, int] = {}
        """Alive per class, as it last said."""
        self.first = 0
        """The second of the run with which it begins."""
        self.second = -1
        """The last second of the run that it has handed over."""
        self.last_report = now()
        """The stamp of what it said last; or of when it was asked to end."""
        self.ending: Ending | None = None
        self.adjustments = 0
        """Orders to have other users that it has not yet carried out; counted only if there is a main node."""
        self.connection = connection
        self.connection.setblocking(False)
        self._output = output
        if output is not None:
            os.set_blocking(output.fileno(), False)
        self.use_clock(clock or WorkerClock())
        self._backlog = bytearray()
        self._frames = Frames()
        self._sequence = 0
        """Of the next snapshot."""

    @property
    def place(self) -> str:
        """Where it runs, for messages."""
        raise NotImplementedError

    def kill(self) -> None:
        """End it now."""
        raise NotImplementedError

    def wait(self) -> str | None:
        """How it exited; None if well. One that does not exit by itself soon is killed."""
        raise NotImplementedError

    @property
    def output(self) -> IO[bytes] | None:
        """What it prints, if that does not go where ours goes."""
        return self._output

    def use_clock(self, clock: WorkerClock) -> None:
        """Map its stamps by this clock from now on. Not once second 0 is agreed: the stamp of it must stay one."""
        self._clock = clock
        self.orders = RemoteWorker(self, clock)

    def sendall(self, data: bytes) -> None:
        """For `orders`. What it does not take at once is sent by `flush`; a process that is gone is noticed where it is
        read from, and one that takes nothing in any more is killed."""
        self._backlog += data
        self.flush()
        if len(self._backlog) > MAX_BACKLOG_BYTES:
            logger.error(
                "the process of worker %d (%s) takes nothing in any more and is killed", self.index, self.place
            )
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

    def receive(self) -> bytes | None:
        """What has come in; b"" once nothing more will, None if there is nothing now."""
        try:
            return self.connection.recv(READ_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def read(self) -> Iterator[Report | None]:
        """The reports that have come in; None as the last once nothing more will."""
        if (data := self.receive()) is None:
            return
        try:
            for name, arguments in self._frames.feed(data):
                self.last_report = now()
                yield self._in_sequence(self._clock.on_coordinator(unpack_report(name, arguments)))
        except ProtocolError:
            data = b""
        if not data:
            yield None

    def _in_sequence(self, report: Report) -> Report:
        if isinstance(report, EncodedSnapshot):
            if report.sequence != self._sequence:
                raise ProtocolError(f"snapshot {report.sequence} came instead of {self._sequence}")
            self._sequence += 1
        return report

    def can_catch_up(self, kept: list[EncodedSnapshot]) -> bool:
        """None is missing between what has come and these, its last snapshots."""
        return kept[0].sequence <= self._sequence

    def catch_up(self, kept: list[EncodedSnapshot]) -> Iterator[EncodedSnapshot]:
        """Those of its last snapshots that have not come, once, with their stamps by our clock."""
        for each in kept:
            if each.sequence >= self._sequence:
                self._sequence = each.sequence + 1
                yield self._clock.on_coordinator(each)

    def read_output(self) -> Iterator[bytes]:
        """What it has printed since the last call; b"" as the last once nothing more will come."""
        return read_output(self.output)


def read_output(stream: IO[bytes] | None) -> Iterator[bytes]:
    """What can be read now from a stream that does not block; b"" as the last at its end."""
    assert stream is not None
    with contextlib.suppress(BlockingIOError):
        data = b"-"
        while data:
            data = os.read(stream.fileno(), READ_BYTES)
            yield data


@dataclass(frozen=True, slots=True)
class WorkerSlot:
    """For one more worker, on a machine of the run or on one that has come later.

    reserve: takes it for the worker of this index. Returns what starts the worker: that may take a while, and raises
    PlimsollError or OSError.
    """

    host: str
    reserve: Callable[[int], Callable[[], WorkerHandle]]


class Site(Protocol):
    """All machines of a run."""

    def free_slots(self) -> list[WorkerSlot]:
        """Those that are there now. A machine whose worker has failed has none."""
        ...

    def take_kept(self) -> list[KeptSeconds]:
        """What machines have kept of workers whose coordinator could not be reached, each once."""
        ...

"""The coordinator's handle on a worker, wherever it runs: a stream socket, and what came through it. And where one more
worker can run."""

from __future__ import annotations

import contextlib
import logging
import os
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from plimsoll._engine import now
from plimsoll.run.transport.clock import WorkerClock
from plimsoll.run.transport.frames import MAX_REPORT_BYTES, Frames, pack_order, unpack_report
from plimsoll.run.transport.messages import EncodedSnapshot
from plimsoll.run.transport.report_rules import ProtocolError, ReportOrder

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from plimsoll.record import Snapshot
    from plimsoll.run.transport.frames import Report
    from plimsoll.run.transport.messages import Ending
    from plimsoll.run.transport.orders import Order

logger = logging.getLogger("plimsoll.run")

READ_BYTES = 1 << 20
MAX_BACKLOG_BYTES = 1 << 28
"""Bytes that may wait for a worker to take them in."""


class WorkerHandle:
    """One worker, or the main node, of a run.

    connection: our end of its stream. output: what it prints, if that does not go where ours goes. clock: that of its
    stamps, which is ours as long as it runs on this machine.
    """

    is_elsewhere = False
    """Whether it may run on another machine; its requests are then also counted by worker."""

    def __init__(
        self, index: int, connection: socket.socket, output: IO[bytes] | None = None, clock: WorkerClock | None = None
    ) -> None:
        self.index = index
        self.users: dict[str, int] = {}
        """Users alive per class, as it last said."""
        self.authorizing = 0
        """Those of them that wait for a token."""
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
        self._frames = Frames(MAX_REPORT_BYTES)
        self._report_order = ReportOrder()
        self._has_asked_to_end = False
        self._sequence = 0
        """The number of the next snapshot."""
        self.breach: str | None = None
        """What it has sent that no worker sends; nothing more is read of it."""

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

    def accept(self, report: Report) -> Report:
        """What counts of it. Raises ProtocolError for what this worker may not report."""
        return report

    @property
    def has_settled(self) -> bool:
        """`wait` knows how it exited, or finds out by itself."""
        return True

    def end(self) -> str:
        """How it exited, once nothing more comes from it. One that broke the protocol is killed."""
        if self.breach is not None:
            self.kill()
        how = self.wait()
        return how or "ended without a word" if self.breach is None else f"is disconnected: it sent {self.breach}"

    def break_off(self, breach: str) -> None:
        """Read nothing more of it. breach: what it has sent."""
        self.breach = self.breach or breach

    @property
    def has_begun(self) -> bool:
        """It has said that it is ready."""
        return self._report_order.is_ready

    @property
    def output(self) -> IO[bytes] | None:
        """What it prints; None if that goes where ours goes."""
        return self._output

    def use_clock(self, clock: WorkerClock) -> None:
        """Map its stamps by this clock from now on. Not once second 0 is agreed: the stamp of it must stay one."""
        self._clock = clock

    def order(self, order: Order) -> None:
        """Have it do this. Stamps are those of our clock. Returns once it is sent, or is to be sent."""
        self._has_asked_to_end |= order.is_end
        self.sendall(pack_order(self._clock.on_worker(order)))

    def sendall(self, data: bytes) -> None:
        """Send frames. What it does not take at once is sent by `flush`; a process that is gone is noticed where it is
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
                self._report_order.take(name, self._has_asked_to_end)
                report = self.accept(unpack_report(name, arguments))
                self.last_report = now()
                yield self._in_sequence(self._clock.on_coordinator(report))
                if self.breach is not None:
                    break
        except ProtocolError as error:
            self.break_off(str(error))
        if not data or self.breach is not None:
            yield None

    def decode(self, encoded: EncodedSnapshot, clock_offset: float, latest: int) -> Snapshot | None:
        """What it has handed over; None if it cannot be. As `EncodedSnapshot.decode`."""
        try:
            snapshot = encoded.decode(clock_offset, latest)
        except ProtocolError as error:
            self.break_off(str(error))
            return None
        self.second = max((row.second for row in snapshot.health), default=self.second)
        if self.is_elsewhere:
            snapshot.count_requests()
        return snapshot

    def _in_sequence(self, report: Report) -> Report:
        if isinstance(report, EncodedSnapshot):
            if report.sequence != self._sequence:
                raise ProtocolError(f"snapshot {report.sequence} instead of {self._sequence}")
            if report.worker != self.index:
                raise ProtocolError("a snapshot of another worker")
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
        assert self.output is not None
        with contextlib.suppress(BlockingIOError):
            data = b"-"
            while data:
                data = os.read(self.output.fileno(), READ_BYTES)
                yield data


@dataclass(frozen=True, slots=True)
class WorkerSlot:
    """For one more worker, on a machine of the run or on one that has come later.

    reserve: takes it for the worker of this index. Returns what starts the worker: that may take a while, and raises
    PlimsollError or OSError.
    """

    host: str
    reserve: Callable[[int], Callable[[], WorkerHandle]]

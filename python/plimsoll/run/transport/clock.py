"""Stamps of a worker's clock as stamps of the coordinator's, and back.

Stamps are of the monotonic clock, which starts over with each boot of a machine: those of two machines have nothing in
common. A transport to other machines measures the offset of each worker's clock; on one machine it is 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from plimsoll.run.transport.messages import EncodedSnapshot, Ending, Exchanges, Expired, Sent, Started

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.record import FailureTuple
    from plimsoll.run.transport.orders import Order


@dataclass(frozen=True, slots=True)
class ClockEstimate:
    """By how much another machine's clock is ahead of ours, ns, and by how much that may be wrong."""

    offset: int
    error: int

    @classmethod
    def of(cls, trips: Iterable[tuple[int, int, int]]) -> ClockEstimate:
        """trips: (our stamp before, the other machine's stamp, our stamp after), at least one. Of the shortest trip the
        other stamp was taken in its middle, give or take half of it."""
        before, theirs, after = min(trips, key=lambda trip: trip[2] - trip[0])
        return cls(theirs - (before + after) // 2, (after - before + 1) // 2)


@dataclass(frozen=True, slots=True)
class WorkerClock:
    """offset: the worker's clock minus the coordinator's, ns."""

    offset: int = 0

    def stamp(self, coordinators: int) -> int:
        """The coordinator's stamp by the clock of the worker."""
        return coordinators + self.offset

    def on_worker(self, order: Order) -> Order:
        """An order with its stamps by the clock of the worker."""
        stamps = {name: stamp for name in order.stamps if (stamp := getattr(order, name)) is not None}
        return replace(order, **{name: self.stamp(stamp) for name, stamp in stamps.items()}) if stamps else order

    def on_coordinator(self, report: Any) -> Any:
        """A report with its stamps by the clock of the coordinator; one without stamps is returned as it is."""
        if not self.offset:
            return report
        match report:
            case EncodedSnapshot():
                failures = [self._failure(each) for each in report.failures]
                return replace(report, epoch=report.epoch - self.offset, failures=failures)
            case Exchanges():
                # Its rows are bytes: they go on counting by the worker's clock.
                return replace(report, epoch=report.epoch - self.offset, rows_ahead=self.offset)
            case Sent() | Expired() | Started():
                return replace(report, stamp=report.stamp - self.offset)
            case Ending():
                return replace(report, ended=report.ended - self.offset)
        return report

    def _failure(self, row: FailureTuple) -> FailureTuple:
        *what, first, last = row
        return (*what, first - self.offset, last - self.offset)  # type: ignore[return-value]

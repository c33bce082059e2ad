"""What a worker reports about once a second, and how much of it a record has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from plimsoll.record.generator import Health

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from plimsoll.record.exchanges import ExchangeCounts, Interval
    from plimsoll.record.failures import CaughtException, Failure

PartTuple = tuple[
    str,  # method
    str,  # name
    str,  # part
    int,  # sum of its durations, ns
    bytes,  # their histogram, V2
]

TracedTuple = tuple[
    str,  # method
    str,  # name
    str,  # outcome, a value of Outcome
    int,  # the second half of its trace
    int,  # stamp of its arrival, ns
    int,  # response time, ns
    int,  # service time, ns
]
"""An exchange that carries a trace."""

TRACEPARENT = "traceparent"
"""The header that carries a request's trace; what is known by it has this name among what was observed."""


class TracedRequest(NamedTuple):
    """A request that carries a trace. It is sent between processes as it is."""

    method: str
    name: str
    outcome: str
    """A value of `Outcome`."""
    trace: str
    """32 hexadecimal digits."""
    second: float
    """Of the run, when its response was complete."""
    response_ms: float
    service_ms: float
    server_ms: float | None = None
    """What the target itself took, by its own traces; None when that is not known."""


@dataclass(slots=True)
class Snapshot:
    """What one worker hands over about once a second. `sequence` counts from 0 without gaps."""

    worker: int
    sequence: int
    intervals: list[Interval]
    health: list[Health]
    failures: list[Failure]
    exceptions: list[CaughtException]
    users: dict[str, int]
    """Users alive, per class."""
    parts: list[PartTuple] = field(default_factory=list)
    traced: list[TracedRequest] = field(default_factory=list)
    """Requests that carry a trace: of the sample, failed ones and the slowest."""
    spans_left_out: int = 0
    """Requests of the sample, and failed ones, for which `traced` had no room."""

    def count_requests(self) -> None:
        """Note in `health` how many requests this worker had."""
        rows = {report.second: report for report in self.health}
        for interval in self.intervals:
            if (row := rows.get(interval.second)) is None:
                row = rows[interval.second] = Health(interval.second, self.worker)
                self.health.append(row)
            row.count(interval)


@dataclass(slots=True)
class RecordCounts:
    """How much data a record has. If two counts of one record differ, a part of the record is lost."""

    exchanges: int = 0
    reports: int = 0
    """Number of rows of `Health`."""

    def add(self, intervals: Iterable[ExchangeCounts], health: Collection[Health]) -> None:
        self.exchanges += sum(interval.count for interval in intervals)
        self.reports += len(health)

"""What a run consists of once it is recorded: plain values that add up.

Every value here is additive: two `Interval`s of the same key may be merged in any order, and a run is the sum of its
intervals. Percentiles are taken only from the sum.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

from plimsoll._engine import Histogram, outcomes

if TYPE_CHECKING:
    from collections.abc import Iterable
# What the engine's Recorder hands over: rows as they travel from a worker to its coordinator.
CellTuple = tuple[
    int,  # second since the epoch of the recorder; the second of `arrival`
    str,  # method
    str,  # name
    str,  # outcome
    int,  # count: exchanges
    int,  # untimed: of these, without a response time
    int,  # overflow: of these, longer than the histogram's 1 h
    int,  # bytes_out: wire
    int,  # bytes_in: wire
    int,  # bytes_body: decoded body bytes, what people call response size
    int,  # hops: redirects followed
    int,  # retries: requests sent again on a new connection
    int,  # response_sum, ns
    int,  # response_min, ns
    int,  # response_max, ns
    int,  # service_sum, ns
    bytes,  # response histogram, V2
    bytes,  # service histogram, V2
]
HealthTuple = tuple[
    int,  # second
    bytes,  # lag histogram, V2
    bytes,  # delay histogram, V2
    int,  # user_stamps: exchanges whose arrival is the user-space time
    int,  # rejected_stamps: kernel stamps that contradicted sent <= arrival <= read
    int,  # offered: arrivals of the open model that were due in this second
    int,  # dropped: of these, never sent
    int,  # exhausted: exchanges that failed because files, ports or memory of the generator ran out
]
FailureTuple = tuple[
    str,  # method
    str,  # name
    str,  # outcome
    str,  # message
    int,  # count
    int,  # first seen, ns
    int,  # last seen, ns
]

TotalTuple = tuple[
    int,  # requests: exchanges that were neither cancelled nor dropped
    int,  # failures: of these, the ones that failed
    int,  # timed: of the requests, those whose response time belongs to the latency percentiles
    int,  # bytes_body: decoded body bytes
    int,  # response_sum, ns; of the timed ones, as are the next two
    int,  # response_min, ns
    int,  # response_max, ns
    int,  # stamp of the first arrival, ns; 0 without one, as is the next
    int,  # stamp of the last arrival, ns
    int,  # untimed: of the requests, those without any response time
]

FAILURES = frozenset(name for name, failure, _ in outcomes() if failure)
CANCELLED, DROPPED = "cancelled", "dropped"
NO_REQUESTS = frozenset({CANCELLED, DROPPED})
"""Outcomes of what did not end by itself, or never began; they are counted apart."""
TIMED = frozenset(name for name, _, timed in outcomes() if timed)
"""Outcomes that tell how long an answer takes; refusals and resets are not among them."""
TIMES_OF = {"all": TIMED, "successes": TIMED - FAILURES}
"""Whose times the tables show and thresholds judge: those of failed requests with an answer too, or not."""


@dataclass(slots=True)
class Interval:
    """Exchanges of one endpoint with one outcome that arrived in one second of a run. Sums and extremes in ns."""

    second: int
    method: str
    name: str
    outcome: str
    count: int = 0
    untimed: int = 0
    overflow: int = 0
    bytes_out: int = 0
    bytes_in: int = 0
    bytes_body: int = 0
    hops: int = 0
    retries: int = 0
    response_sum: int = 0
    response_min: int = 0
    response_max: int = 0
    service_sum: int = 0
    response: Histogram = field(default_factory=Histogram)
    service: Histogram = field(default_factory=Histogram)

    @classmethod
    def from_tuple(cls, cell: CellTuple) -> Interval:
        *numbers, response, service = cell
        return cls(*numbers, Histogram.decode(response), Histogram.decode(service))  # type: ignore[call-arg, arg-type]

    @property
    def key(self) -> tuple[int, str, str, str]:
        return self.second, self.method, self.name, self.outcome

    @property
    def failed(self) -> bool:
        return self.outcome in FAILURES

    @property
    def timed(self) -> int:
        """How many of `count` carry a response time."""
        return self.count - self.untimed

    def add(self, other: Interval) -> None:
        if other.timed:
            self.response_min = min(self.response_min, other.response_min) if self.timed else other.response_min
            self.response_max = max(self.response_max, other.response_max)
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.response.add(other.response)
        self.service.add(other.service)


_SUMS = ("count", "untimed", "overflow", "bytes_out", "bytes_in", "bytes_body", "hops", "retries",
         "response_sum", "service_sum")  # fmt: skip


@dataclass(slots=True)
class Health:
    """The generator's own state in one second of one worker."""

    second: int
    worker: int
    lag: Histogram
    delay: Histogram
    user_stamps: int = 0
    rejected_stamps: int = 0
    cpu: float = 0.0
    """CPU seconds per second of this worker, 0…1 for one thread."""
    users: int = 0
    in_flight: int = 0
    waiting: int = 0
    """Arrivals that wait for a user."""
    offered: int = 0
    """Arrivals that were due in this second."""
    dropped: int = 0
    """Of these, never sent."""
    exhausted: int = 0
    """Exchanges that failed because files, ports or memory of the generator ran out."""

    @classmethod
    def from_tuple(cls, worker: int, row: HealthTuple) -> Health:
        second, lag, delay, user_stamps, rejected, offered, dropped, exhausted = row
        return cls(
            second,
            worker,
            Histogram.decode(lag),
            Histogram.decode(delay),
            user_stamps,
            rejected,
            offered=offered,
            dropped=dropped,
            exhausted=exhausted,
        )


@dataclass(slots=True)
class Failure:
    """How often one endpoint failed in one way. first and last: Unix time in seconds."""

    method: str
    name: str
    outcome: str
    message: str
    count: int
    first: float
    last: float

    @classmethod
    def from_tuple(cls, row: FailureTuple, clock_offset: float) -> Failure:
        """clock_offset: Unix time minus monotonic time, in seconds."""
        method, name, outcome, message, count, first, last = row
        return cls(method, name, outcome, message, count, first / 1e9 + clock_offset, last / 1e9 + clock_offset)

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.method, self.name, self.outcome, self.message

    def add(self, other: Failure) -> None:
        self.count += other.count
        self.first = min(self.first, other.first)
        self.last = max(self.last, other.last)


@dataclass(slots=True)
class CaughtException:
    """Exceptions that users' code let out at one place: counted by the frames of their traceback.

    Messages may differ, as one with a number in it does. message and traceback are those of the first.
    """

    message: str
    traceback: str
    count: int
    workers: set[int]

    @property
    def key(self) -> str:
        return frames_of(self.traceback)

    def add(self, other: CaughtException) -> None:
        self.count += other.count
        self.workers |= other.workers


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


def frames_of(traceback: str) -> str:
    """A traceback without what follows its frames: the lines that name the exception. One without frames as it is."""
    found = takewhile(lambda line: line.startswith("  "), traceback.splitlines(keepends=True))
    return "".join(found) or traceback


def merge(intervals: Iterable[Interval]) -> list[Interval]:
    """Sum the intervals that share a key; the input is left as it was."""
    merged: dict[tuple[int, str, str, str], Interval] = {}
    for interval in intervals:
        into = merged.get(interval.key)
        if into is None:
            into = merged[interval.key] = Interval(*interval.key)
        into.add(interval)
    return list(merged.values())

"""Exchanges of one endpoint with one outcome in one second of a run.

`Interval`s of the same key may be added in any order, and a run is the sum of its intervals. Percentiles are taken only
from the sum.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import TYPE_CHECKING

from plimsoll._engine import Histogram, others, outcomes, stream_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# What the engine's Recorder hands over: rows as they travel from a worker to its coordinator.
CellTuple = tuple[
    int,  # second since the epoch of the recorder; the second of `arrival`
    str,  # method
    str,  # name
    str,  # outcome
    *tuple[int, ...],  # `COUNTERS`, then sums and extremes, as `Interval` has them
    bytes,  # response histogram, V2
    bytes,  # service histogram, V2
    bytes,  # on-time histogram, V2; empty where it equals the service histogram
]
TotalTuple = tuple[
    int,  # requests: exchanges that were neither unanswered nor dropped
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

LARGEST = 2**63 - 1
"""The largest sum that a column of the store can have. A larger sum is stored as this number."""

OTHERS = others()
"""(method, name) of the one endpoint that counts the requests of all names beyond the limit of a run."""
STREAM_ROWS = frozenset(stream_rows())
"""Methods of the rows that streams add to those of their requests. Events are no requests, and are in no total."""
OUTCOMES = tuple(name for name, _, _ in outcomes())
"""In the order of the engine's numbers."""
FAILURES = frozenset(name for name, failure, _ in outcomes() if failure)
UNANSWERED, DROPPED = "unanswered", "dropped"
NO_REQUESTS = frozenset({UNANSWERED, DROPPED})
"""Outcomes of what did not end by itself, or never began; they are counted apart. The times of unanswered exchanges are
those of their wait, which the response would have taken at least."""
TIMED = frozenset(name for name, _, timed in outcomes() if timed)
"""Outcomes that tell how long an answer takes; refusals and resets are not among them."""
CENSORED = frozenset({"timeout"})
"""Of these, outcomes whose recorded time is only a lower bound."""
RESPONDED = TIMED - CENSORED
"""Of these, outcomes with a complete response."""
TIMES_OF = {"all": TIMED, "successes": TIMED - FAILURES}
"""The outcomes whose times tables show and thresholds judge: with or without failed requests that got an answer."""


@dataclass(slots=True)
class ExchangeCounts:
    """What is counted of exchanges of one endpoint with one outcome in one second of a run.

    A counter is declared here and in `Cell` of the record crate, in the same order. What travels, is stored, summed
    and written to CSV and Parquet is derived from this; the JSON of a run names it in `report/render/run_fields.py`.
    """

    second: int
    method: str
    name: str
    outcome: str
    count: int = 0
    """Number of exchanges."""
    untimed: int = 0
    """Exchanges without a response time."""
    overflow: int = 0
    """Exchanges that took longer than 1 h, the largest value of the histogram."""
    bytes_out: int = 0
    """Bytes sent on the wire."""
    bytes_in: int = 0
    """Bytes received on the wire."""
    bytes_body: int = 0
    """Decoded body bytes, what people call response size."""
    hops: int = 0
    """Redirects followed."""
    retries: int = 0
    """Requests sent again because a kept connection turned out to be closed."""
    connected: int = 0
    """Exchanges that opened a connection."""
    connect_sum: int = 0
    """Time that opening connections took, in ns: name resolution, connection set-up and TLS handshake."""

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

    def add_counts(self, other: ExchangeCounts) -> None:
        """Add the counters of another row, but not its times."""
        for name in COUNTERS:
            setattr(self, name, sum_of(getattr(self, name), getattr(other, name)))


@dataclass(slots=True)
class Interval(ExchangeCounts):
    """Counts of exchanges with their times. Sums, minima and maxima are in ns."""

    response_sum: int = 0
    response_min: int = 0
    response_max: int = 0
    service_sum: int = 0
    response: Histogram = field(default_factory=Histogram)
    service: Histogram = field(default_factory=Histogram)
    on_time: Histogram | None = None
    """Response times as they would be with a generator that sends on time. None: they are equal to `service`. They
    differ from it only where arrivals waited for a free user."""

    @classmethod
    def from_tuple(cls, cell: CellTuple) -> Interval:
        *numbers, response, service, on_time = cell
        times = Histogram.decode(response), Histogram.decode(service), Histogram.decode(on_time) if on_time else None
        return cls(*numbers, *times)  # type: ignore[call-arg, arg-type]

    @property
    def response_on_time(self) -> Histogram:
        """Response times as they would be with a generator that sends on time."""
        return self.service if self.on_time is None else self.on_time

    @property
    def on_time_sum(self) -> float:
        """Sum of these times in ns. It has the histogram's precision where arrivals waited for a user."""
        return self.service_sum if self.on_time is None else self.on_time.mean * self.on_time.count * 1000

    def add(self, other: Interval) -> None:
        if other.timed:
            self.response_min = min(self.response_min, other.response_min) if self.timed else other.response_min
            self.response_max = max(self.response_max, other.response_max)
        for name, more in zip(_SUMS, _sums_of(other), strict=True):
            # Most counters are 0 nearly always.
            if more:
                setattr(self, name, sum_of(getattr(self, name), more))
        if self.on_time is not None or other.on_time is not None:
            self._add_on_time(other)
        self.response.add(other.response)
        self.service.add(other.service)

    def _add_on_time(self, other: Interval) -> None:
        """Add the times with a punctual generator. Call this before the service times are added."""
        if self.on_time is None:
            self.on_time = self.service.copy()
        self.on_time.add(other.response_on_time)


COUNTERS = tuple(field_.name for field_ in fields(ExchangeCounts) if field_.default == 0)
_SUMS = (*COUNTERS, "response_sum", "service_sum")
_sums_of = attrgetter(*_SUMS)


def sum_of(*numbers: int) -> int:
    """The sum, up to the largest number that is stored."""
    return min(sum(numbers), LARGEST)


def known_sum(first: int | None, second: int | None) -> int | None:
    """The sum of what is known; None if neither is."""
    return second if first is None else first if second is None else sum_of(first, second)


def merge(intervals: Iterable[Interval]) -> list[Interval]:
    """Sum the intervals that share a key; the input does not change. An interval that shares its key with no other is
    returned as it is."""
    alike: dict[tuple[int, str, str, str], list[Interval]] = {}
    for interval in intervals:
        alike.setdefault(interval.key, []).append(interval)
    return [parts[0] if len(parts) == 1 else added_up(*key, parts) for key, parts in alike.items()]


def added_up(second: int, method: str, name: str, outcome: str, parts: Sequence[Interval]) -> Interval:
    """The sum of one or more intervals. It is equal to the result of `Interval.add`, but faster."""
    timed = [part for part in parts if part.timed]
    sums = (min(sum(numbers), LARGEST) for numbers in zip(*map(_sums_of, parts), strict=True))
    waited = any(part.on_time is not None for part in parts)
    return Interval(
        second,
        method,
        name,
        outcome,
        **dict(zip(_SUMS, sums, strict=True)),
        response_min=min((part.response_min for part in timed), default=0),
        response_max=max((part.response_max for part in timed), default=0),
        response=Histogram.sum([part.response for part in parts]),
        service=Histogram.sum([part.service for part in parts]),
        on_time=Histogram.sum([part.response_on_time for part in parts]) if waited else None,
    )


def sum_to_read(histograms: Sequence[Histogram]) -> Histogram:
    """The sum of some histograms. A single one is returned as it is, so nothing may be recorded into the result."""
    return histograms[0] if len(histograms) == 1 else Histogram.sum(histograms)

"""What a run consists of once it is recorded: plain values that add up.

Every value here is additive: two `Interval`s of the same key may be merged in any order, and a run is the sum of its
intervals. Percentiles are taken only from the sum.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from itertools import takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from plimsoll._engine import Histogram, others, outcomes, stream_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

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
HealthTuple = tuple[
    int,  # second
    *tuple[int, ...],  # `GENERATOR_COUNTERS`
    bytes,  # lag histogram, V2
    bytes,  # delay histogram, V2
]
FailureTuple = tuple[
    str,  # method
    str,  # name
    str,  # outcome
    str,  # message, with placeholders for what changes
    str,  # the first message; "" where it is the same
    bool,  # whether there was another one
    int,  # count
    int,  # first seen, ns
    int,  # last seen, ns
]

PartTuple = tuple[
    str,  # method
    str,  # name
    str,  # part
    int,  # sum of its durations, ns
    bytes,  # their histogram, V2
]

SlowTuple = tuple[
    str,  # method
    str,  # name
    str,  # outcome, a value of Outcome
    int,  # the second half of its trace
    int,  # stamp of its arrival, ns
    int,  # response time, ns
    int,  # service time, ns
]
"""One of the slowest exchanges that carry a trace."""

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
"""The largest number of a sum, which is that of a column of the store: larger ones stay at it."""

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
"""Whose times the tables show and thresholds judge: those of failed requests with an answer too, or not."""


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
    """Exchanges."""
    untimed: int = 0
    """Of these, without a response time."""
    overflow: int = 0
    """Of these, longer than the histogram's 1 h."""
    bytes_out: int = 0
    """Wire."""
    bytes_in: int = 0
    """Wire."""
    bytes_body: int = 0
    """Decoded body bytes, what people call response size."""
    hops: int = 0
    """Redirects followed."""
    retries: int = 0
    """Requests sent again because a kept connection turned out to be closed."""
    connected: int = 0
    """Exchanges that opened a connection."""
    connect_sum: int = 0
    """ns that this took: name resolution, connection set-up and TLS handshake."""

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
        """Only the counters."""
        for name in COUNTERS:
            setattr(self, name, sum_of(getattr(self, name), getattr(other, name)))


@dataclass(slots=True)
class Interval(ExchangeCounts):
    """The same with their times. Sums and extremes in ns."""

    response_sum: int = 0
    response_min: int = 0
    response_max: int = 0
    service_sum: int = 0
    response: Histogram = field(default_factory=Histogram)
    service: Histogram = field(default_factory=Histogram)
    on_time: Histogram | None = None
    """What the responses had been with a generator that sends on time. None: the same as `service`, from which it
    differs only where arrivals waited for a free user."""

    @classmethod
    def from_tuple(cls, cell: CellTuple) -> Interval:
        *numbers, response, service, on_time = cell
        times = Histogram.decode(response), Histogram.decode(service), Histogram.decode(on_time) if on_time else None
        return cls(*numbers, *times)  # type: ignore[call-arg, arg-type]

    @property
    def response_on_time(self) -> Histogram:
        """What the responses had been with a generator that sends on time."""
        return self.service if self.on_time is None else self.on_time

    @property
    def on_time_sum(self) -> float:
        """Their sum, ns; to the histogram's precision where arrivals waited for a user."""
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
        """To be called before the service times are added."""
        if self.on_time is None:
            self.on_time = self.service.copy()
        self.on_time.add(other.response_on_time)


COUNTERS = tuple(each.name for each in fields(ExchangeCounts) if each.default == 0)
_SUMS = (*COUNTERS, "response_sum", "service_sum")
_sums_of = attrgetter(*_SUMS)


@dataclass(slots=True)
class RecordCounts:
    """How much a record has, whatever of it counts: two that differ show that a part of one is lost."""

    exchanges: int = 0
    reports: int = 0
    """Rows of `Health`."""

    def add(self, intervals: Iterable[ExchangeCounts], health: Collection[Health]) -> None:
        self.exchanges += sum(each.count for each in intervals)
        self.reports += len(health)


@dataclass(kw_only=True, eq=False)
class GeneratorCounts:
    """What is counted of the generator itself in one second.

    A counter is declared here and in `HealthSecond` of the record crate, in the same order. What travels, is stored
    and summed is derived from this; the JSON of a run names it in `report/render/run_fields.py`.
    """

    user_stamps: int = 0
    """Exchanges whose arrival is the user-space time."""
    rejected_stamps: int = 0
    """Kernel stamps that contradicted sent <= arrival <= read."""
    offered: int = 0
    """Arrivals of the open model that were due in this second."""
    dropped: int = 0
    """Of these, never sent."""
    exhausted: int = 0
    """Exchanges that failed because files, ports or memory of the generator ran out."""

    def add_counts(self, other: GeneratorCounts) -> None:
        for name in GENERATOR_COUNTERS:
            setattr(self, name, sum_of(getattr(self, name), getattr(other, name)))


@dataclass(kw_only=True)
class WorkerState:
    """A worker at the end of a second.

    A second may come in several rows, of which only one carries the state; the others say 0.
    """

    cpu: float = 0.0
    """CPU seconds per second of this worker, 0…1 for one thread."""
    users: int = 0
    in_flight: int = 0
    waiting: int = 0
    """Arrivals that wait for a user."""
    silence_ms: int = 0
    """The longest time for which its loop stood still: nothing was sent and nothing was read."""
    cpu_wait_ms: int = 0
    """Time for which it was ready to run, and this computer ran something else."""
    backoff_ms: int = 0
    """Time that its users together waited before they connected again, because connecting had failed."""
    gathered_ms: int = 0
    """Time that replies together waited because the worker slept to read more of them at a time. It is part of their
    delay, but costs no throughput: sleeps that do are given up."""

    def raise_to(self, other: WorkerState) -> None:
        """Take over the state of whichever row carries it."""
        for name in WORKER_STATE:
            setattr(self, name, max(getattr(self, name), getattr(other, name)))


@dataclass
class Health(GeneratorCounts, WorkerState):
    """The generator's own state in one second of one worker."""

    second: int
    worker: int
    lag: Histogram = field(default_factory=Histogram)
    delay: Histogram = field(default_factory=Histogram)
    requests: int = 0
    """Completed requests of this worker, like the next two only in a run on several machines."""
    failures: int = 0
    """Of these, the ones that failed."""
    response: Histogram | None = None
    """Response times of those that tell how long an answer takes."""

    @classmethod
    def from_tuple(cls, worker: int, row: HealthTuple, **state: Any) -> Health:
        """state: the fields of a `WorkerState`, if the row carries it."""
        second, *numbers, lag, delay = row
        counts: dict[str, Any] = dict(zip(GENERATOR_COUNTERS, numbers, strict=True))
        return cls(second, worker, Histogram.decode(lag), Histogram.decode(delay), **counts, **state)

    def add(self, other: Health) -> None:
        """Add another row of the same second and worker."""
        self.add_counts(other)
        self.raise_to(other)
        self.lag.add(other.lag)
        self.delay.add(other.delay)
        self.requests += other.requests
        self.failures += other.failures
        if other.response is not None:
            self.response = self.response or Histogram()
            self.response.add(other.response)

    def count(self, interval: Interval) -> None:
        """Add requests of this worker in this second."""
        if interval.method in STREAM_ROWS or interval.outcome in NO_REQUESTS:
            return
        self.requests += interval.count
        self.failures += interval.count if interval.failed else 0
        if interval.outcome in TIMED:
            self.response = self.response or Histogram()
            self.response.add(interval.response)


GENERATOR_COUNTERS = tuple(each.name for each in fields(GeneratorCounts))
WORKER_STATE = tuple(each.name for each in fields(WorkerState))


@dataclass(slots=True)
class Failure:
    """How often one endpoint failed in one way. first and last: Unix time in seconds."""

    method: str
    name: str
    outcome: str
    message: str
    """What the messages have in common, with placeholders for the parts that change: a port, a duration, an id."""
    count: int
    first: float
    last: float
    example: str = ""
    """The first message; "" where it is the same."""
    is_varied: bool = False
    """Whether there was another one."""

    @classmethod
    def from_tuple(cls, row: FailureTuple, clock_offset: float) -> Failure:
        """clock_offset: Unix time minus monotonic time, in seconds."""
        method, name, outcome, message, example, is_varied, count, first, last = row
        times = first / 1e9 + clock_offset, last / 1e9 + clock_offset
        return cls(method, name, outcome, message, count, *times, example, is_varied)

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.method, self.name, self.outcome, self.message

    @property
    def text(self) -> str:
        """The message as it was, if it was always the same."""
        return self.message if self.is_varied else self.example or self.message

    def add(self, other: Failure) -> None:
        """Add failures with the same message."""
        self.is_varied |= other.is_varied or self.example != other.example
        self.count = sum_of(self.count, other.count)
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
        self.count = sum_of(self.count, other.count)
        self.workers |= other.workers


TRACEPARENT = "traceparent"
"""The header that carries a request's trace; what is known by it has this name among what was observed."""


class SlowRequest(NamedTuple):
    """One of the slowest requests that carry a trace. It is sent between processes as it is."""

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
    slowest: list[SlowRequest] = field(default_factory=list)

    def count_requests(self) -> None:
        """Note in `health` how many requests this worker had."""
        rows = {each.second: each for each in self.health}
        for interval in self.intervals:
            if (row := rows.get(interval.second)) is None:
                row = rows[interval.second] = Health(interval.second, self.worker)
                self.health.append(row)
            row.count(interval)


_ID_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
"""Without those that are taken for digits or for each other."""


def new_run_id(started: float) -> str:
    """Sortable, typable: the minute in UTC and four random characters. started: Unix time."""
    minute = datetime.fromtimestamp(started, UTC).strftime("%Y%m%d-%H%M")
    return f"{minute}-{''.join(secrets.choice(_ID_LETTERS) for _ in range(4))}"


def frames_of(traceback: str) -> str:
    """A traceback without what follows its frames: the lines that name the exception. One without frames as it is."""
    found = takewhile(lambda line: line.startswith("  "), traceback.splitlines(keepends=True))
    return "".join(found) or traceback


def sum_of(*numbers: int) -> int:
    """The sum, up to the largest number that is stored."""
    return min(sum(numbers), LARGEST)


def merge(intervals: Iterable[Interval]) -> list[Interval]:
    """Sum the intervals that share a key; the input is left as it was. One that is alone is itself its sum."""
    alike: dict[tuple[int, str, str, str], list[Interval]] = {}
    for interval in intervals:
        alike.setdefault(interval.key, []).append(interval)
    return [parts[0] if len(parts) == 1 else added_up(*key, parts) for key, parts in alike.items()]


def added_up(second: int, method: str, name: str, outcome: str, parts: Sequence[Interval]) -> Interval:
    """The sum of one or more: the same as when they are added one after the other, but faster."""
    timed = [each for each in parts if each.timed]
    sums = map(sum_of, *map(_sums_of, parts))
    waited = any(each.on_time is not None for each in parts)
    return Interval(
        second,
        method,
        name,
        outcome,
        **dict(zip(_SUMS, sums, strict=True)),
        response_min=min((each.response_min for each in timed), default=0),
        response_max=max((each.response_max for each in timed), default=0),
        response=Histogram.sum([each.response for each in parts]),
        service=Histogram.sum([each.service for each in parts]),
        on_time=Histogram.sum([each.response_on_time for each in parts]) if waited else None,
    )

"""The generator's own state, second by second and worker by worker."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from plimsoll._engine import Histogram
from plimsoll.record.exchanges import NO_REQUESTS, STREAM_ROWS, TIMED, known_sum, sum_of

if TYPE_CHECKING:
    from plimsoll.record.exchanges import Interval

HealthTuple = tuple[
    int,  # second
    *tuple[int, ...],  # `GENERATOR_COUNTERS`
    bytes,  # lag histogram, V2
    bytes,  # delay histogram, V2
]


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
    """Arrivals that were due in this second and were never sent."""
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
        """Take the state from the row that has it."""
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
    """Completed requests of this worker that failed."""
    response: Histogram | None = None
    """Response times of those that tell how long an answer takes."""
    retransmissions: int | None = None
    """TCP segments that this worker's system sent again and that were noticed in this second; None if it did not say.
    Of the seconds of one report, the last one has them."""

    @classmethod
    def from_tuple(cls, worker: int, row: HealthTuple, **state: Any) -> Health:
        """state: the fields of a `WorkerState`, and retransmissions, if the row carries them."""
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
        self.retransmissions = known_sum(self.retransmissions, other.retransmissions)

    def count(self, interval: Interval) -> None:
        """Add requests of this worker in this second."""
        if interval.method in STREAM_ROWS or interval.outcome in NO_REQUESTS:
            return
        self.requests += interval.count
        self.failures += interval.count if interval.failed else 0
        if interval.outcome in TIMED:
            self.response = self.response or Histogram()
            self.response.add(interval.response)


GENERATOR_COUNTERS = tuple(field_.name for field_ in fields(GeneratorCounts))
WORKER_STATE = tuple(field_.name for field_ in fields(WorkerState))

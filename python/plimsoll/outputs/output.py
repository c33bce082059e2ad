"""What a run hands to its outputs, and what an output does with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from plimsoll._engine import Histogram
from plimsoll.errors import PlimsollError
from plimsoll.record import STREAM_ROWS, TIMED
from plimsoll.record.events import EventName
from plimsoll.redact import redact
from plimsoll.stats.totals import AGGREGATED, Totals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.record import Health, Interval, TracedRequest
    from plimsoll.stats.thresholds.verdict import ThresholdResult

EventKind = Literal["start", "phase", "threshold_broken", "invalid", "note", "finding", "end"] | EventName

masked = lru_cache(maxsize=10_000)(redact)
"""The name of an endpoint without secrets. Names repeat every second."""


class OutputError(PlimsollError):
    """A receiver cannot be reached, or refuses what it gets."""


@dataclass(frozen=True, slots=True)
class OutputRun:
    """The run that the seconds and events after it are of."""

    id: str
    name: str
    """The name of its scenario."""
    started: float
    """Unix time of second 0."""
    host: str = ""
    """The target."""
    model: str = "closed"
    """closed or open."""
    version: str = ""
    """The version of Plimsoll."""
    commit: str = ""
    """Of the repository of its scenario; "" outside of one."""
    timed: frozenset[str] = TIMED
    """The outcomes whose times count."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What it is of in an experiment: experiment, variant, level, operation, repeat, as far as there are such."""
    trace_share: float | None = None
    """The share, 0…1, of its requests whose trace is sampled; None: with `--traceparent` all."""


class GeneratorState(NamedTuple):
    """All workers together in one second. Times are in µs."""

    workers: int
    """Connected workers."""
    users: int
    in_flight: int
    """Exchanges."""
    waiting: int
    """Arrivals that wait for a user."""
    offered: int
    """Arrivals of the open model that were due."""
    dropped: int
    """Arrivals that were due and were never sent."""
    cpu: float
    """CPU seconds per second of the busiest worker, 0…1."""
    lag: Histogram
    delay: Histogram


@dataclass(frozen=True)
class OutputSecond:
    """What the workers reported of one second. Data of earlier seconds that arrived late is part of the next second, so
    the sum of all seconds is the run. Immutable."""

    second: int
    """Of the run, from 0."""
    time: float
    """Unix time of its end."""
    state: str
    """spawning, running or stopping."""
    wanted: int | None
    """Users that the load model asks for; None in the open model."""
    connected: int
    """Workers."""
    intervals: tuple[Interval, ...] = field(repr=False, default=())
    health: tuple[Health, ...] = field(repr=False, default=())
    """Rows of this second, and late ones."""
    reports: tuple[Health, ...] = field(repr=False, default=())
    """One per worker that has reported this second: its state."""
    reasons: tuple[str, ...] = ()
    """Why the run is invalid so far. Empty: it is valid."""
    remarks: tuple[str, ...] = ()
    """What readers of the figures should know."""
    thresholds: tuple[ThresholdResult, ...] = ()
    """The results of the thresholds so far."""
    traced: tuple[TracedRequest, ...] = field(repr=False, default=())
    """With `--traceparent`: requests with a trace that were reported since the second before. Of a worker and second up
    to 200 of the sample, 50 others that failed, and the 20 slowest of the rest."""
    spans_left_out: int = 0
    """How many requests of the sample and failed ones `traced` has no room for."""

    @property
    def is_valid(self) -> bool:
        return not self.reasons

    @cached_property
    def endpoints(self) -> tuple[Totals, ...]:
        """By name, then method."""
        parts: dict[tuple[str, str], list[Interval]] = {}
        for interval in self.intervals:
            parts.setdefault((masked(interval.name), interval.method), []).append(interval)
        return tuple(Totals.of(method, name, rows, self.second) for (name, method), rows in sorted(parts.items()))

    @cached_property
    def total(self) -> Totals:
        """All endpoints together."""
        requests = (interval for interval in self.intervals if interval.method not in STREAM_ROWS)
        return Totals.of("", AGGREGATED, requests, self.second)

    @cached_property
    def generator(self) -> GeneratorState:
        return GeneratorState(
            workers=self.connected,
            users=sum(report.users for report in self.reports),
            in_flight=sum(report.in_flight for report in self.reports),
            waiting=sum(report.waiting for report in self.reports),
            offered=sum(row.offered for row in self.health),
            dropped=sum(row.dropped for row in self.health),
            cpu=max((report.cpu for report in self.reports), default=0.0),
            lag=Histogram.sum([row.lag for row in self.health]),
            delay=Histogram.sum([row.delay for row in self.health]),
        )


@dataclass(frozen=True, slots=True)
class OutputEvent:
    """Something that happened to the run."""

    kind: EventKind
    time: float
    """Unix time."""
    text: str
    """One sentence or more, without secrets."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """JSON, by name."""


class Undelivered(NamedTuple):
    """What a receiver did not take."""

    messages: int
    """Seconds and events."""
    reason: str
    """Why; "" if all messages were delivered."""
    spans: int = 0
    """Requests of the sample, and failed ones, that have no span because a second of a worker has too many."""


class Output:
    """Sends the figures of one run to one receiver. All methods are called from a thread of the output's own, in this
    order: `open`, then `second` and `event` in the order of time, `flush`, `event` for the end of the run, `flush`,
    `close`. They may wait for the receiver, but not for longer than a few seconds: what comes meanwhile is held in a
    queue, and dropped when that is full. Each does nothing by default."""

    @property
    def unconfirmed(self) -> int:
        """Seconds and events that it has, and that the receiver has not taken. May be asked from any thread."""
        return 0

    def open(self, run: OutputRun) -> None:
        """Raises OutputError if the receiver cannot be reached. The run goes on, and so do the calls."""

    def second(self, second: OutputSecond) -> None:
        """Take a second. It is called about once a second."""

    def event(self, event: OutputEvent) -> None:
        """Take an event. Events are rare."""

    def flush(self, timeout_s: float) -> Undelivered | None:
        """Deliver what is left within this time. Returns everything that was not delivered since `open`."""
        return None

    def close(self) -> None:
        """Release connections and files."""

"""What a run's observers see of it, second by second."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from plimsoll.record import merge
from plimsoll.record.facts import RunFacts
from plimsoll.report.reporting import Reporting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.record import CaughtException, Failure, Health, Interval, PartTuple, Snapshot, TracedRequest
    from plimsoll.record.events import RunEvent
    from plimsoll.record.observed import ObservedSource
    from plimsoll.stats.seconds import SecondSums
    from plimsoll.stats.study import Series
    from plimsoll.stats.view import RunView


@dataclass(slots=True)
class Batch:
    """What several snapshots say, added up. All of it is additive."""

    intervals: list[Interval] = field(default_factory=list)
    health: list[Health] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    exceptions: list[CaughtException] = field(default_factory=list)
    parts: list[PartTuple] = field(default_factory=list)
    traced: list[TracedRequest] = field(default_factory=list)
    spans_left_out: int = 0

    def add(self, snapshot: Snapshot) -> None:
        self.intervals += snapshot.intervals
        self.health += snapshot.health
        self.failures += snapshot.failures
        self.exceptions += snapshot.exceptions
        self.parts += snapshot.parts
        self.traced += snapshot.traced
        self.spans_left_out += snapshot.spans_left_out

    def merged(self) -> Batch:
        """The same with the intervals of all workers summed."""
        return replace(self, intervals=merge(self.intervals))

    def __len__(self) -> int:
        """Rows."""
        return len(self.intervals) + len(self.health) + len(self.failures) + len(self.exceptions)


@dataclass(frozen=True, slots=True)
class Progress:
    """A run at one moment."""

    batch: Batch
    """What is new since the last moment."""
    view: RunView
    """Everything up to now."""
    started: float
    """Unix time of second 0."""
    elapsed: float
    """Seconds since then."""
    loaded: float
    """Of these, the ones with load: up to now, or to the moment when the run began to stop."""
    left: float | None
    """Seconds to go; None: until somebody stops it."""
    users: int
    wanted: int | None
    """Users that there are to be; None in the open model, where arrivals decide."""
    workers: int
    """How many are left."""
    state: str
    """spawning, running or stopping."""
    seconds: Sequence[SecondSums] = ()
    """The intervals of the batch by second."""
    classes: Mapping[str, int] = field(default_factory=dict)
    """Users alive per class."""
    authorizing: int = 0
    """Users that wait for a token; their requests are not in flight yet."""
    is_editable: bool = False
    """Its load may be changed: nobody else says what it is, and it does not stop yet."""
    notes: Sequence[str] = ()
    """Of the run so far, in the order of time. The list grows."""
    events: Sequence[RunEvent] = ()
    """The same of what happened to the run."""
    facts: RunFacts = field(default_factory=RunFacts)
    """So far."""
    reporting: Reporting = field(default_factory=Reporting)
    """What the locustfile wants of the reports."""


class Observed(NamedTuple):
    """The target's side of a run."""

    series: tuple[Series, ...] = ()
    notes: tuple[str, ...] = ()
    """What is missing, and why."""
    facts: Mapping[str, ObservedSource] = {}
    """More data, by source."""


class Observer:
    """Follows a run: `start` is called once, then `second` about once a second, and `reset_at` after a reset. Each does
    nothing by default."""

    def start(self, started: float, stamp: str) -> None:
        """started: Unix time of second 0. stamp: "kernel" or "user", where arrivals are stamped. May raise
        PlimsollError; the run then ends before it has begun."""

    def second(self, progress: Progress) -> None:
        """Must neither raise nor take long."""

    def reset_at(self, second: int) -> None:
        """What was measured before this second of the run is left out from now on; views have started over."""

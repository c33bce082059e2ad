"""Events of a run: what happened while it went on, and to which worker.

The coordinator makes the events. While the run goes on, observers get each event in order (`Progress.events`). The
facts of the run keep the events, so that reports can show them later (`kept`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from plimsoll.record.codec import JsonObject

if TYPE_CHECKING:
    from plimsoll.record.facts import RunFacts

EventName = Literal[
    "worker_lost", "worker_replaced", "worker_returned", "resumed", "load_changed", "load_cut", "store_lost",
    "clock_stepped", "guard_stopped", "feeder_ended",
]  # fmt: skip
"""The kind of an event, for those who read it elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLost(JsonObject):
    """A worker ended, or could not be reached, while it had a part of the load."""

    NAME: ClassVar[EventName] = "worker_lost"

    worker: int = 0
    """Its index."""
    place: str = ""
    """Its process or its machine, as people know it."""
    how: str = ""
    """How the worker ended, as the end of a sentence: "was killed by SIGKILL"."""
    users: int = 0
    """Users of the closed model that ended with it."""
    kept_to: int | None = None
    """The last second of the worker's measurements that is kept. -1: none is kept; None: all are kept."""
    unused: tuple[str, ...] = ()
    """Parts of the load that only this worker had, and that no worker has now, in words."""
    load: Literal["taken over", "unsent", "missing"] = "missing"
    """What happens to the worker's part of the load. unsent: its arrivals are due, but no worker sends them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSeconds(JsonObject):
    """Seconds of a run in which something is true of a worker."""

    worker: int = 0
    """Its index."""
    place: str = ""
    """Its process or its machine, as people know it."""
    from_second: int = 0
    to_second: int | None = None
    """The first second after these seconds; None: they last until the end of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerReplaced(WorkerSeconds):
    """A worker took the place of a lost one. The seconds are those without a complete load."""

    NAME: ClassVar[EventName] = "worker_replaced"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerReturned(WorkerSeconds):
    """A lost worker has handed over what it measured in these seconds, which was missing."""

    NAME: ClassVar[EventName] = "worker_returned"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingRest(JsonObject):
    """A worker of which everything from a second on is missing."""

    worker: int = 0
    from_second: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed(JsonObject):
    """The process that coordinated the run was lost, and another one continued the run."""

    NAME: ClassVar[EventName] = "resumed"

    from_second: int = 0
    """The last second that the lost process coordinated."""
    to_second: int = 0
    """The first second with load again."""
    incomplete: tuple[MissingRest, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadChanged(JsonObject):
    """The load was changed by hand."""

    NAME: ClassVar[EventName] = "load_changed"

    second: int = 0
    what: str = ""
    """The load from this second on, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadCut(JsonObject):
    """The workers ended their load because the coordinating process stood still."""

    NAME: ClassVar[EventName] = "load_cut"

    seconds: float = 0.0
    """After second 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLost(JsonObject):
    """The store could not be written for a time."""

    NAME: ClassVar[EventName] = "store_lost"

    from_second: int = 0
    to_second: int | None = None
    """The second in which it could be written again; None: not so far."""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockStepped(JsonObject):
    """The clock of the machine that coordinates the run was set."""

    NAME: ClassVar[EventName] = "clock_stepped"

    second: int = 0
    step_ms: float = 0.0
    """By how much, forwards or backwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardStopped(JsonObject):
    """A guard rail, or another limit, ended the run."""

    NAME: ClassVar[EventName] = "guard_stopped"

    second: int = 0
    limit: str = ""
    """As it was written, as "--max-rate 50/s"."""
    how: str = ""
    """What was not within it, as a sentence: "it sent 61 requests within 0.10 s"; "" for a limit of time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeederEnded(JsonObject):
    """The rows of a feeder ran out, and that ended the run."""

    NAME: ClassVar[EventName] = "feeder_ended"

    second: int = 0
    feeder: str = ""
    """Its name."""
    is_measured: bool = True
    """The results have a request. Otherwise the run ended inside its warm-up."""


RunEvent = (
    WorkerLost | WorkerReplaced | WorkerReturned | Resumed | LoadChanged | LoadCut | StoreLost | ClockStepped
    | GuardStopped | FeederEnded
)  # fmt: skip


def kept(event: RunEvent, facts: RunFacts) -> RunFacts:
    """The facts of a run, with this event added."""
    match event:
        case WorkerLost():
            lost = (*(facts.lost or ()), event)
            is_taken_over = facts.load_taken_over or event.load == "taken over" or None
            return replace(facts, lost=lost, lost_workers=len(lost), load_taken_over=is_taken_over)
        case WorkerReplaced():
            return replace(facts, replaced=(*(facts.replaced or ()), event))
        case WorkerReturned(worker=worker, from_second=first):
            missing = facts.incomplete or ()
            left = tuple(gap for gap in missing if (gap.worker, gap.from_second) != (worker, first))
            lost = tuple(
                replace(loss, kept_to=None) if loss.worker == worker and loss.kept_to in (first - 1, -1) else loss
                for loss in facts.lost or ()
            )
            return replace(facts, incomplete=left or None, lost=lost or None)
        case Resumed():
            return replace(facts, resumed=(*(facts.resumed or ()), event))
        case LoadChanged():
            return replace(facts, edits=(*(facts.edits or ()), (event.second, event.what)))
        case LoadCut():
            return replace(facts, load_cut_s=event.seconds)
        case StoreLost():
            # The same comes again once the store can be written, and then has an end.
            others = (loss for loss in facts.store_lost or () if loss.from_second != event.from_second)
            return replace(facts, store_lost=(*others, event))
        case ClockStepped():
            largest = max(facts.clock_step_ms or 0.0, event.step_ms)
            return replace(facts, clock_steps=(*(facts.clock_steps or ()), event), clock_step_ms=largest)
        case GuardStopped():
            return replace(facts, guard_stopped=event)
        case FeederEnded():
            return replace(facts, feeder_ended=event)

"""Events of a run: what happened while it went on, and to which worker.

The coordinator makes the events. While the run goes on, observers get each event in order (`Progress.events`). The
facts of the run keep the events, so that reports can show them later (`kept`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from plimsoll.record.codec import JsonObject

if TYPE_CHECKING:
    from plimsoll.record.facts import RunFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLost(JsonObject):
    """A worker ended, or could not be reached, while it had a part of the load."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerReturned(WorkerSeconds):
    """A lost worker has handed over what it measured in these seconds, which was missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingRest(JsonObject):
    """A worker of which everything from a second on is missing."""

    worker: int = 0
    from_second: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed(JsonObject):
    """The process that coordinated the run was lost, and another one continued the run."""

    from_second: int = 0
    """The last second that the lost process coordinated."""
    to_second: int = 0
    """The first second with load again."""
    incomplete: tuple[MissingRest, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadChanged:
    """The load was changed by hand. what: what it was from this second on, in words."""

    second: int
    what: str


@dataclass(frozen=True, slots=True)
class LoadCut:
    """The workers ended their load so many seconds after second 0, because the coordinating process stood still."""

    seconds: float


RunEvent = WorkerLost | WorkerReplaced | WorkerReturned | Resumed | LoadChanged | LoadCut


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
        case LoadChanged(second, what):
            return replace(facts, edits=(*(facts.edits or ()), (second, what)))
        case LoadCut(seconds):
            return replace(facts, load_cut_s=seconds)

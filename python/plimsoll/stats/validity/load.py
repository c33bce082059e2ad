"""Was the load the requested load?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.validity.check import ACHIEVED, ENDED, ValidityCheck

if TYPE_CHECKING:
    from plimsoll.record.events import Resumed, WorkerLost, WorkerReplaced
    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.validity.check import CheckState
    from plimsoll.stats.view import RunView

COORDINATOR_S = 1.0
"""Seconds that the coordinating process may pause without a remark."""
STEP_MS = 1.0
"""Tolerated change of the system's clock, in ms."""

_STATES: dict[str, CheckState] = {"finished": "ok", "stopped": "remark", "running": "unknown"}
"""By the status of a run; failed with any other."""


@dataclass(frozen=True, slots=True)
class EndedCheck(ValidityCheck):
    """Whether the load went on as long as it should. A run that somebody stopped had its load until then."""

    name = ENDED
    status: str = "finished"


@dataclass(frozen=True, slots=True)
class OfferedCheck(ValidityCheck):
    """The share of the arrivals that were begun in time."""

    name = "offered"
    limit: float | None = ACHIEVED
    begun_per_s: float = 0.0
    offered_per_s: float = 0.0


@dataclass(frozen=True, slots=True)
class DroppedCheck(ValidityCheck):
    """The number of arrivals that were due, but never sent."""

    name = "dropped"
    limit: float | None = 0


@dataclass(frozen=True, slots=True)
class WorkersCheck(ValidityCheck):
    """The number of workers that were lost."""

    name = "workers"
    limit: float | None = 0
    lost: tuple[WorkerLost, ...] = ()
    """What happened to each; older versions recorded only their number."""
    is_load_taken_over: bool = False
    replaced: tuple[WorkerReplaced, ...] = ()
    """Workers that took the places of lost ones."""
    incomplete_from: int | None = None
    """The first second whose measurements are incomplete; None: all are complete."""
    incomplete_to: float = math.inf
    """The second after the last of them; infinite: the end of the run."""


@dataclass(frozen=True, slots=True)
class CoordinatorCheck(ValidityCheck):
    """Whether the coordinating process ran all the time: the seconds for which it stood still. The load continues
    without it for a while."""

    name = "coordinator"
    limit: float | None = COORDINATOR_S
    load_cut_s: float | None = None
    """Seconds after which the load ended early."""
    resumed: tuple[Resumed, ...] = ()
    """Each time that another process continued the run."""


@dataclass(frozen=True, slots=True)
class ClockCheck(ValidityCheck):
    """By how many ms the system's clock was set."""

    name = "clock"
    limit: float | None = STEP_MS
    seconds: tuple[int, ...] = ()
    """When it was set, if that is known."""


@dataclass(frozen=True, slots=True)
class ExhaustedCheck(ValidityCheck):
    """The number of exchanges that failed because files, ports or memory of the generator ran out."""

    name = "exhausted"
    limit: float | None = 0


def ended(status: str) -> EndedCheck:
    return EndedCheck(_STATES.get(status, "failed"), status=status)


def offered(view: RunView, manifest: Manifest) -> OfferedCheck:
    if not manifest.is_open:
        return OfferedCheck("n/a")
    generator = view.generator
    if not generator.offered:
        return OfferedCheck("unknown")
    left = max(generator.dropped, _waiting_at_the_end(view))
    begun = max(0, generator.offered - left)
    achieved = begun / generator.offered
    seconds = sum(1 for count in generator.offered_by_second().values() if count)
    return OfferedCheck(
        "ok" if achieved >= ACHIEVED else "failed",
        achieved,
        begun_per_s=begun / seconds,
        offered_per_s=generator.offered / seconds,
    )


def _waiting_at_the_end(view: RunView) -> int:
    """Arrivals still waiting when the last one was offered; after that the queue only drains."""
    last = max((second for second, count in view.generator.offered_by_second().items() if count), default=-1)
    return view.generator.waiting_by_second().get(last, 0)


def dropped(view: RunView, manifest: Manifest) -> DroppedCheck:
    dropped = max(view.generator.dropped, view.total.dropped)
    if dropped:
        return DroppedCheck("failed", dropped)
    return DroppedCheck("ok", 0) if manifest.is_open else DroppedCheck("n/a")


def workers(facts: RunFacts) -> WorkersCheck:
    lost, incomplete = facts.lost_workers, facts.incomplete or ()
    if not lost:
        return WorkersCheck("unknown" if lost is None else "ok", lost)
    return WorkersCheck(
        "failed",
        lost,
        lost=facts.lost or (),
        is_load_taken_over=bool(facts.load_taken_over),
        replaced=facts.replaced or (),
        incomplete_from=min((gap.from_second for gap in incomplete), default=None),
        incomplete_to=max((math.inf if gap.to_second is None else gap.to_second for gap in incomplete), default=0),
    )


def coordinator(facts: RunFacts) -> CoordinatorCheck:
    silence, cut, resumed = facts.coordinator_silence_s, facts.load_cut_s, facts.resumed or ()
    state: CheckState = "remark"
    if resumed or cut is not None:
        state = "failed"
    elif silence is None:
        state = "unknown"
    elif silence <= COORDINATOR_S:
        state = "ok"
    return CoordinatorCheck(state, silence, load_cut_s=cut, resumed=resumed)


def clock(facts: RunFacts) -> ClockCheck:
    if facts.clock_step_ms is None:
        return ClockCheck("unknown")
    step = abs(facts.clock_step_ms)
    seconds = tuple(event.second for event in facts.clock_steps or ())
    return ClockCheck("ok" if step <= STEP_MS else "failed", step, seconds=seconds)


def exhausted(view: RunView) -> ExhaustedCheck:
    if not view.generator.workers:
        return ExhaustedCheck("unknown")
    failed = view.generator.exhausted
    return ExhaustedCheck("failed" if failed else "ok", failed)

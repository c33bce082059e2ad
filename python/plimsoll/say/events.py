"""What happened to a run: one sentence for each event, without a full stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.record.events import (
    ClockStepped,
    FeederEnded,
    GuardStopped,
    LoadChanged,
    LoadCut,
    Resumed,
    StoreLost,
    WorkerLost,
    WorkerReplaced,
    WorkerReturned,
)
from plimsoll.say.durations import ms

if TYPE_CHECKING:
    from plimsoll.record.events import RunEvent


_LOADS = {"taken over": "; the others take its load over", "unsent": "; nobody sends its arrivals", "missing": ""}
"""By what becomes of the load of a lost worker."""


def event_text(event: RunEvent) -> str:
    """As the run's log, its notes and its outputs have it."""
    match event:
        case WorkerLost():
            return _lost_worker(event)
        case WorkerReplaced():
            return (
                f"worker {event.worker} ({event.place}) takes the place of a lost one from second {event.to_second} "
                f"on; its load was not complete since second {event.from_second}"
            )
        case WorkerReturned():
            return f"worker {event.worker} ({event.place}) has handed over what was missing of it"
        case Resumed():
            text = (
                f"the process that coordinated this run was lost in second {event.from_second}; another one continues "
                f"it from second {event.to_second} on, and between them there was no load"
            )
            return text + "".join(
                f"; what worker {rest.worker} measured from second {rest.from_second} on is missing"
                for rest in event.incomplete
            )
        case LoadChanged():
            return f"the load was changed by hand in second {event.second}: {event.what}"
        case LoadCut():
            return f"the coordinating process stood still, so the workers ended their load after {event.seconds:.1f} s"
        case StoreLost(to_second=None):
            return (
                f"{event.reason}; the run goes on, its seconds since second {event.from_second} are held in memory and "
                "tried again"
            )
        case StoreLost():
            return (
                f"the store could not be written from second {event.from_second} to {event.to_second} "
                f"({event.reason}); what was held in memory is stored"
            )
        case ClockStepped():
            return f"the clock was set by {ms(event.step_ms)} in second {event.second}"
        case GuardStopped():
            return f"the run was ended by {event.limit}{f': {event.how}' if event.how else ''}"
        case FeederEnded(is_measured=True):
            return f"the rows of feeder {event.feeder} ran out in second {event.second}, which ended the run"
        case FeederEnded():
            return (
                f"the rows of feeder {event.feeder} ran out in second {event.second}, before the end of the warm-up, "
                "which ended the run: nothing was measured"
            )


def phase_text(name: str, *, is_warmup: bool) -> str:
    """The begin of a phase of the load."""
    return f"Phase {name} begins{'; it is left out of the results' if is_warmup else ''}."


def _lost_worker(event: WorkerLost) -> str:
    users = {0: "", 1: "its user is lost, "}.get(event.users, f"its {event.users} users are lost, ")
    kept = "all that it measured"
    if event.kept_to is not None:
        kept = f"what it measured up to second {event.kept_to}" if event.kept_to >= 0 else "nothing of it"
    text = f"worker {event.worker} ({event.place}) {event.how}: {users}kept is {kept}"
    text += "".join(f"; nobody uses {part}" for part in event.unused)
    return text + _LOADS[event.load]

"""How a run went, and its exit code."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from plimsoll.record.events import LoadCut, kept
from plimsoll.record.facts import RunFacts
from plimsoll.say.events import event_text

if TYPE_CHECKING:
    from plimsoll.errors import PlimsollError
    from plimsoll.record.events import RunEvent, WorkerSeconds
    from plimsoll.stats.view import RunView

logger = logging.getLogger("plimsoll.run")

THRESHOLD_FAILED = 1
LISTENER_FAILED = 2
UNCLEAN = 3


@dataclass(slots=True)
class Result:
    """How a run went."""

    view: RunView
    """All that came in, also what a store did not take."""
    status: str = "finished"
    """finished, stopped (by a signal) or failed."""
    started: float | None = None
    """Unix time of second 0; None when it never came to that."""
    ended: float = 0.0
    """Unix time at which the last user ended."""
    notes: list[str] = field(default_factory=list)
    events: list[RunEvent] = field(default_factory=list)
    """In the order of time."""
    facts: RunFacts = field(default_factory=RunFacts)
    """What readers of the recorded run must know besides."""
    silence: float = 0.0
    """The longest time that the coordinator stood still, in seconds."""
    exit_code: int | None = None
    """What the user's own code chose."""
    listener_failed: bool = False
    on_error: int | None = None
    """The exit code after failures, which the user's own code may change; None: the plan's."""
    error: PlimsollError | None = None
    """Why it failed."""

    def happened(self, event: RunEvent) -> None:
        """Those who follow the run learn of it, and its facts keep it."""
        self.events.append(event)
        self.facts = kept(event, self.facts)

    @property
    def lost_workers(self) -> int:
        """So far."""
        return len(self.facts.lost or ())

    def cut_load(self, seconds: float) -> None:
        """The workers ended their load so many seconds after second 0, because the coordinator stood still."""
        if self.facts.load_cut_s is None:
            self.note_event(LoadCut(seconds=seconds))

    def note_incomplete(self, seconds: WorkerSeconds) -> None:
        """What a worker measured in these seconds is missing."""
        self.facts = replace(self.facts, incomplete=(*(self.facts.incomplete or ()), seconds))

    def note_error(self, note: str) -> None:
        """Say it now, and keep it with the run."""
        self.notes.append(note)
        logger.error(note)

    def note_event(self, event: RunEvent, level: int = logging.ERROR) -> None:
        """It happened: say it now, and keep it with the run."""
        note = event_text(event)
        self.notes.append(note)
        self.happened(event)
        logger.log(level, note)


def exit_code(
    *,
    invalid: bool = False,
    on_invalid: int = 3,
    unclean: bool = False,
    chosen: int | None,
    threshold_failed: bool = False,
    threshold_within_share: bool = False,
    failures: bool,
    on_error: int,
    listener_failed: bool,
) -> int:
    """The first that applies: on_invalid, if the load was not the load asked for; 3 for unclean figures; the code that
    the user's own code chose, also if that is 0; 1 after a threshold that failed; on_invalid after one whose limit is
    within the generator's share; on_error after failures or exceptions, also if that is 0; 2 after an event listener
    that failed.

    unclean: the generator has too large a share in a figure, and the run was to be strict about that.
    """
    if invalid and on_invalid:
        return on_invalid
    if unclean:
        return UNCLEAN
    if chosen is not None:
        return chosen
    if threshold_failed:
        return THRESHOLD_FAILED
    if threshold_within_share and on_invalid:
        return on_invalid
    if failures:
        return on_error
    return LISTENER_FAILED if listener_failed else 0

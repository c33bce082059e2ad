"""How a run went, and its exit code."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from plimsoll.record.facts import RunFacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.errors import PlimsollError
    from plimsoll.record.facts import WorkerSeconds
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
    facts: RunFacts = field(default_factory=RunFacts)
    """What readers of the recorded run must know besides."""
    lost_workers: int = 0
    clock_step: float = 0.0
    """The largest step of the system's clock, in seconds."""
    silence: float = 0.0
    """The longest time that the coordinator stood still, in seconds."""
    exit_code: int | None = None
    """What the user's own code chose."""
    listener_failed: bool = False
    on_error: int | None = None
    """The exit code after failures, which the user's own code may change; None: the plan's."""
    error: PlimsollError | None = None
    """Why it failed."""

    def cut_load(self, seconds: float) -> None:
        """The workers ended their load so many seconds after second 0, because the coordinator stood still."""
        if self.facts.load_cut_s is None:
            self.facts = replace(self.facts, load_cut_s=seconds)
            self.note_error(f"this process stood still, so the workers ended their load after {seconds:.1f} s")

    def note_incomplete(self, seconds: WorkerSeconds) -> None:
        """What a worker measured in these seconds is missing."""
        self.facts = replace(self.facts, incomplete=(*(self.facts.incomplete or ()), seconds))

    def note_complete(self, seconds: WorkerSeconds) -> None:
        """It is no longer missing."""
        left = tuple(each for each in self.facts.incomplete or () if each is not seconds)
        self.facts = replace(self.facts, incomplete=left or None)

    def note_replaced(self, seconds: WorkerSeconds) -> None:
        """A worker took the place of a lost one, and these seconds were without either."""
        self.facts = replace(self.facts, replaced=(*(self.facts.replaced or ()), seconds))

    def note_error(self, note: str) -> None:
        """Say it now, and keep it with the run."""
        self.notes.append(note)
        logger.error(note)

    @property
    def edits(self) -> Sequence[tuple[int, str]]:
        """Changes of the load by hand: the second, and what it was from then on."""
        return self.facts.edits or ()

    def note_change(self, second: int, what: str) -> str:
        """The load was changed by hand. Returns the note."""
        note = f"the load was changed by hand in second {second}: {what}"
        self.notes.append(note)
        self.facts = replace(self.facts, edits=(*(self.facts.edits or ()), (second, what)))
        return note


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

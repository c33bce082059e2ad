"""The end of a run's load, and the time for which the open model then waits for responses."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.record.events import FeederEnded
from plimsoll.say.outcome import awaited_text

if TYPE_CHECKING:
    from plimsoll.run.result import Result
    from plimsoll.stats.view import RunView

logger = logging.getLogger("plimsoll.run")


class LoadEnd:
    """Times are in seconds since second 0 of the run."""

    def __init__(self, waiting_s: float | None) -> None:
        """waiting_s: how long the run waits for responses at most; None in the closed model, which does not wait."""
        self.at: float | None = None
        """When the run began to stop; None until then."""
        self.was_complete = False
        """Nothing was left to do, before anybody ended the run."""
        self._feeder: FeederEnded | None = None
        self._waiting_s = waiting_s
        self._has_said = False

    def note_feeder(self, second: int, feeder: str | None) -> None:
        """A worker has nothing left to do. feeder: the one whose rows it has used up, if that is why."""
        if self._feeder is None and feeder is not None:
            self._feeder = FeederEnded(second=second, feeder=feeder)

    def note_stop(self, elapsed: float, view: RunView) -> None:
        """The run begins to stop now. Only the first time counts."""
        if self.at is None:
            self.at = elapsed
            if self._waiting_s is not None:
                view.load_end = elapsed

    def left(self, elapsed: float) -> float | None:
        """Seconds for which the run still waits; None if it does not."""
        if self._waiting_s is None or self.at is None:
            return None
        return max(0.0, self.at + self._waiting_s - elapsed)

    def say_waiting(self, elapsed: float, view: RunView, authorizing: int = 0) -> None:
        """Once, for a log; a terminal has a line that counts down. authorizing: users that wait for a token."""
        left, awaited = self.left(elapsed), awaited_text(view.generator.out, authorizing)
        if left and awaited and not self._has_said:
            self._has_said = True
            logger.info("the load is over: waiting for %s, at most %.0f s more; Ctrl-C ends it", awaited, left)

    def close(self, result: Result, ended: float) -> None:
        """All is counted: observers see the length of the run, as reports do. ended: Unix time."""
        assert result.started is not None
        view, result.ended = result.view, ended
        view.length = ended - result.started
        if view.load_end is not None:
            if self.was_complete:
                view.load_end = min(view.load_end, view.last_arrival)
            result.facts = replace(result.facts, load_end=view.load_end)
        if self._feeder is not None and self.was_complete:
            self._say_feeder(self._feeder, result)

    def _say_feeder(self, event: FeederEnded, result: Result) -> None:
        """Only now is it known whether anything was measured."""
        is_measured = bool(result.view.total.requests or result.view.total.unanswered)
        event = replace(event, is_measured=is_measured)
        result.note_event(event, logging.INFO if is_measured else logging.WARNING)

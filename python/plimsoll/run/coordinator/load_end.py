"""The end of a run's load, and the time for which the open model then waits for responses."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

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
        self._waiting_s = waiting_s
        self._has_said = False

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

    def say_waiting(self, elapsed: float, view: RunView) -> None:
        """Once, for a log; a terminal has a line that counts down."""
        left, out = self.left(elapsed), view.generator.out
        if left and out and not self._has_said:
            self._has_said = True
            logger.info("the load is over: waiting for %d responses, at most %.0f s more; Ctrl-C ends it", out, left)

    def close(self, result: Result, ended: float) -> None:
        """All is counted: observers see the length of the run, as reports do. ended: Unix time."""
        assert result.started is not None
        view, result.ended = result.view, ended
        view.length = ended - result.started
        if view.load_end is not None:
            if self.was_complete:
                view.load_end = min(view.load_end, view.last_arrival)
            result.facts = replace(result.facts, load_end=view.load_end)

"""What a run has measured: the view of what counts, and the sums of what a reset has left out of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.stats.latency.patience import Patience
from plimsoll.stats.left_out import LeftOut
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from plimsoll.record.facts import RunFacts
    from plimsoll.run.coordinator.progress import Batch
    from plimsoll.stats.seconds import SecondSums

LATE_EXCEPTIONS_S = 0.3
"""Seconds after a reset in which exceptions are still handed over that came before it."""


class ResettableView:
    """warmup, times_of, patience: as `RunView` has them."""

    def __init__(self, warmup: float, times_of: str, patience: Patience | None = None) -> None:
        self.view = RunView(warmup, times_of, patience=patience)
        """Begins again with a reset."""
        self._left_out: LeftOut | None = None

    def add(self, batch: Batch, started: float, elapsed: float) -> list[SecondSums]:
        """The intervals by second. started: Unix time of second 0. elapsed: seconds since then."""
        failures, exceptions = batch.failures, batch.exceptions
        self.view.started = started
        if self._left_out is not None:
            since = started + self.view.warmup
            early = [each for each in failures if each.last < since]
            late = elapsed < self.view.warmup + LATE_EXCEPTIONS_S
            self._left_out.add(early, exceptions if late else ())
            failures = [each for each in failures if each.last >= since]
            exceptions = [] if late else exceptions
        return self.view.add(batch.intervals, batch.health, failures, exceptions)

    def reset(self, second: int) -> None:
        """Count from this second on, which has not begun, and not before the end of the warm-up."""
        self._left_out = self._left_out or LeftOut()
        self._left_out.add(self.view.recorded_failures, self.view.exceptions)
        patience = Patience(self.view.patience.waiting_s)
        self.view = RunView(max(second, self.view.warmup), self.view.times_of, self.view.recent, patience)

    def with_reset(self, facts: RunFacts) -> RunFacts:
        """The facts of the run, with what readers of the record must know of a reset to see the same."""
        if self._left_out is None:
            return facts
        return replace(facts, reset_at=self.view.warmup, before_reset=self._left_out.counts)

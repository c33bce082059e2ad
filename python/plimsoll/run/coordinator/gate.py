"""Thresholds while a run goes on: judged second by second, and the run ended by one that says so."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll.record import TIMES_OF
from plimsoll.record.events import GuardStopped
from plimsoll.run.coordinator.progress import Observer
from plimsoll.say.thresholds import threshold_result
from plimsoll.stats.thresholds.grammar import parse_threshold
from plimsoll.stats.thresholds.watch import ThresholdWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.run.coordinator.progress import Progress
    from plimsoll.stats.thresholds.grammar import Threshold
    from plimsoll.stats.thresholds.verdict import ThresholdResult


class ThresholdMonitor(Observer):
    """An observer of a run.

    texts: says, as the run starts, what was asked for; the locustfile may ask too. end: ends the run with a status.
    times_of: a key of `TIMES_OF`.
    """

    def __init__(
        self,
        texts: Callable[[], Sequence[str]],
        warmup: float,
        end: Callable[[str, GuardStopped], None],
        times_of: str = "all",
    ) -> None:
        self._texts = texts
        self._warmup = warmup
        self._timed = TIMES_OF[times_of]
        self._thresholds: list[Threshold] = []
        self._watch = ThresholdWatch((), warmup)
        self._end = end
        self._ended = False
        self._loaded = 0.0

    def start(self, started: float, stamp: str) -> None:
        """Raises UsageError for a threshold that cannot be read."""
        self._thresholds = [parse_threshold(text) for text in self._texts()]
        self._watch = ThresholdWatch(self._thresholds, self._warmup, self._timed)

    @property
    def limits_failures(self) -> bool:
        """One of the thresholds says how many failures there may be in all."""
        return any(
            threshold.subject.name in ("errors", "failures") and threshold.is_upper and threshold.endpoint is None
            for threshold in self._thresholds
        )

    def second(self, progress: Progress) -> None:
        self._loaded = progress.loaded
        # The last second that all workers have handed over: a second comes with the next one. What still arrives while
        # the run stops counts, but a second without load is none to be judged.
        self._watch.patience = progress.view.patience
        loaded = progress.view.loaded
        load_end = math.inf if loaded is None else loaded.stop
        self._watch.add(progress.batch.intervals, min(int(progress.elapsed) - 2, int(progress.loaded) - 1), load_end)
        broken = self._watch.broken()
        if broken is not None and not self._ended:
            self._ended = True
            event = GuardStopped(second=int(progress.elapsed), limit=f"threshold {broken}", how="it is broken")
            self._end("stopped", event)

    def reset_at(self, second: int) -> None:
        self._watch = ThresholdWatch(self._thresholds, second, self._timed)

    def so_far(self, duration: float) -> list[ThresholdResult]:
        """How the thresholds stand. duration: as in `RunView.rate_s`."""
        return [threshold_result(verdict) for verdict in self._watch.finish(duration)]

    def results(self, duration: float) -> list[ThresholdResult]:
        """How the thresholds ended. duration: as in `RunView.rate_s`."""
        self._watch.add((), int(self._loaded) - 1)
        return self.so_far(duration)

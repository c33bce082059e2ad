"""What the trials of a study say, all of them read by the same window: what comparisons are made of."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from plimsoll._engine import Histogram
from plimsoll.stats.latency.autocorrelation import Counts, woodruff
from plimsoll.stats.latency.warmup import mser5
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.latency.autocorrelation import Within
    from plimsoll.stats.study import Course, Level, Measured, Study, Trial

EndpointKey = tuple[str, str]
Pair = tuple["Trial", "Trial"]
CellKey = tuple[str, "Level | None", str]
"""Variant, level, operation."""


class Readings:
    """Reads on demand and keeps what it has read."""

    def __init__(self, study: Study) -> None:
        self._study = study
        quantiles = {each.quantile for each in (*study.metrics, *study.primary)}
        self._quantiles = sorted(each for each in quantiles if each is not None)
        # Trials are not hashable by value; the study keeps them alive, so their identity will do.
        self._cells: dict[CellKey, tuple[Trial, ...]] = {}
        self._pairs: dict[tuple[str, CellKey], tuple[Pair, ...]] = {}
        self._rows: dict[int, dict[EndpointKey, Measured]] = {}
        self._cuts: dict[tuple[str, Level | None], int] = {}
        self._measured: dict[tuple[int, EndpointKey], Measured | None] = {}
        self._within: dict[tuple[int, EndpointKey], dict[float, Within | None]] = {}

    def cell(self, variant: str, level: Level | None, operation: str) -> tuple[Trial, ...]:
        """As `Study.cell`, which is asked for every endpoint and metric."""
        place = variant, level, operation
        if place not in self._cells:
            self._cells[place] = self._study.cell(*place)
        return self._cells[place]

    def pairs(self, a: str, b: str, level: Level | None, operation: str) -> tuple[Pair, ...]:
        """The trials of two variants that ran next to one another: of the same repeat, in their order within it."""
        place = a, (b, level, operation)
        if place not in self._pairs:
            self._pairs[place] = _paired(self.cell(a, level, operation), self.cell(b, level, operation))
        return self._pairs[place]

    def cut(self, operation: str, level: Level | None) -> int:
        """Seconds beyond the declared warm-up in which some valid run at this level was still getting faster: the most
        that any of them took. All of them are left out of every run there, so that no variant is shown to advantage.

        0 where a run's times were not recorded second by second, or never became steady: then a finding says so.
        """
        found = self._cuts.get((operation, level))
        if found is None:
            found = self._cuts[operation, level] = self._find_cut(operation, level)
        return found

    def _find_cut(self, operation: str, level: Level | None) -> int:
        trials = [
            each
            for each in self._study.trials
            if (each.operation, each.level) == (operation, level) and not each.invalid
        ]
        longest = 0
        for trial in trials:
            total = trial.total
            if total is None or total.course is None or total.histogram is None:
                return 0
            course = total.course
            means = course.means[course.measured]
            # The last second of a run is a part of one.
            found = mser5(means[: math.floor(trial.duration)] if trial.duration else means)
            if found.cold and found.stationary:
                longest = max(longest, found.seconds)
        return longest

    def warmup(self, trials: Iterable[Trial]) -> float:
        """Seconds left out at the start of these trials: the most of any."""
        return max((each.warmup + self.cut(each.operation, each.level) for each in trials), default=0.0)

    def measured(self, trial: Trial, key: EndpointKey) -> Measured | None:
        """One endpoint by the window; key ("", "Aggregated"): all together. None: it does not occur in the run."""
        place = id(trial), key
        if place not in self._measured:
            found = self._row(trial, key)
            cut = self.cut(trial.operation, trial.level)
            if found is not None and cut and found.course is not None:
                found = without_head(found, found.course, cut, trial.duration)
            self._measured[place] = found
        return self._measured[place]

    def _row(self, trial: Trial, key: EndpointKey) -> Measured | None:
        if key in (TOTAL, ("", "")):
            return trial.total
        rows = self._rows.get(id(trial))
        if rows is None:
            # The first of a name, as `Trial.endpoint` has it; there may be thousands.
            rows = self._rows[id(trial)] = {each.key: each for each in reversed(trial.endpoints)}
        return rows.get(key)

    def within(self, trial: Trial, key: EndpointKey, quantile: float) -> Within | None:
        """How sure this percentile is within its run. None: not recorded second by second, or nothing was timed."""
        place = id(trial), key
        if place not in self._within:
            measured = self.measured(trial, key)
            course = measured.course if measured is not None else None
            # All quantiles at once: the counts of a run are large, and not kept.
            counts = Counts.of(course.histograms[course.measured]) if course is not None else None
            self._within[place] = {each: woodruff(counts, each) if counts else None for each in self._quantiles}
        return self._within[place].get(quantile)


def without_head(measured: Measured, course: Course, seconds: int, duration: float | None) -> Measured:
    """The endpoint without so many seconds more at its start; duration: of the run, as it was."""
    window = slice((course.measured.start or 0) + seconds, course.measured.stop)
    histogram = Histogram()
    timed = np.zeros(len(course), dtype=np.int64)
    for second in range(*window.indices(len(course))):
        each = course.histograms[second]
        if each is not None:
            histogram.add(each)
            timed[second] = each.count
    counts, requests = timed[window], int(course.requests[window].sum())
    means, maxima, sizes = (np.nan_to_num(each[window]) for each in (course.means, course.maxima, course.sizes))
    left = duration - seconds if duration is not None else None
    return replace(
        measured,
        requests=requests,
        failures=int(course.failures[window].sum()),
        rate=requests / left if left else None,
        mean=float((means * counts).sum() / counts.sum()) if counts.sum() else None,
        min=histogram.min / 1000 if histogram.count else None,
        max=float(maxima.max()) if histogram.count else None,
        quantiles={q: histogram.value_at(q) / 1000 for q in measured.quantiles} if histogram.count else {},
        size=float((sizes * course.requests[window]).sum() / requests) if requests else None,
        # Not kept by second; of the whole run they would mislead.
        outcomes={},
        mean_success=None,
        mean_failure=None,
        service=None,
        histogram=histogram,
        course=replace(course, measured=window),
    )


def _paired(a: tuple[Trial, ...], b: tuple[Trial, ...]) -> tuple[Pair, ...]:
    repeats: dict[int, tuple[list[Trial], list[Trial]]] = {}
    for place, trials in enumerate((a, b)):
        for trial in trials:
            repeats.setdefault(trial.repeat, ([], []))[place].append(trial)
    return tuple(pair for repeat in sorted(repeats) for pair in zip(*repeats[repeat], strict=False))


def requests_of(measured: Measured, duration: float | None) -> int | None:
    """How many requests its times rest on; from its rate, if only that is known."""
    if measured.timed is not None:
        return measured.timed
    if measured.rate is None or duration is None:
        return None
    return math.floor(measured.rate * duration + 0.5)

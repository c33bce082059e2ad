"""The values of a study's trials, all read over the same window: the input of comparisons."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from plimsoll._engine import Histogram
from plimsoll.record.cells import CellKey
from plimsoll.stats.latency.autocorrelation import Counts, woodruff
from plimsoll.stats.latency.censored import Survival
from plimsoll.stats.latency.warmup import mser5
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.latency.autocorrelation import Within
    from plimsoll.stats.latency.milliseconds import Clock
    from plimsoll.stats.study import Course, Level, Measured, Study, Trial

EndpointKey = tuple[str, str]
Pair = tuple["Trial", "Trial"]


class Readings:
    """Reads on demand and caches."""

    def __init__(self, study: Study, clock: Clock = "response") -> None:
        self._study = study
        self._clock = clock
        quantiles = {each.quantile for each in (*study.metrics, *study.primary)}
        self._quantiles = sorted(each for each in quantiles if each is not None)
        # Trials are not hashable by value; the study keeps them alive, so their identity suffices.
        self._cells: dict[CellKey, tuple[Trial, ...]] = {}
        self._pairs: dict[tuple[CellKey, CellKey], tuple[Pair, ...]] = {}
        self._rows: dict[int, dict[EndpointKey, Measured]] = {}
        self._cuts: dict[tuple[str, Level | None], int] = {}
        self._measured: dict[tuple[int, EndpointKey], Measured | None] = {}
        self._within: dict[tuple[int, EndpointKey], dict[float, Within | None]] = {}

    @cached_property
    def by_service(self) -> Readings:
        """The same with service times, in which the generator has no share."""
        return Readings(self._study, "service")

    def cell(self, of: CellKey) -> tuple[Trial, ...]:
        """Like `Study.cell`, cached because it is needed for every endpoint and metric."""
        if of not in self._cells:
            self._cells[of] = self._study.cell(of)
        return self._cells[of]

    def pairs(self, a: CellKey, b: CellKey) -> tuple[Pair, ...]:
        """The trials of two cells that ran in pairs: of the same repeat, in their order within it."""
        place = a, b
        if place not in self._pairs:
            self._pairs[place] = _paired(self.cell(a), self.cell(b))
        return self._pairs[place]

    def cut(self, of: CellKey) -> int:
        """Seconds beyond the declared warm-up in which some valid run at this level was still getting faster: the
        maximum over the runs. They are left out of every run there, so that no variant has an advantage.

        0 for a run without times per second, or one that never became steady: then a finding reports it.
        """
        place = of.operation, of.level
        if place not in self._cuts:
            self._cuts[place] = self._find_cut(*place)
        return self._cuts[place]

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
            # The last second of a run is incomplete.
            found = mser5(means[: math.floor(trial.duration)] if trial.duration else means)
            if found.cold and found.stationary:
                longest = max(longest, found.seconds)
        return longest

    def warmup(self, trials: Iterable[Trial]) -> float:
        """Seconds left out at the start of these trials: the maximum of any."""
        return max((trial.warmup + self.cut(trial) for trial in trials), default=0.0)

    def measured(self, trial: Trial, key: EndpointKey) -> Measured | None:
        """One endpoint over the window; key ("", "Aggregated"): all together. None: it does not occur in the run."""
        place = id(trial), key
        if place not in self._measured:
            found = self._row(trial, key)
            cut = self.cut(trial)
            if found is not None and cut and found.course is not None:
                found = without_head(found, found.course, cut, trial.duration)
            if found is not None and self._clock == "service":
                found = timed_by_service(found)
            self._measured[place] = found
        return self._measured[place]

    def _row(self, trial: Trial, key: EndpointKey) -> Measured | None:
        if key in (TOTAL, ("", "")):
            return trial.total
        rows = self._rows.get(id(trial))
        if rows is None:
            # The first of a name, as in `Trial.endpoint`; there may be thousands.
            rows = self._rows[id(trial)] = {each.key: each for each in reversed(trial.endpoints)}
        return rows.get(key)

    def within(self, trial: Trial, key: EndpointKey, quantile: float) -> Within | None:
        """The uncertainty of this percentile within its run. None: no records by second, or nothing was timed."""
        place = id(trial), key
        if place not in self._within:
            measured = self.measured(trial, key)
            course = measured.course if measured is not None else None
            # All quantiles at once: the counts of a run are large, and not kept.
            counts = Counts.of(course.histograms[course.measured]) if course is not None else None
            self._within[place] = {each: woodruff(counts, each) if counts else None for each in self._quantiles}
        return self._within[place].get(quantile)


def timed_by_service(measured: Measured) -> Measured:
    """The endpoint with service times in place of response times; unchanged if they are unknown."""
    service, course = measured.service, measured.course
    if service is None or not service.count:
        return measured
    if course is not None:
        known = [None if each is None else (each.mean / 1000, each.max / 1000) for each in course.service]
        means, maxima = (np.array([math.nan if each is None else each[place] for each in known]) for place in (0, 1))
        course = replace(course, histograms=course.service, means=means, maxima=maxima, on_time=())
    return replace(
        measured,
        mean=_mean(service, measured.service_waits),
        min=service.min / 1000,
        max=max(service.max, 0 if measured.service_waits is None else measured.service_waits.max) / 1000,
        quantiles={q: service.value_at(q) / 1000 for q in measured.quantiles},
        histogram=service,
        on_time=None,
        waits=measured.service_waits,
        course=course,
    )


def without_head(measured: Measured, course: Course, seconds: int, duration: float | None) -> Measured:
    """The endpoint without this many more seconds at its start; duration: the original one of the run.

    Requests without a response are those of its end, and stay. What came after the load is in no rate.
    """
    start = course.measured.start or 0
    window = slice(start + seconds, course.measured.stop)
    seconds_left = range(*window.indices(len(course)))
    histogram = _sum(course.histograms, seconds_left)
    timed = np.zeros(len(course), dtype=np.int64)
    for second in seconds_left:
        each = course.histograms[second]
        timed[second] = 0 if each is None else each.count
    counts, completed = timed[window], int(course.requests[window].sum())
    loaded = slice(window.start, window.stop if duration is None else start + math.ceil(duration))
    means, maxima, sizes = (np.nan_to_num(each[window]) for each in (course.means, course.maxima, course.sizes))
    left = duration - seconds if duration is not None else None
    waits = measured.waits
    mean = float((means * counts).sum() / counts.sum()) if counts.sum() else None
    if mean is not None and waits is not None:
        # The means of the seconds are exact, so only what the waits add counts.
        mean += _mean(histogram, waits) - histogram.mean / 1000
    return replace(
        measured,
        requests=completed + measured.overdue,
        failures=int(course.failures[window].sum()) + measured.overdue,
        rate=int(course.requests[loaded].sum()) / left if left else None,
        mean=mean,
        min=histogram.min / 1000 if histogram.count else None,
        max=max(float(maxima.max()), waits.max / 1000 if waits is not None else 0.0) if histogram.count else None,
        quantiles={q: histogram.value_at(q) / 1000 for q in measured.quantiles} if histogram.count else {},
        size=float((sizes * course.requests[window]).sum() / completed) if completed else None,
        # Not kept by second; values of the whole run would be misleading.
        outcomes={},
        mean_success=None,
        mean_failure=None,
        service=_sum(course.service, seconds_left) if course.service else None,
        on_time=_sum(course.on_time, seconds_left) if course.on_time else None,
        histogram=histogram,
        course=replace(course, measured=window),
    )


def _mean(times: Histogram, waits: Histogram | None) -> float:
    """ms"""
    return (times.mean if waits is None else Survival.of(times, waits).mean) / 1000


def _sum(histograms: Sequence[Histogram | None], seconds: range) -> Histogram:
    total = Histogram()
    for second in seconds:
        each = histograms[second]
        if each is not None:
            total.add(each)
    return total


def _paired(a: tuple[Trial, ...], b: tuple[Trial, ...]) -> tuple[Pair, ...]:
    repeats: dict[int, tuple[list[Trial], list[Trial]]] = {}
    for place, trials in enumerate((a, b)):
        for trial in trials:
            repeats.setdefault(trial.repeat, ([], []))[place].append(trial)
    return tuple(pair for repeat in sorted(repeats) for pair in zip(*repeats[repeat], strict=False))


def requests_of(measured: Measured, duration: float | None) -> int | None:
    """The number of requests behind its times; derived from its rate if only that is known."""
    if measured.timed is not None:
        return measured.timed
    if measured.rate is None or duration is None:
        return None
    return math.floor(measured.rate * duration + 0.5)

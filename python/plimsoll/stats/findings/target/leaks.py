"""LEAK and CRASH: memory and open files that keep growing, and targets that end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from plimsoll.stats.distributions.trends import theil_sen
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.subject import Subject, run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from plimsoll.stats.study import Series, Study, Trial

GROWS = 0.05
"""Of the median, over the run: smaller changes are normal for allocators."""
LEAST_SAMPLES = 20
"""Ten in each half."""
MOST_SAMPLES = 600
"""All pairs are compared; more samples are reduced to means."""
HOUR = 3600.0
MEMORY = ("rss", "memory")
FILES = "files"
LEAST_FILES = 100
"""Open files: a smaller growth is that of connections."""
LEAST_FAILED = 100
"""Failed requests from which growth can be said for each of them."""
BETTER = 0.5
"""The squares that failures leave of the growth, over those that time leaves: up to this, failures explain it."""


@dataclass(frozen=True, slots=True)
class Growth:
    """Slopes in the unit of the series per hour, each with its 95 % interval."""

    word: Literal["leak", "plateau", "none"]
    slope: float
    low: float
    high: float
    second_half: tuple[float, float, float]
    """Slope, low, high."""
    share: float
    """Increase from its first tenth to its last, relative to its median."""
    ends: tuple[float, float] = (0.0, 0.0)
    """Medians of its first tenth and of its last."""

    @property
    def is_steady(self) -> bool:
        """Whether one rate may hold for the whole: the interval of the second half overlaps that of all."""
        _, low, high = self.second_half
        return low <= self.high and self.low <= high


def growth_of(seconds: ArrayLike, values: ArrayLike) -> Growth | None:
    """None for fewer than `LEAST_SAMPLES`."""
    t, y = np.asarray(seconds, dtype=float), np.asarray(values, dtype=float)
    if len(t) < LEAST_SAMPLES:
        return None
    t, y = _thinned(t), _thinned(y)
    whole, second = _slope(t, y), _slope(t[len(t) // 2 :], y[len(y) // 2 :])
    median = float(np.median(y))
    tenth = max(1, len(y) // 10)
    ends = float(np.median(y[:tenth])), float(np.median(y[-tenth:]))
    share = (ends[1] - ends[0]) / median if median else 0.0
    grows = whole[1] > 0 and share > GROWS
    word: Literal["leak", "plateau", "none"] = ("leak" if second[1] > 0 else "plateau") if grows else "none"
    return Growth(word, *whole, second, share, ends)


@dataclass(frozen=True, slots=True)
class MemoryGrowth(Finding):
    """Memory, or a number of open files, that grows during a run. Values are in `unit`."""

    id = "LEAK"
    subject: Subject
    slope_per_h: float
    interval_per_h: tuple[float, float]
    second_half_per_h: tuple[float, float, float]
    """Slope and interval of the second half."""
    share: float
    """Increase relative to the median."""
    first: float
    """Median of the first tenth."""
    last: float
    """Median of the last tenth."""
    between_s: tuple[float, ...]
    """Ends of the line, …"""
    line: tuple[float, ...]
    """… and its values there: through the medians, with the slope."""
    unit: str
    series: tuple[str, str]
    """Source and name of what grows."""
    levels_off: bool
    """Whether the second half does not grow."""
    is_steady: bool
    """Whether one slope may hold for both halves."""
    per_failed: float | None
    """Growth for each failed request, where failures explain it better than time; None elsewhere."""


@dataclass(frozen=True, slots=True)
class TargetCrash(Finding):
    """A target that ended during a run."""

    id = "CRASH"
    subject: Subject
    how: str
    at_s: tuple[float] | None
    """Seconds from second 0 to the last success, if it is visible."""
    memory: tuple[float, str] | None
    """The most that was observed, with its unit."""


def leaks(study: Study) -> Iterable[Finding]:
    for trial in study.trials:
        for series in trial.observed:
            if series.name not in (*MEMORY, FILES):
                continue
            warm = series.seconds >= trial.warmup
            found = growth_of(series.seconds[warm], series.values[warm])
            if found is not None and found.word != "none" and not _is_of_connections(series, found):
                yield _finding(study, trial, series, found)


def _is_of_connections(series: Series, found: Growth) -> bool:
    """Whether open files grow no more than connections of users make them."""
    return series.name == FILES and (found.word != "leak" or found.ends[1] - found.ends[0] < LEAST_FILES)


def crashes(study: Study) -> Iterable[Finding]:
    for trial in study.trials:
        if trial.crashed is not None:
            yield TargetCrash(
                run(study, trial),
                trial.crashed,
                _ended(trial),
                _memory(trial),
                where=Where.of(trial, None, trial.id),
                weight="warning",
            )


def _memory(trial: Trial) -> tuple[float, str] | None:
    series = [each for each in trial.observed if each.name in MEMORY and len(each.values)]
    if not series:
        return None
    largest = max(series, key=lambda each: float(np.nanmax(each.values)))
    return float(np.nanmax(largest.values)), largest.unit


def _ended(trial: Trial) -> tuple[float] | None:
    course = trial.total.course if trial.total is not None else None
    if course is None:
        return None
    fine = np.flatnonzero(course.requests > course.failures)
    return (float(fine[-1] + 1),) if len(fine) and fine[-1] + 1 < len(course) else None


def _finding(study: Study, trial: Trial, series: Series, found: Growth) -> Finding:
    warm = series.seconds >= trial.warmup
    t, y = series.seconds[warm], series.values[warm]
    ends = float(t[0]), float(t[-1])
    return MemoryGrowth(
        run(study, trial),
        slope_per_h=found.slope,
        interval_per_h=(found.low, found.high),
        second_half_per_h=found.second_half,
        share=found.share,
        first=found.ends[0],
        last=found.ends[1],
        between_s=ends,
        line=tuple(float(np.median(y) + found.slope / HOUR * (end - np.median(t))) for end in ends),
        unit=series.unit,
        series=(series.source, series.name),
        levels_off=found.word == "plateau",
        is_steady=found.is_steady,
        per_failed=_per_failed(trial, t, y),
        where=Where.of(trial, None, trial.id),
        weight="insight" if found.word == "plateau" else "warning",
    )


def _per_failed(trial: Trial, t: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """Growth for each failed request, if a line over the failures so far is much closer to it than one over time."""
    course = trial.total.course if trial.total is not None else None
    if course is None or not len(course):
        return None
    so_far = np.concatenate(([0], np.cumsum(course.failures)))
    failed = so_far[np.clip(t.astype(np.int64), 0, len(course))].astype(np.float64)
    if failed[-1] - failed[0] < LEAST_FAILED:
        return None
    (of_failed, left), (_, left_by_time) = _line(failed, y), _line(t, y)
    return of_failed if of_failed > 0 and left <= BETTER * left_by_time else None


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Slope of the line with the least squares, and these squares. x is not constant."""
    along = x - x.mean()
    slope = float((along * y).sum() / (along**2).sum())
    return slope, float(((y - y.mean() - slope * along) ** 2).sum())


def _slope(t: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float, float]:
    found = theil_sen(t, y)
    return found.value * HOUR, found.low * HOUR, found.high * HOUR


def _thinned(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of neighbours, `MOST_SAMPLES` at most."""
    width = -(-len(values) // MOST_SAMPLES)
    whole = values[: len(values) // width * width]
    means: NDArray[np.float64] = whole.reshape(-1, width).mean(axis=1)
    return means

"""STALL: recurring seconds in which everything takes long."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import cells
from plimsoll.stats.findings.subject import Subject, cell
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from plimsoll.stats.study import Study, Trial

DEVIATIONS = 8.0
SCALE = 1.4826
"""Converts a median absolute deviation to the standard deviation of a normal distribution."""
TIMES = 2.0
"""A stalled second's maximum is 8 deviations above the median maximum and twice as long: maxima have long tails."""
LEAST = 6
"""Minimum number of stalls …"""
REGULAR = 0.25
"""… and maximum variation of their intervals (standard deviation / mean) of periodic stalls: random ones are that
regular with a probability of 0.5 %. A spectrum is no help: for a train of spikes it finds a harmonic."""


@dataclass(frozen=True, slots=True)
class Stalls:
    seconds: tuple[int, ...]
    """Ascending; for a stall of several seconds the first."""
    interval: float
    """Mean seconds from one to the next."""
    variation: float
    """Standard deviation of the intervals / their mean."""

    @property
    def is_periodic(self) -> bool:
        return len(self.seconds) >= LEAST and self.variation <= REGULAR


@dataclass(frozen=True, slots=True)
class RegularStalls(Finding):
    """The target stalls at regular intervals."""

    id = "STALL"
    subject: Subject
    interval_s: float
    variation: float
    stalls: float
    """Number of them in the run."""
    run: str
    """Id of the first run with them."""
    at_s: tuple[float, ...]
    """Seconds since second 0."""
    runs: float
    """Runs with them, of all `of`."""
    of: float


def stalls_of(maxima: ArrayLike) -> Stalls | None:
    """maxima: one per second, NaN for a second without requests. None for fewer than three stalls."""
    values = np.asarray(maxima, dtype=float)
    known = values[np.isfinite(values)]
    if not len(known):
        return None
    median = statistics.median(known.tolist())
    spread = SCALE * statistics.median(np.abs(known - median).tolist())
    limit = max(median + DEVIATIONS * spread, TIMES * median)
    high = np.flatnonzero(np.nan_to_num(values, nan=0.0) > limit)
    starts = high[np.diff(high, prepend=-2) > 1]
    if len(starts) < 3:
        return None
    intervals = np.diff(starts)
    mean = float(intervals.mean())
    return Stalls(tuple(int(each) for each in starts), mean, float(intervals.std(ddof=1)) / mean)


def stalls(study: Study) -> Iterable[Finding]:
    for trials in cells(study):
        found = [(trial, each) for trial in trials if (each := _of(trial)) is not None and each.is_periodic]
        if found:
            yield _finding(study, found, len(trials))


def _of(trial: Trial) -> Stalls | None:
    course = trial.total.course if trial.total is not None else None
    return stalls_of(course.maxima[course.measured]) if course is not None else None


def _finding(study: Study, found: list[tuple[Trial, Stalls]], runs: int) -> Finding:
    trial, each = found[0]
    course = trial.total.course if trial.total is not None else None
    begin = course.measured.start or 0 if course is not None else 0
    return RegularStalls(
        cell(study, trial),
        interval_s=each.interval,
        variation=each.variation,
        stalls=float(len(each.seconds)),
        run=trial.id,
        at_s=tuple(float(begin + second) for second in each.seconds),
        runs=float(len(found)),
        of=float(runs),
        where=Where.of(trial, TOTAL),
        weight="insight",
    )

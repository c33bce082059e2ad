"""Did a metric change over the runs, and when? Change points of one number per run, as in Hunter.

E-divisive (Matteson and James, JASA 109, 2014) finds the split of a series at which the two sides are furthest apart by
their energy distance, and then splits of the sides, as long as a t-test calls them different. Hunter (Fleming et al.,
ICPE 2023; now Apache Otava) does that in overlapping windows with a lenient test first, and then removes, the weakest
first, the points that do not pass the strict test against their neighbours. Windows and limits are its defaults.

One thing differs from Otava 0.8.0: it gives standard deviations of the population to a test that expects those of a
sample, which makes short segments look more different than they are. Here they are those of a sample.

False alarms (`tests/stats/false_alarms.py`): of normal noise, 2 % of series of 50 runs have a change, and 4 % of 100;
of lognormal noise with σ = 0.3, 4 % and 7 %. That is more than `MAX_P`, because the best split is chosen first. Looked
at after every run from the tenth to the fortieth, 12 % of series show a change at some time; where runs resemble those
before them (a correlation of 0.6), 84 % do. It shows where to look; the test of a new run is `prediction`.

A single run far from those around it, as one that met a backup, would hide the steps beside it. Such runs are left out
(the identifier of Hampel, J. Am. Stat. Assoc. 69, 1974, over seven runs), except at the end, where they may be news.

Limit: if values go up and down and up again within one window, no single split separates the sides, and nothing is
found.

It is for one number per run. Seconds within a run depend on one another, and every test here would be too certain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.stats.distributions.student import t_cdf
from plimsoll.stats.distributions.trends import scatter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

WINDOW = 50
"""Runs per window; windows overlap by half."""
MAX_P = 0.001
"""Of a reported change."""
LENIENT = 10.0
"""The first pass accepts a p this many times as high."""
ENOUGH = 10
"""Runs. A step of four standard deviations is found in 83 % of series with five runs on each side of it, and in 14 %
with three (`tests/stats/false_alarms.py`)."""
AROUND = 3
"""Runs on either side with which a run is compared, to tell an outlier."""
OUTLYING = 8.0
"""Standard deviations beyond which a run is one."""
FEW_AFTER = 3
"""A change confirmed by fewer runs may be an outlier."""


@dataclass(frozen=True, slots=True)
class DetectedChange:
    """A change of the metric between two runs."""

    index: int
    """Of the first value after it."""
    before: float
    """Mean of the values since the previous change, or the start."""
    after: float
    """Mean of the values up to the next change, or the end."""
    p: float
    """Of equal means on both sides, by a t-test. It ignores that the best split was chosen."""
    is_worse: bool
    runs: int
    """Values after it, up to the next change or the end."""

    @property
    def change(self) -> float:
        """after / before − 1; NaN if it was 0."""
        return self.after / self.before - 1 if self.before else math.nan


@dataclass(frozen=True, slots=True)
class Step:
    """Values between two changes."""

    start: int
    stop: int
    """The first index after it."""
    mean: float


@dataclass(frozen=True, slots=True)
class DetectedChanges:
    changes: tuple[DetectedChange, ...]
    """In the order of the values."""
    steps: tuple[Step, ...]
    """One more than there are changes; none without a value."""
    values: int
    """Number of values, those that are left out included."""
    left_out: int
    """Values that are far from those around them, and in no step."""


def changes(values: Sequence[float], *, higher_is_worse: bool = True) -> DetectedChanges:
    """values: of valid runs, in order of time. Raises ValueError for NaN or infinity."""
    series = np.asarray(values, dtype=np.float64)
    if not np.isfinite(series).all():
        raise ValueError("a trend is of numbers: leave out the runs that have none")
    kept = np.flatnonzero(~outliers(series))
    usual = series[kept]
    # Places in the whole series: a change is at the first run that shows it.
    points = [int(kept[place]) for place in merged(usual, split(usual))]
    chosen = [kept[(kept >= start) & (kept < stop)] for start, stop in _segments(len(series), points)]
    segments = _segments(len(series), points)
    steps = tuple(
        Step(start, stop, float(series[own].mean())) for (start, stop), own in zip(segments, chosen, strict=True)
    )
    found = []
    for place, point in enumerate(points):
        before, after = steps[place], steps[place + 1]
        p = p_of(series[chosen[place]], series[chosen[place + 1]])
        is_worse = (after.mean > before.mean) == higher_is_worse
        found.append(DetectedChange(point, before.mean, after.mean, p, is_worse, after.stop - after.start))
    return DetectedChanges(tuple(found), steps, len(series), len(series) - len(kept))


def outliers(series: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each run is far from the median of those around it. None of the last runs is: with what follows they may
    become a step."""
    found = np.zeros(len(series), dtype=np.bool_)
    if len(series) < ENOUGH:
        return found
    spread = scatter(series)
    if spread > 0:
        for place in range(len(series) - AROUND):
            around = series[max(0, place - AROUND) : place + AROUND + 1]
            found[place] = abs(series[place] - np.median(around)) > OUTLYING * spread
    return found


def split(series: NDArray[np.float64], window: int = WINDOW, max_p: float = MAX_P * LENIENT) -> list[int]:
    """The first pass: candidate change points of the series, ascending."""
    found: set[int] = set()
    start = 0
    while start < len(series):
        inner = _divided(series[start : start + window], max_p)
        found |= {start + each for each in inner}
        start = max(start + (inner[-1] if inner else 0), start + window // 2)
    return sorted(found)


def merged(series: NDArray[np.float64], points: Sequence[int], max_p: float = MAX_P) -> list[int]:
    """The second pass: repeatedly removes the weakest point, until all are strong."""
    left = list(points)
    while left:
        segments = list(_segments(len(series), left))
        ps = [p_of(series[a:b], series[b:c]) for (a, b), (_, c) in pairwise(segments)]
        weakest = max(range(len(left)), key=lambda place: ps[place])
        if ps[weakest] < max_p:
            break
        del left[weakest]
    return left


def p_of(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """Of Student's t-test with a common variance; two-sided."""
    n, m = len(left), len(right)
    freedom = n + m - 2
    apart = float(right.mean() - left.mean())
    if freedom < 1 or apart == 0:
        return 1.0
    squares = float(((left - left.mean()) ** 2).sum() + ((right - right.mean()) ** 2).sum())
    if squares == 0:
        return 0.0
    t = apart / math.sqrt(squares / freedom * (1 / n + 1 / m))
    return 2 * t_cdf(freedom, -abs(t))


def _divided(series: NDArray[np.float64], max_p: float) -> list[int]:
    """E-divisive within one window."""
    points: list[int] = []
    while True:
        best, at = -math.inf, None
        for start, stop in _segments(len(series), points):
            if stop - start > 1:
                distance, place = _furthest(series[start:stop])
                if distance > best:
                    best, at = distance, (start, start + place, stop)
        if at is None:
            return points
        start, middle, stop = at
        if p_of(series[start:middle], series[middle:stop]) > max_p:
            return points
        points = sorted([*points, middle])


def _furthest(series: NDArray[np.float64]) -> tuple[float, int]:
    """The greatest energy distance between the first n values and the m after them, over all n and m, and its n.

    Q = 2/(m+n) Σ|x−y| − 2m/((m+n)(n−1)) Σ|x−x'| − 2n/((m+n)(m−1)) Σ|y−y'|, sums over pairs; from two-dimensional prefix
    sums of all distances.
    """
    count = len(series)
    sums = np.zeros((count + 1, count + 1))
    sums[1:, 1:] = np.abs(series[:, None] - series[None, :]).cumsum(axis=0).cumsum(axis=1)
    own = np.diag(sums)
    n = np.arange(1, count)[:, None]
    end = np.arange(2, count + 1)[None, :]
    m = end - n
    between = sums[1:count, 2:] - own[1:count, None]
    left = own[1:count, None] / 2
    right = (own[None, 2:] - 2 * sums[1:count, 2:] + own[1:count, None]) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        within = np.where(n > 1, m * left / (n - 1), 0.0) + np.where(m > 1, n * right / (m - 1), 0.0)
        distance = np.where(m > 0, 2 * (between - within) / (m + n), -np.inf)
    place = int(np.argmax(distance))
    row, column = divmod(place, distance.shape[1])
    return float(distance[row, column]), row + 1


def _segments(length: int, points: Sequence[int]) -> Iterator[tuple[int, int]]:
    if length:
        yield from zip([0, *points], [*points, length], strict=True)

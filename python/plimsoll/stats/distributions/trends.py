"""Does a series rise or fall, and how far does it scatter? For any distribution of the values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from plimsoll.stats.distributions.normal import normal_cdf, normal_quantile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_EXACT = 33
"""Number of values up to which the distribution of Kendall's statistic is exact, if no two are equal."""


_NORMAL_STEP = 0.9539
"""Median |x − y| of two normal values with a standard deviation of 1: √2 · Φ⁻¹(3/4)."""


class Slope(NamedTuple):
    value: float
    low: float
    high: float


def theil_sen(x: ArrayLike, y: ArrayLike) -> Slope:
    """The median of the slopes of all pairs of points, with its 95 % interval (Sen, JASA 63, 1968). At least two points
    have a different x."""
    along, across = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    run, rise = _differences(along), _differences(across)
    slopes = rise[run != 0] / run[run != 0]
    variance = _variance(np.array([len(along)])) - _variance(_equal(along)) - _variance(_equal(across))
    reach = normal_quantile(0.975) * math.sqrt(variance)
    low = max(round((len(slopes) - reach) / 2) - 1, 0)
    high = min(round((len(slopes) + reach) / 2), len(slopes) - 1)
    middle = (len(slopes) - 1) // 2, len(slopes) // 2
    # An hour has six million pairs of seconds: sorting them takes five times as long.
    slopes.partition(sorted({low, *middle, high}))
    return Slope(float(slopes[[*middle]].mean()), float(slopes[low]), float(slopes[high]))


def scatter(values: ArrayLike) -> float:
    """Standard deviation of the values around their course, by the median step between neighbours, of which there is at
    least one: a jump or steady growth hardly moves it."""
    return float(np.median(np.abs(np.diff(np.asarray(values, dtype=np.float64))))) / _NORMAL_STEP


def kendall_p(values: ArrayLike) -> float:
    """Of no trend along the order of the values, two-sided, by Mann and Kendall (Kendall, Rank Correlation Methods, 4th
    ed., chapters 4 and 5). 1 if all are equal."""
    series = np.asarray(values, dtype=np.float64)
    signs = np.sign(_differences(series))
    falls, balance = int((signs < 0).sum()), int(signs.sum())
    if (signs != 0).all() and (len(series) <= _EXACT or min(falls, len(signs) - falls) <= 1):
        return _inversions_p(len(series), min(falls, len(signs) - falls))
    variance = _variance(np.array([len(series)])) - _variance(_equal(series))
    return 2 * normal_cdf(-abs(balance) / math.sqrt(variance)) if variance > 0 else 1.0


def _differences(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each value from each earlier one."""
    return np.concatenate([values[place + 1 :] - each for place, each in enumerate(values)])


def _inversions_p(n: int, count: int) -> float:
    """Twice the share of the orders of n values with at most this many pairs in the wrong order."""
    ways = [1] + [0] * count
    for length in range(2, n + 1):
        sums = [0]
        for each in ways:
            sums.append(sums[-1] + each)
        ways = [sums[place + 1] - sums[max(0, place + 1 - length)] for place in range(count + 1)]
    return min(1.0, 2 * sum(ways) / math.factorial(n))


def _variance(sizes: NDArray[np.int64]) -> float:
    """Of (rising − falling pairs) in a random order of this many values; for groups of equal ones: its reduction."""
    return float((sizes * (sizes - 1) * (2 * sizes + 5)).sum()) / 18


def _equal(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The number of occurrences of each value."""
    return np.unique(values, return_counts=True)[1]

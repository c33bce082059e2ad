"""The uncertainty of a percentile of n requests: which order statistics enclose it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll.stats.distributions.binomial import binomial_tails
from plimsoll.stats.distributions.normal import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

CONFIDENCE = 0.95
EXCEEDANCES = 100
"""Requests beyond a quantile needed for a comparison: their number is then known to ±20 % (1.96/√100)."""


def order_ranks(n: int, p: float, confidence: float = CONFIDENCE) -> tuple[int | None, int | None]:
    """Ranks l and u, from 1, such that the l-th and the u-th smallest of n independent values enclose their
    p-quantile, 0 < p < 1, with this confidence. None: n values do not bound it on that side.

    l is the largest rank with P(Bin(n, p) ≤ l − 1) ≤ α/2, u the smallest with P(Bin(n, p) ≥ u) ≤ α/2, as in Conover,
    Practical Nonparametric Statistics, 3rd ed., section 3.2, and `scipy.stats.quantile_test`, which needs the values.
    """
    _check(p)
    if n < 1:
        return None, None
    # A tail of exactly α/2 counts, despite rounding.
    half = (1 - confidence) / 2 * (1 + 1e-12)
    reach = -normal_quantile(half) * math.sqrt(n * p * (1 - p))
    low = _first(n, math.floor(n * p - reach), lambda k: binomial_tails(k, n, p)[0] > half)
    high = _first(n, math.floor(n * p + reach), lambda k: binomial_tails(k, n, p)[1] <= half) + 1
    return (low if low >= 1 else None), (high if high <= n else None)


def least_requests(p: float, confidence: float = CONFIDENCE, sides: int = 2) -> int:
    """The fewest values whose smallest and largest enclose the p-quantile; sides = 1: with the largest above it.

    The largest of n is below the quantile with probability pⁿ.
    """
    _check(p)
    most_likely = max(p, 1 - p) if sides == 2 else p
    return math.ceil(math.log((1 - confidence) / sides) / math.log(most_likely))


def comparable_requests(p: float) -> int:
    """The number of requests with `EXCEEDANCES` of them beyond the p-quantile: 10 000 for the p99."""
    _check(p)
    return math.ceil(round(EXCEEDANCES / min(p, 1 - p), 6))


def above(n: int, p: float) -> int:
    """How many of n values determine the p-quantile, at rank ⌈p · n⌉: its own and those above it."""
    return n - rank(n, p) + 1


def rank(n: int, p: float) -> int:
    """⌈p · n⌉, from 1 to n: the rank of the p-quantile of n."""
    _check(p)
    # 0.99 * 100 is above 99 in floating point.
    return min(max(1, math.ceil(round(p * n, 6))), n)


def _first(n: int, near: int, is_enough: Callable[[int], bool]) -> int:
    """The least k from 0 to n for which it holds. It holds for n and all k after the first. `near`: the start."""
    low = high = min(max(near, -1), n)
    step = 1
    while low >= 0 and is_enough(low):
        low, high, step = low - step, low, step * 2
    step = 1
    while high < n and not is_enough(high):
        low, high, step = high, high + step, step * 2
    low, high = max(low, -1), min(high, n)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _check(p: float) -> None:
    if not 0 < p < 1:
        raise ValueError(f"a quantile is between 0 and 1, not {p}")

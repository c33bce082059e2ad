"""The binomial distribution, and two-sided tests of shares."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll.stats.distributions.incomplete import beta_tails, deviance, gamma_tails, stirling_error

if TYPE_CHECKING:
    from collections.abc import Sequence

_EQUAL = 1 + 1e-7
"""Outcomes whose probabilities differ by less count as equally likely: they may be mirror images."""


def binomial_tails(k: int, n: int, p: float) -> tuple[float, float]:
    """P(X ≤ k) and P(X > k) of X successes in n trials with the chance p, 0 < p < 1 (DLMF 8.17.5)."""
    if k < 0 or k >= n:
        return (0.0, 1.0) if k < 0 else (1.0, 0.0)
    tails = beta_tails(k + 1, n - k, p, 1 - p)
    return tails.upper, tails.lower


def binomial_chance(k: int, n: int, p: float) -> float:
    """P(X = k), 0 ≤ k ≤ n, 0 < p < 1 (Loader, Fast and Accurate Computation of Binomial Probabilities, 2000)."""
    if k in (0, n):
        return math.exp(n * (math.log1p(-p) if k == 0 else math.log(p)))
    error = stirling_error(n) - stirling_error(k) - stirling_error(n - k)
    exponent = error - deviance(k, n * p) - deviance(n - k, n * (1 - p))
    return math.exp(exponent) * math.sqrt(n / (2 * math.pi * k * (n - k)))


def binomial_p(k: int, n: int, p: float) -> float:
    """Of the chance p with k successes in n, exact: the probability of all outcomes not more likely than k. 0 ≤ k ≤ n,
    0 < p < 1."""
    if k > n * p:
        k, p = n - k, 1 - p
    if k == n * p:
        return 1.0
    most = binomial_chance(k, n, p) * _EQUAL
    low, high = math.ceil(n * p) - 1, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if binomial_chance(middle, n, p) <= most else (middle, high)
    return min(1.0, binomial_tails(k, n, p)[0] + binomial_tails(high - 1, n, p)[1])


def same_share_p(those: Sequence[int], others: Sequence[int]) -> float:
    """Of one share in all groups, given the counts of those and of the others per group: χ² test of the table (Pearson,
    1900), without a correction. No group is empty, and both kinds occur."""
    sizes = [some + rest for some, rest in zip(those, others, strict=True)]
    total, distance = sum(sizes), 0.0
    for row in (those, others):
        whole = sum(row)
        for count, size in zip(row, sizes, strict=True):
            expected = whole * size / total
            distance += (count - expected) ** 2 / expected
    return gamma_tails((len(sizes) - 1) / 2, distance / 2).upper

"""Intervals of counts: failures of n requests, requests of a period. All of them 95 %."""

from __future__ import annotations

import math

from plimsoll.stats.distributions.incomplete import beta_quantile, gamma_quantile
from plimsoll.stats.distributions.normal import normal_quantile

ALPHA = 0.05


def clopper_pearson(k: int, n: int) -> tuple[float, float]:
    """Of the share k/n, exact: covers the truth at least 95 % of the time, also for small counts (Biometrika 26, 1934).

    Its ends are quantiles of the beta distribution. Requests of one run are not independent: widen by the design effect
    if it is known. Raises ValueError unless 0 ≤ k ≤ n and n > 0.
    """
    _check(k, n)
    low = beta_quantile(k, n - k + 1, ALPHA / 2) if k else 0.0
    return low, beta_quantile(k + 1, n - k, 1 - ALPHA / 2) if k < n else 1.0


def wilson(k: int, n: int) -> tuple[float, float]:
    """Of the share k/n, by the score test (JASA 22, 1927): shorter, and 95 % on average over the shares."""
    _check(k, n)
    z, share = normal_quantile(1 - ALPHA / 2), k / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def newcombe(a: tuple[int, int], b: tuple[int, int]) -> tuple[float, float]:
    """Of the difference of two shares, b's minus a's, each as (k, n): Wilson's intervals combined (Newcombe, Statistics
    in Medicine 17, 1998, method 10)."""
    (low_a, high_a), (low_b, high_b) = wilson(*a), wilson(*b)
    share_a, share_b = a[0] / a[1], b[0] / b[1]
    difference = share_b - share_a
    low = difference - math.hypot(share_b - low_b, high_a - share_a)
    return low, difference + math.hypot(high_b - share_b, share_a - low_a)


def none_of(n: int) -> float:
    """The upper bound of the share, with 95 % confidence, if none of n had it: 1 − 0.05^(1/n), about 3/n."""
    if n < 1:
        raise ValueError(f"of {n} nothing can be said")
    return -math.expm1(math.log(ALPHA) / n)


def garwood(k: int) -> tuple[float, float]:
    """Of the mean of a Poisson distribution with k observed, exact (Biometrika 28, 1936): half the χ² quantiles with 2k
    and 2k + 2 degrees of freedom. Divide by the seconds for a rate."""
    if k < 0:
        raise ValueError(f"a count is not negative: {k}")
    # Half a χ² quantile with 2k degrees of freedom is a quantile of the gamma distribution of shape k.
    low = gamma_quantile(k, ALPHA / 2) if k else 0.0
    return low, gamma_quantile(k + 1, 1 - ALPHA / 2)


def _check(k: int, n: int) -> None:
    if not 0 <= k <= n or n < 1:
        raise ValueError(f"{k} of {n} is no share")

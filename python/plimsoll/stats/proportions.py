"""Intervals of counted things: failures of n requests, requests of a stretch of time. All of them 95 %."""

from __future__ import annotations

import math

ALPHA = 0.05


def clopper_pearson(k: int, n: int) -> tuple[float, float]:
    """Of the share k/n, exact: covers the truth at least 95 % of the time, also for small counts (Biometrika 26, 1934).

    Requests of one run are not independent: widen by the design effect where it is known. Raises ValueError unless
    0 ≤ k ≤ n and n > 0.
    """
    return _share(k, n, "beta")


def wilson(k: int, n: int) -> tuple[float, float]:
    """Of the share k/n, by the score test (JASA 22, 1927): shorter, and 95 % on average over the shares."""
    return _share(k, n, "wilson")


def none_of(n: int) -> float:
    """What the share is at most, with 95 % confidence, when none of n had it: 1 − 0.05^(1/n), about 3/n."""
    if n < 1:
        raise ValueError(f"of {n} nothing can be said")
    return -math.expm1(math.log(ALPHA) / n)


def garwood(k: int) -> tuple[float, float]:
    """Of the mean of a Poisson distribution of which k was seen, exact (Biometrika 28, 1936): half the χ² quantiles
    with 2k and 2k + 2 degrees of freedom. Divide by the seconds for a rate."""
    from scipy.stats import chi2

    if k < 0:
        raise ValueError(f"a count is not negative: {k}")
    low = float(chi2.ppf(ALPHA / 2, 2 * k)) / 2 if k else 0.0
    return low, float(chi2.isf(ALPHA / 2, 2 * k + 2)) / 2


def _share(k: int, n: int, method: str) -> tuple[float, float]:
    from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

    if not 0 <= k <= n or n < 1:
        raise ValueError(f"{k} of {n} is no share")
    low, high = proportion_confint(k, n, alpha=ALPHA, method=method)
    return max(0.0, float(low)), min(1.0, float(high))

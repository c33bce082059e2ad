"""Student's t distribution, also noncentral, and the test of two means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll.stats.distributions.incomplete import beta_log_odds, beta_tails, deviance, stirling_error
from plimsoll.stats.distributions.normal import normal_cdf

if TYPE_CHECKING:
    from collections.abc import Sequence

_NEGLIGIBLE = 40.0
"""Of the logarithm of a density, below its maximum: e⁻⁴⁰ is 4 · 10⁻¹⁸."""
_REACH = 9.0
"""Standard deviations beyond which the normal distribution counts as 0 or 1."""


def t_cdf(freedom: float, t: float) -> float:
    """P(T ≤ t), freedom > 0 (Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions 2,
    chapter 28)."""
    if math.isinf(t):
        return float(t > 0)
    square = t * t
    tails = beta_tails(freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square))
    return tails.lower / 2 if t < 0 else 0.5 + tails.upper / 2


def t_quantile(freedom: float, p: float) -> float:
    """t with P(T ≤ t) = p, freedom > 0, 0 < p < 1."""
    if p > 0.5:
        return -t_quantile(freedom, 1 - p)
    if p == 0.5:
        return 0.0
    return -math.sqrt(freedom) * math.exp(-beta_log_odds(freedom / 2, 0.5, 2 * p) / 2)


def t_beyond(freedom: float, shift: float, bar: float) -> float:
    """P(|T| > bar) of the noncentral t distribution with a shift ≥ 0; freedom ≥ 1, bar > 0.

    T = (Z + shift) / s, with Z normal and freedom · s² of the χ² distribution. So it is the mean over s of P(|Z +
    shift| > bar · s): an integral over ln s, by the trapezoidal rule, which converges exponentially for such functions
    (Trefethen and Weideman, SIAM Review 56, 2014).
    """
    # The range of non-negligible density of ln s (upper end: Laurent and Massart, Annals of Statistics 28, 2000).
    lowest = -_NEGLIGIBLE / freedom - math.sqrt(_NEGLIGIBLE / freedom)
    highest = math.log1p(2 * _NEGLIGIBLE / freedom + 2 * math.sqrt(_NEGLIGIBLE / freedom)) / 2
    steepest = min(bar * math.exp(highest), shift + _REACH)
    # The error is e^(−π²/(2 · step)) or that of a normal density, and here less than 10⁻¹².
    step = min(0.1, 0.5 / math.sqrt(2 * freedom + steepest**2))
    half = freedom / 2
    scale = step * 2 * math.sqrt(half / (2 * math.pi)) * math.exp(-stirling_error(half))
    terms = []
    for place in range(math.ceil((highest - lowest) / step) + 1):
        s = math.exp(lowest + place * step)
        beyond = normal_cdf(shift - bar * s) + normal_cdf(-shift - bar * s)
        terms.append(beyond * math.exp(-deviance(half, half * s * s)))
    return min(1.0, scale * math.fsum(terms))


def welch_p(a: Sequence[float], b: Sequence[float]) -> float:
    """p of equal means, two-sided, for any variances: Welch's t test (Biometrika 34, 1947). Each sample has two values
    or more, and one of them has two different values."""
    (mean_a, square_a), (mean_b, square_b) = _mean(a), _mean(b)
    freedom = (square_a + square_b) ** 2 / (square_a**2 / (len(a) - 1) + square_b**2 / (len(b) - 1))
    return 2 * t_cdf(freedom, -abs(mean_a - mean_b) / math.sqrt(square_a + square_b))


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """And the square of its standard error."""
    mean = math.fsum(values) / len(values)
    return mean, math.fsum((each - mean) ** 2 for each in values) / (len(values) - 1) / len(values)

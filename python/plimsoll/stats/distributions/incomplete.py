"""The regularized incomplete beta and gamma functions and their inverses: the basis of all other distributions.

A factor like x^a (1 − x)^b / B(a, b) is not computed from logarithms of the gamma function: with n = 10⁸ requests these
are 10⁹ and more, and their difference has seven digits. It is computed from the distance to the mode, as in Loader,
Fast and Accurate Computation of Binomial Probabilities, 2000.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from plimsoll.stats.distributions.normal import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_TINY = 1e-300
"""Replaces a denominator of 0."""
_EPSILON = 2.0**-53
_MOST_TERMS = 10_000_000
"""Of a series or a continued fraction: they need some multiple of √(a + b)."""
_FARTHEST = 700.0
"""Of a logarithm: exp of more soon overflows."""
_HALF_LOG_2_PI = math.log(2 * math.pi) / 2


class Tails(NamedTuple):
    """Of a distribution at a point. Each is computed directly where it is small."""

    lower: float
    upper: float
    slope: float
    """d lower / du, with u the logarithm of the point (gamma), or of the point's odds (beta)."""


def beta_tails(a: float, b: float, x: float, y: float) -> Tails:
    """I_x(a, b) and its complement for a, b > 0; y is 1 − x, which the caller may know more exactly.

    By the continued fraction DLMF 8.17.22, from the side on which it converges fast.
    """
    if x <= 0 or y <= 0:
        return Tails(0.0, 1.0, 0.0) if x <= 0 else Tails(1.0, 0.0, 0.0)
    n = a + b
    error = stirling_error(n) - stirling_error(a) - stirling_error(b)
    exponent = error - deviance(a, n * x) - deviance(b, n * y)
    slope = math.sqrt(a * b / (2 * math.pi * n)) * math.exp(exponent)
    if x * (n + 2) < a + 1:
        lower = slope * _beta_fraction(a, b, x, y)
        return Tails(lower, 1 - lower, slope)
    upper = slope * _beta_fraction(b, a, y, x)
    return Tails(1 - upper, upper, slope)


def gamma_tails(a: float, x: float) -> Tails:
    """P(a, x) and Q(a, x) for a > 0: by the series DLMF 8.11.4 below the mean, by the continued fraction DLMF 8.9.2
    above it."""
    if x <= 0:
        return Tails(0.0, 1.0, 0.0)
    slope = math.sqrt(a / (2 * math.pi)) * math.exp(-stirling_error(a) - deviance(a, x))
    if x < a + 1:
        lower = slope * _gamma_series(a, x)
        return Tails(lower, 1 - lower, slope)
    upper = slope * _gamma_fraction(a, x)
    return Tails(1 - upper, upper, slope)


def beta_quantile(a: float, b: float, p: float) -> float:
    """x with I_x(a, b) = p, for 0 < p < 1."""
    return 1 / (1 + math.exp(-beta_log_odds(a, b, p)))


def beta_log_odds(a: float, b: float, p: float) -> float:
    """ln(x / (1 − x)) of that x: exact also for x near 1."""

    def tails(u: float) -> Tails:
        return beta_tails(a, b, 1 / (1 + math.exp(-u)), 1 / (1 + math.exp(u)))

    return _inverse(tails, p, math.log(a / b) + normal_quantile(p) * math.sqrt(1 / a + 1 / b))


def gamma_quantile(a: float, p: float) -> float:
    """x with P(a, x) = p, for 0 < p < 1."""
    start = math.log(a) + normal_quantile(p) / math.sqrt(a)
    return math.exp(_inverse(lambda u: gamma_tails(a, math.exp(u)), p, start))


def stirling_error(z: float) -> float:
    """ln Γ(z + 1) − (z + ½) ln z + z − ½ ln 2π, for z > 0: the error of Stirling's formula (DLMF 5.11.1)."""
    if z < 16:
        return math.lgamma(z + 1) - (z + 0.5) * math.log(z) + z - _HALF_LOG_2_PI
    square = z * z
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / z


def deviance(x: float, mean: float) -> float:
    """x ln(x / mean) + mean − x, for x, mean > 0, without cancellation where both are close (Loader)."""
    apart = x - mean
    if abs(apart) >= 0.1 * (x + mean):
        return x * math.log(x / mean) - apart
    v = apart / (x + mean)
    total, term, place = apart * v, 2 * x * v, 1
    while True:
        term *= v * v
        place += 2
        longer = total + term / place
        if longer == total:
            return total
        total = longer


def _inverse(tails: Callable[[float], Tails], p: float, start: float) -> float:
    """u at which the lower tail is p: Newton's method on the logarithm of the smaller tail, which is concave, within
    bounds that each step narrows."""
    is_lower = p <= 0.5
    goal = math.log(p if is_lower else 1 - p)
    low, high, u = -_FARTHEST, _FARTHEST, min(max(start, -_FARTHEST), _FARTHEST)
    for _ in range(200):
        at = tails(u)
        tail = at.lower if is_lower else at.upper
        off = (math.log(tail) if tail > 0 else -math.inf) - goal
        low, high = (u, high) if (off < 0) == is_lower else (low, u)
        rise = (at.slope if is_lower else -at.slope) / tail if tail > 0 else 0.0
        further = u - off / rise if rise and math.isfinite(off) else math.nan
        if not low <= further <= high:
            further = (low + high) / 2
        if abs(further - u) <= 1e-14 * max(1.0, abs(u)):
            return further
        u = further
    return u


def _beta_fraction(a: float, b: float, x: float, y: float) -> float:
    """The even part of the fraction of DLMF 8.17.22, in the form of Didonato and Morris (ACM TOMS 18, 1992), which
    loses no digits where x or y is small."""
    excess = a * y - b * x + 1

    def terms() -> Iterator[tuple[float, float]]:
        for m in range(1, _MOST_TERMS):
            odd = a + 2 * m - 1
            share = m * (b - m) * x / odd
            upper = (a + m - 1) * (a + b + m - 1) * x / odd * share
            yield upper, m + share + (a + m) * (excess + m * (1 + y)) / (odd + 2)

    return 1 / _fraction(a * excess / (a + 1), terms())


def _gamma_series(a: float, x: float) -> float:
    """Σ x^k / (a (a + 1) … (a + k))."""
    term = total = 1 / a
    place = a
    while term > total * _EPSILON:
        place += 1
        term *= x / place
        total += term
    return total


def _gamma_fraction(a: float, x: float) -> float:
    """1/(x + 1 − a − 1·(1 − a)/(x + 3 − a − …)): the even part of DLMF 8.9.2."""
    first = x + 1 - a
    return 1 / _fraction(first, ((place * (a - place), first + 2 * place) for place in range(1, _MOST_TERMS)))


def _fraction(first: float, terms: Iterator[tuple[float, float]]) -> float:
    """first + a₁/(b₁ + a₂/(b₂ + …)) of terms (a, b), by the modified method of Lentz (Thompson and Barnett, J. Comput.
    Phys. 64, 1986)."""
    value = c = _some(first)
    d = 0.0
    for upper, lower in terms:
        d = 1 / _some(lower + upper * d)
        c = _some(lower + upper / c)
        change = c * d
        value *= change
        if abs(change - 1) <= 2 * _EPSILON:
            break
    return value


def _some(value: float) -> float:
    return value if abs(value) > _TINY else _TINY

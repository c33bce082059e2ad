"""The normal distribution, and the root of a function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def normal_cdf(x: float) -> float:
    """P(X ≤ x)."""
    return math.erfc(-x / math.sqrt(2)) / 2


def normal_quantile(p: float) -> float:
    """x with P(X ≤ x) = p, 0 < p < 1 (Wichura, AS 241, Applied Statistics 37, 1988)."""
    from statistics import NormalDist  # here: `plimsoll run` does not need it

    return NormalDist().inv_cdf(p)


def root(function: Callable[[float], float], low: float, high: float, tolerance: float = 1e-12) -> float:
    """x between low and high with function(x) = 0, to a relative error of `tolerance`.

    By inverse quadratic interpolation where it is safe, else by bisection (Chandrupatla, Advances in Engineering
    Software 28, 1997). Raises ValueError if both ends have the same sign.
    """
    a, b = low, high
    at_a, at_b = function(a), function(b)
    if at_a * at_b > 0:
        raise ValueError(f"no root between {low:g} and {high:g}: the signs at both ends are the same")
    share = 0.5
    while True:
        x = a + share * (b - a)
        at_x = function(x)
        c, at_c = (a, at_a) if (at_x > 0) == (at_a > 0) else (b, at_b)
        if c == b:
            b, at_b = a, at_a
        a, at_a = x, at_x
        best, at_best = (a, at_a) if abs(at_a) < abs(at_b) else (b, at_b)
        least = (2**-52 + tolerance / 2) * abs(best) / abs(b - a) if b != a else 1.0
        if least > 0.5 or at_best == 0:
            return best
        xi, phi = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
        share = 0.5
        if phi**2 < xi and (1 - phi) ** 2 < 1 - xi:
            share = at_a / (at_b - at_a) * at_c / (at_b - at_c)
            share += (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
        share = min(max(share, least), 1 - least)

"""Rounding as at school, where Python rounds a half to the even neighbour."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal


def proper_round(val: float, digits: int = 0) -> float:
    """The nearest number with this many decimals; halves are rounded up: 0.5 is 1.0, 2.5 is 3.0."""
    step = Decimal(1).scaleb(-digits)
    # Through repr: 1.005 is meant, not the binary number just below it.
    shifted = Decimal(repr(float(val))) + step / 2
    return float((shifted / step).to_integral_value(ROUND_FLOOR) * step)

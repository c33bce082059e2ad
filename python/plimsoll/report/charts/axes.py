"""How far an axis reaches, and where its ticks are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HORIZONS = (60, 120, 300, 600)
"""Seconds that the axis of a run in progress reaches to at first; from there on it doubles."""
MOST_TICKS = 8
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400)
"""Seconds between two ticks of an axis of time."""
_NICE = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_ROUND = (1.0, 2.0, 5.0, 10.0)


STEP = f"{list(_STEPS)}[" + " + ".join(f"(until - from > {MOST_TICKS * each})" for each in _STEPS[:-1]) + "]"
"""An expression: the seconds between two ticks, of an axis that reaches from `from` until `until`."""


def horizon(seconds: int) -> int:
    """Seconds that an axis reaches to which has room for this many and one more."""
    found = next((each for each in HORIZONS if seconds < each), HORIZONS[-1])
    while seconds >= found:
        found *= 2
    return found


def top_of(greatest: float, room: float = 1.0) -> float:
    """The end of an axis from 0 on: round, and at least `room` times the greatest value."""
    wanted = max(greatest, 0.0) * room
    if wanted <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(float(f"{each * power:.6g}") for each in _NICE if each * power >= wanted * (1 - 1e-9))


def reach_of(values: Sequence[float], room: float = 1.0) -> tuple[float, float]:
    """Both ends of a logarithmic axis. room: at least how many times as far as the least and the greatest value, up to
    1, 2 or 5 times a power of ten; 1: just beyond them. Values are above 0; without any it is 1…10."""
    if not values:
        return 1.0, 10.0
    low, high = min(values), max(values)
    if room == 1.0:
        margin = max(1.12, (high / low) ** 0.04)
        return float(f"{low / margin:.4g}"), float(f"{high * margin:.4g}")
    return _round_down(low / room), _round_up(high * room)


def _round_up(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return next(float(f"{each * power:.6g}") for each in _ROUND if each * power >= value * (1 - 1e-9))


def _round_down(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return next(float(f"{each * power:.6g}") for each in reversed(_ROUND) if each * power <= value * (1 + 1e-9))

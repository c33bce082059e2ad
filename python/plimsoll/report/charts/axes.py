"""How far an axis reaches, and where its ticks are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HORIZONS = (60, 120, 300, 600)
"""Seconds that the axis of a run in progress reaches to at first; from there on it doubles."""
MOST_TICKS = 8
_NICE = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_ROUND = (1.0, 2.0, 5.0, 10.0)
_STEPS = {1: (1, 2, 5, 10, 20, 50), 60: (1, 2, 5, 10, 20, 30), 3600: (1, 2, 3, 6, 12, 24, 48, 96, 168)}
_UNITS = {1: "seconds", 60: "minutes", 3600: "hours"}


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """From second 0 of a run."""

    title: str
    unit: int
    """Seconds of what its labels count."""
    ticks: tuple[int, ...]
    """Seconds."""


def time_axis(seconds: float) -> TimeAxis:
    """Up to so many seconds: counted in seconds for five minutes, in minutes for three hours."""
    unit = 1 if seconds <= 300 else 60 if seconds <= 3 * 3600 else 3600
    fitting = (each * unit for each in _STEPS[unit] if seconds / (each * unit) <= MOST_TICKS)
    step = next(fitting, unit * 10 ** math.ceil(math.log10(max(1.0, seconds / unit / MOST_TICKS))))
    return TimeAxis(f"{_UNITS[unit]} since the start", unit, tuple(range(0, math.floor(seconds) + 1, step)))


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

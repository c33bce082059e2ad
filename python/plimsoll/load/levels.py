"""Notations of levels: 900/s is a rate, 50 are users."""

from __future__ import annotations

import re
from dataclasses import dataclass

from plimsoll.load.mistakes import BadValueError, shown

MOST_RATE = 1e9
"""Maximum arrivals per second: due times are whole nanoseconds."""
MOST_USERS = 10_000_000

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?"
_LEVEL = re.compile(rf"(?P<number>{_NUMBER})(?:\s*/\s*(?P<unit>[smh]))?", re.IGNORECASE)
_PER = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class LoadLevel:
    """The level of a shape at one time."""

    value: float
    """Arrivals per second, or users; below 0 only for a difference of levels."""
    rate: bool
    """Of the open model: the value is arrivals per second."""

    def __post_init__(self) -> None:
        most = MOST_RATE if self.rate else MOST_USERS
        if not -most <= self.value <= most:  # NaN is not, either
            unit = "/s" if self.rate else " users"
            raise BadValueError(f"{self.value:.12g}{unit} is not possible: at most {most:.0f}{unit} are")


def parse_level(value: str | float, bare_is_rate: bool = False) -> LoadLevel:
    """900/s, 54000/m and 3600/h are rates; a number alone is users, or a rate per second. Raises UsageError."""
    level = parse_step(value, bare_is_rate)
    if level.value < 0:
        raise BadValueError(f"{shown(value)} is below 0")
    return level


def parse_step(value: str | float, bare_is_rate: bool = False) -> LoadLevel:
    """A level, or a difference of two, which may be below 0."""
    if isinstance(value, str):
        match = _LEVEL.fullmatch(value.strip())
        if match is None:
            examples = "900/s, 54000/m or 3600/h" if bare_is_rate else "900/s (a rate) or 50 (users)"
            raise BadValueError(f"{shown(value)} is not understood; valid are {examples}")
        unit = match["unit"]
        return LoadLevel(float(match["number"]) / _PER[(unit or "s").lower()], bare_is_rate or unit is not None)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadValueError(f'{shown(value)} is not a level; valid are "900/s" (a rate) or 50 (users)')
    return LoadLevel(float(value), bare_is_rate)


def parse_rate(value: str | float) -> float:
    """Arrivals per second, above 0: "900/s", "54000/m", "0.5/s", or a number. Raises UsageError."""
    rate = parse_level(value, bare_is_rate=True).value
    if rate == 0:
        raise BadValueError("is zero: nothing would be sent")
    return rate


def parse_users(value: str | int) -> int:
    """A whole number of users, above 0. Raises UsageError."""
    level = parse_level(value)
    if level.rate:
        raise BadValueError(f"{shown(value)} is a rate, not a number of users; write rate = {shown(value)}")
    if level.value < 1 or level.value != int(level.value):
        raise BadValueError(f"{shown(value)} is not a whole number of users above 0")
    return int(level.value)

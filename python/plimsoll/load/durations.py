"""Durations: parsing, including Locust's notation, and formatting."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from plimsoll.load.mistakes import BadValueError, shown

_PART = r"[0-9]+(?:\.[0-9]+)?"
_DURATION = re.compile(
    rf"(?:(?P<h>{_PART})(?:h|hours?))?(?:(?P<m>{_PART})(?:m|min|minutes?))?"
    rf"(?:(?P<s>{_PART})(?:s|sec|seconds?|\Z))?(?:(?P<ms>{_PART})ms)?"
)
_BLANKS = re.compile(r"(?<=[0-9]) +(?=[a-z])|(?<=[a-z]) +(?=[0-9])")
_SECONDS = {"h": Decimal(3600), "m": Decimal(60), "s": Decimal(1), "ms": Decimal("0.001")}
_LONGEST = 10 * 365 * 86_400.0


def parse_duration(value: str | float) -> float:
    """Seconds in 200ms, 10s, 1m30s, 2h, 1.5s, 1 min, or a number of seconds. 0 to ten years. Raises UsageError."""
    if isinstance(value, str):
        match = _DURATION.fullmatch(_BLANKS.sub("", value.strip()))
        if not match or not any(match.groups()):
            raise BadValueError(f"{shown(value)} is not a duration; valid are 200ms, 10s, 1m30s, 2h")
        seconds = float(sum(Decimal(part) * _SECONDS[unit] for unit, part in match.groupdict().items() if part))
    elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0:
        seconds = float(value)
    else:
        raise BadValueError(f"{shown(value)} is not a duration; valid are 200ms, 10s, 1m30s, 2h")
    if seconds > _LONGEST:
        raise BadValueError(f"{shown(value)} is more than ten years")
    return seconds


def parse_length(value: str | float) -> float:
    """A duration above 0."""
    seconds = parse_duration(value)
    if seconds == 0:
        raise BadValueError("must be longer than 0")
    return seconds


def format_duration(seconds: float) -> str:
    """The shortest spelling that `parse_duration` reads, to whole milliseconds: 90.5 is "1m30s500ms"."""
    whole, ms = divmod(round(seconds * 1000), 1000)
    minutes, s = divmod(whole, 60)
    hours, m = divmod(minutes, 60)
    parts = ((hours, "h"), (m, "m"), (s, "s"), (ms, "ms"))
    return "".join(f"{amount}{unit}" for amount, unit in parts if amount) or "0s"


def duration_text(seconds: float) -> str:
    """For people: 12.3 s, 2 min 5 s, 1 h 3 min."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (left if not hours else 0, "s")]
    return " ".join(f"{value} {unit}" for value, unit in parts if value)


def rough_duration(seconds: float) -> str:
    """For people, of an estimate: 45 s, 12 min, 1 h 40 min."""
    return duration_text(round(seconds) if seconds < 90 else 60 * round(seconds / 60))

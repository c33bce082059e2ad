"""Durations as users write them, in Locust's notation too."""

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
    """A duration above 0 s.

    Raises UsageError.
    """
    seconds = parse_duration(value)
    if seconds == 0:
        raise BadValueError("must be longer than 0")
    return seconds

"""A span of time in Locust's notation."""

from __future__ import annotations

import re

_SPAN = re.compile(r"(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+)s?)?")
_HINT = "Invalid time span format. Valid formats: 20, 20s, 3m, 2h, 1h20m, 3h30m10s, etc."


def parse_timespan(time_str: str) -> int:
    """Whole seconds in 20, 20s, 3m, 2h, 1h20m, 3h30m10s. Raises ValueError."""
    if not time_str:
        raise ValueError("Invalid time span format")
    match = _SPAN.fullmatch(time_str)
    if match is None or not any(match.groups()):
        raise ValueError(_HINT)
    bare = match["s"] is not None and not time_str.endswith("s")
    if bare and match["s"] != time_str:
        # "1m30": a number without a unit must stand alone.
        raise ValueError(_HINT)
    hours, minutes, seconds = (int(part or 0) for part in match.group("h", "m", "s"))
    return hours * 3600 + minutes * 60 + seconds

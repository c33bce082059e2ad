"""Points in time and durations as Locust's reports write them."""

from __future__ import annotations

from datetime import UTC, datetime


def format_utc_timestamp(unix_timestamp: float) -> str:
    """2026-11-21T22:30:00Z, cut to whole seconds."""
    return datetime.fromtimestamp(int(unix_timestamp), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_safe_timestamp(unix_timestamp: float) -> str:
    """2026-11-21-22h30 in local time: can be part of a file's name everywhere."""
    return datetime.fromtimestamp(int(unix_timestamp)).strftime("%Y-%m-%d-%Hh%M")


def format_duration(start_time: float, end_time: float) -> str:
    """From one Unix time to another, as "1 hour, 2 minutes and 3 seconds"."""
    rest = int(end_time - start_time)
    parts = []
    for name, size in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        amount, rest = divmod(rest, size)
        if amount > 0:
            parts.append(f"{amount} {name}{'' if amount == 1 else 's'}")
    if not parts:
        return "0 seconds"
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)

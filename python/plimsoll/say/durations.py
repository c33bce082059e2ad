"""Durations as text: as an option reads them, and in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.numbers import between

if TYPE_CHECKING:
    from collections.abc import Iterable


def format_duration(seconds: float) -> str:
    """The shortest spelling that `parse_duration` reads, to whole milliseconds: 90.5 is "1m30s500ms"."""
    whole, ms = divmod(round(seconds * 1000), 1000)
    minutes, s = divmod(whole, 60)
    hours, m = divmod(minutes, 60)
    parts = ((hours, "h"), (m, "m"), (s, "s"), (ms, "ms"))
    return "".join(f"{amount}{unit}" for amount, unit in parts if amount) or "0s"


def duration_text(seconds: float) -> str:
    """For people: 26 ms, 12.3 s, 2 min 5 s, 1 h 3 min."""
    if 0 < seconds < 0.095:
        return rough_ms(1000 * seconds)
    if round(seconds, 1) < 60:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (left if not hours else 0, "s")]
    return " ".join(f"{value} {unit}" for value, unit in parts if value)


def rough_duration(seconds: float) -> str:
    """For people, of an estimate: 45 s, 12 min, 1 h 40 min."""
    return duration_text(round(seconds) if seconds < 90 else 60 * round(seconds / 60))


def seconds_text(seconds: float) -> str:
    """Seconds beside others, two digits or the whole seconds: 0.82 s, 120 s."""
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"


def ms(milliseconds: float) -> str:
    """870 ms, 8.5 s."""
    return f"{milliseconds:.3g} ms" if abs(milliseconds) < 999.5 else f"{milliseconds / 1000:.3g} s"


def rough_ms(milliseconds: float) -> str:
    """Two digits, of a bound or of what is only known roughly: 8.7 ms, 120 ms."""
    return ms(float(f"{milliseconds:.2g}"))


def range_of_ms(all_ms: Iterable[float]) -> str:
    """6 ms to 9.1 s: from the shortest to the longest."""
    ordered = sorted(all_ms)
    return between(ms(ordered[0]), ms(ordered[-1]))

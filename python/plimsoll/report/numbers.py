"""Numbers as people read them. Only what is shown is rounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.stats.latency.milliseconds import Milliseconds

NONE = "–"


def milliseconds(duration: Milliseconds | None) -> str:
    """Three or more digits; "≥" before a time that may have been longer."""
    if duration is None:
        return NONE
    return f"{'≥' if duration.at_least else ''}{amount(duration.value)}"


def amount(value: float) -> str:
    """Three decimals below 1, two below 10, one below 100, none above."""
    decimals = 3 if 0 < abs(value) < 0.9995 else 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:.{decimals}f}"


def quantity(value: float | None, unit: str) -> str:
    """To four digits or more, so that a value beside its limit does not look equal to it: 300.4 ms, 12.5/s, 0.1%."""
    if value is None:
        return NONE
    number = f"{value:.4g}" if abs(value) < 1000 else f"{value:.1f}".removesuffix(".0")
    return f"{number}{'' if unit in ('', '/s', '%') else ' '}{unit}"


def share(part: float, whole: float) -> str:
    """As a percentage; what is not nothing is never shown as 0 %, nor what is not all as 100 %."""
    if not whole:
        return NONE
    percent = 100 * part / whole
    if 0 < percent < 0.01:
        return "<0.01%"
    if 99.99 < percent < 100:
        return ">99.99%"
    return f"{percent:.2f}%"


def counted(number: int, thing: str) -> str:
    """1 timeout, 2 timeouts."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def seconds(duration: float) -> str:
    """12.3 s, 2 min 5 s, 1 h 3 min."""
    if round(duration, 1) < 60:
        return f"{duration:.1f}".removesuffix(".0") + " s"
    minutes, left = divmod(round(duration), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (left if not hours else 0, "s")]
    return " ".join(f"{value} {unit}" for value, unit in parts if value)


def size(count: float) -> str:
    """Bytes: 512 B, 1.5 GiB."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{amount(count)} {unit}"
        count /= 1024
    return f"{amount(count)} TiB"

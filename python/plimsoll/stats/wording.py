"""Forms of numbers for the sentences of `headline` and `validity`. All others are in `plimsoll.say`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_NAMED = 4
"""Names in a list before "and n more"."""


def ms(milliseconds: float) -> str:
    """ "870 ms", "8.5 s"."""
    if abs(milliseconds) < 1000:
        return f"{milliseconds:.3g} ms"
    return f"{milliseconds / 1000:.3g} s"


def percent(share: float) -> str:
    """Three digits: 0.1312 is "13.1 %", 0.00042 is "0.042 %". Never 100 % of less than all."""
    shown = f"{share * 100:.3g} %"
    return "99.9 %" if shown == "100 %" and share < 1 else shown


def whole_percent(share: float) -> str:
    """0.979 is "98 %"."""
    return f"{share * 100:.0f} %"


def number(value: float) -> str:
    """Four significant digits, with a thousands separator only if it helps: "54.58", "23 495"."""
    if abs(value) >= 10_000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.4g}"


def several(names: Sequence[str]) -> str:
    """ "a, b and c"; after `MOST_NAMED`: "a, b, c, d and 7 more"."""
    if len(names) > MOST_NAMED + 1:
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
    return listed(names)


def listed(names: Iterable[str]) -> str:
    """ "a, b and c"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def count(many: float, thing: str) -> str:
    """ "1 request", "1500 requests"."""
    return f"{number(many)} {thing}{'' if many == 1 else 's'}"

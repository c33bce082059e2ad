"""The order of endpoints in tables that people read: the endpoint that users wait for most comes first.

Rows of streams are parts of requests and stand below the endpoint of the same name. Of many endpoints a short table has
those that fail most often and those with the most waiting.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from plimsoll.record import STREAM_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.table import Row

AnyRow = TypeVar("AnyRow", bound="Row")


def by_waiting(rows: Iterable[AnyRow]) -> list[AnyRow]:
    """Sorted; rows with the same waiting by name, in which numbers are compared as numbers."""
    rows = list(rows)
    most: dict[str, float] = {}
    for row in rows:
        most[row.name] = max(most.get(row.name, 0.0), row.waited_s)

    def order(row: AnyRow) -> tuple[float, list[tuple[int, str]], bool, str]:
        is_part = row.method in STREAM_ROWS
        return -(most[row.name] if is_part else row.waited_s), natural(row.name), is_part, row.method

    return sorted(rows, key=order)


def most_notable(rows: Sequence[AnyRow], most: int) -> list[AnyRow]:
    """At most so many of these rows, in their order. A row counts by its place among the failing ones or its place by
    waiting, whichever is better."""
    if len(rows) <= most:
        return list(rows)
    failing = sorted((row for row in rows if row.failures), key=lambda row: -row.failures)
    places: dict[int, int] = {}
    for ranked in (failing, by_waiting(rows)):
        for place, row in enumerate(ranked):
            places[id(row)] = min(place, places.get(id(row), place))
    kept = {id(row) for row in sorted(rows, key=lambda row: places[id(row)])[:most]}
    return [row for row in rows if id(row) in kept]


def natural(name: str) -> list[tuple[int, str]]:
    """A key to sort names by: 2 comes before 10."""
    parts = [(part, part.lstrip("0")) for part in re.split(r"([0-9]+)", name)]
    return [(len(digits), digits) if part.isdecimal() else (-1, part) for part, digits in parts]

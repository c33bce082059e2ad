"""Makes many differences readable: the place within two values where they differ, and equal ones together."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from .differences import ABSENT
from .facts import as_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .differences import Found

Place = tuple[str, str, str]
"""Where in the values, and what is there: Locust's and ours."""


def grouped(found: list[Found]) -> dict[Place, tuple[Found, int, tuple[Any, Any]]]:
    """The first of each kind, how many there are, and the two parts that differ."""
    groups: dict[Place, tuple[Found, int, tuple[Any, Any]]] = {}
    for each in found:
        for where, one, other in parts(each.locust, each.plimsoll):
            place = (where, as_text(one), as_text(other))
            if ABSENT in (each.locust, each.plimsoll):
                # A run that went wrong early lacks nearly everything: said once per kind of fact.
                place = (f"{each.run}: {each.fact.partition(' ')[0]}", as_text(each.locust == ABSENT), "")
            first, count, _ = groups.get(place, (each, 0, None))
            groups[place] = (first, count + 1, (one, other))
    return groups


def parts(one: Any, other: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The smallest parts that differ; of lists only the first, for the rest may be shifted."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            if one.get(key, ABSENT) != other.get(key, ABSENT):
                yield from parts(one.get(key, ABSENT), other.get(key, ABSENT), f"{where}.{key}")
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) == len(other) and sorted(map(as_text, one)) != sorted(map(as_text, other)):
            unequal = [index for index, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
            if len(unequal) == 1:
                yield from parts(one[unequal[0]], other[unequal[0]], f"{where}[{unequal[0]}]")
                return
        index = next(n for n, (a, b) in enumerate(zip_longest(one, other, fillvalue=ABSENT)) if a != b)
        yield (f"{where}[{index}:]" if index else where), one[index:], other[index:]
    else:
        yield where, one, other

"""More rows like those of the recorded people, for a service that takes each name, slug or address only once.

A number that differs between the two recorded rows goes on: of "News 1" and "News 2", with the slugs news-1 and news-2,
the third row has "News 3" and news-3. The id of something that is there already does not go on: the next one may not be
there. The proof decides whether such rows will do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from plimsoll.sources.draft import ScenarioDraft

_NUMBER = re.compile(r"([0-9]+)", re.ASCII)
_LONGEST_NUMBER = 15


def more_people(data: Mapping[str, Sequence[str]], count: int, ids: Collection[str] = ()) -> dict[str, list[str]]:
    """`count` rows, the recorded ones first. Columns without a number that differs begin again, and so do those of ids.
    Empty if no column goes on, or if there are not two rows. ids: names of columns."""
    if any(len(values) != 2 for values in data.values()):
        return {}
    pieces = {name: [_NUMBER.split(value) for value in values] for name, values in data.items()}
    varying = {
        name for name, (first, second) in pieces.items() if name not in ids and _differ_by_numbers(first, second)
    }
    if not varying:
        return {}
    numbers = {int(word) for name in varying for row in pieces[name] for word in row[1::2]}
    rows: dict[str, list[str]] = {}
    for name, values in data.items():
        made = [values[number % 2] for number in range(count)]
        if name in varying:
            first, second = pieces[name]
            made[2:] = [_changed(first, second, max(numbers) + number) for number in range(1, count - 1)]
        rows[name] = made
    return rows


def ids_in_paths(draft: ScenarioDraft) -> set[str]:
    """Names of the columns that are numbers and stand in paths, as `/items/7/edit` has one."""
    names: set[str] = set()
    for step in draft.steps:
        for piece in step.path:
            if isinstance(piece, str) and "?" in piece:
                break
            if not isinstance(piece, str) and piece.origin == "data":
                names.add(piece.name)
    return {name for name in names if all(value.isdigit() for value in draft.data[name])}


def _differ_by_numbers(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether two values have the same words between their numbers, and are not the same."""
    words, numbers = first[::2] == second[::2], (*first[1::2], *second[1::2])
    return words and first != second and all(len(number) <= _LONGEST_NUMBER for number in numbers)


def _changed(first: Sequence[str], second: Sequence[str], number: int) -> str:
    """The value with a new number in place of those that differ."""
    return "".join(one if one == other else str(number) for one, other in zip(first, second, strict=True))

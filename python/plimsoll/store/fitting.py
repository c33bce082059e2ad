"""Leaves out the numbers of a run that a database cannot hold, or that no reader accepts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Double, Integer

from plimsoll.record import LARGEST
from plimsoll.store.checks import LATEST

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable

    from sqlalchemy import Column, Table

LARGEST_INTEGER = 2**31 - 1
"""The largest number of a column of the type Integer in PostgreSQL."""

_KEYS = frozenset({"second", "worker", "count"})
"""Columns without which a row says nothing: it is left out as a whole."""


@dataclass(frozen=True, slots=True)
class _Number:
    """A column of numbers, none of them below 0."""

    name: str
    label: str
    kinds: tuple[type[int | float], ...]
    largest: float
    may_be_missing: bool

    def holds(self, value: Any) -> bool:
        if value is None:
            return self.may_be_missing
        # NaN is neither.
        return isinstance(value, self.kinds) and bool(0 <= value <= self.largest)


def fitting(table: Table, rows: Iterable[dict[str, Any]], left_out: Counter[str]) -> list[dict[str, Any]]:
    """The rows with 0, or null where it may be missing, in place of each number that its column does not hold.

    left_out: gets how many these are, by column.
    """
    numbers = _numbers(table)
    return [row for row in rows if _is_kept(row, numbers, left_out)]


def _is_kept(row: dict[str, Any], numbers: tuple[_Number, ...], left_out: Counter[str]) -> bool:
    """Replaces numbers of the row. False: it is left out as a whole."""
    wrong = [each for each in numbers if not each.holds(row[each.name])]
    for each in wrong:
        row[each.name] = None if each.may_be_missing else each.kinds[-1](0)
        left_out[each.label] += 1
    return not any(each.name in _KEYS for each in wrong)


@cache
def _numbers(table: Table) -> tuple[_Number, ...]:
    """The columns of numbers that come from outside, which are those that the database does not number itself."""
    columns = (each for each in table.columns if not (each.foreign_keys or each.primary_key))
    return tuple(found for each in columns if (found := _number(each)) is not None)


def _number(column: Column[Any]) -> _Number | None:
    label = f"{column.table.name}.{column.name}"
    match column.type:
        case BigInteger():
            return _Number(column.name, label, (int,), LARGEST, bool(column.nullable))
        case Integer():
            return _Number(column.name, label, (int,), LARGEST_INTEGER, bool(column.nullable))
        case Double():
            return _Number(column.name, label, (int, float), LATEST, bool(column.nullable))
    return None

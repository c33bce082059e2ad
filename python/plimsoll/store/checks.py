"""Finds values that no Plimsoll wrote: a file was damaged, or changed by hand."""

from __future__ import annotations

import math
from array import array
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sqlalchemy import JSON, Boolean, Double, Integer, LargeBinary

from plimsoll.errors import StoreError
from plimsoll.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Column, ColumnElement

DAMAGE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, AssertionError, RecursionError)
"""What values of the wrong kind make fail, sooner or later."""
LONGEST_GAP = 7 * 86_400
"""Seconds of a run without a row. A later row has a damaged second: reports would have as many places as it says."""

_LISTS = frozenset({"tags", "notes", "workers"})
"""Columns of JSON with lists of texts or numbers. All others have objects."""
_VALUES: dict[str, tuple[type, ...]] = {"collected": (str,), "phases": (float, int)}
"""What objects of some columns have."""
_MOMENTS = frozenset({"started", "ended", "created", "written", "first", "last"})
LATEST = 253_402_300_799.0
"""The end of the year 9999 in Unix seconds."""
_SHOWN = 40


@contextmanager
def damage_named(store: str, doing: str) -> Iterator[None]:
    """Within the block `DAMAGE` is a StoreError. doing: completes "cannot …"."""
    try:
        yield
    except DAMAGE as error:
        lines = redact(str(error)).splitlines() or [""]
        reason = f"{type(error).__name__}: {lines[0][:200]}".rstrip(": ")
        raise StoreError(f"store {store}: cannot {doing}: a value in it is damaged ({reason})") from error


def check_row(columns: Sequence[ColumnElement[Any]], row: Sequence[Any], *, joined: Sequence[Any] = ()) -> None:
    """Raises ValueError, naming the column, for a value of the wrong kind. joined: columns that an outer join may leave
    empty."""
    for column, value in zip(columns, row, strict=True):
        _check(column, value, is_joined=column in joined)


def _check(column: Any, value: Any, *, is_joined: bool) -> None:
    if value is None:
        if not (column.nullable or is_joined):
            raise ValueError(f"{column} is missing")
        return
    if column.name in _MOMENTS and not (isinstance(value, float | int) and 0 <= value <= LATEST):
        raise ValueError(f"{column} is no time: {_shown(value)}")
    kinds = _kinds(column)
    if type(value) not in kinds or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"{column} is no {kinds[0].__name__}: {_shown(value)}")
    allowed = _VALUES.get(column.name)
    if allowed and not all(type(each) in allowed for each in value.values()):
        raise ValueError(f"{column} has something else than {allowed[0].__name__}: {_shown(value)}")
    if column.name in _LISTS and not all(type(each) in (str, int) for each in value):
        raise ValueError(f"{column} has something else than texts: {_shown(value)}")


def check_counts(columns: Sequence[Column[Any]], values: Sequence[Sequence[Any]]) -> None:
    """The same for columns of numbers, none below 0, and of texts; each with the values of several rows."""
    for column, in_rows in zip(columns, values, strict=True):
        several = [value for value in in_rows if value is not None] if column.nullable else in_rows
        kinds = _kinds(column)
        if kinds == (int,) and _are_counts(several):
            continue
        if not set(map(type, several)) <= set(kinds):
            wrong = next(each for each in several if type(each) not in kinds)
            raise ValueError(f"{column} is no {kinds[0].__name__}: {_shown(wrong)}")
        if kinds[0] is not str and min(several) < 0:
            raise ValueError(f"{column} is below 0: {min(several)}")


def _are_counts(values: Sequence[Any]) -> bool:
    """Asked in one pass of C: a run has millions."""
    try:
        array("Q", values)
    except (TypeError, OverflowError):
        return False
    return True


def check_seconds(last: int, seconds: Sequence[int]) -> None:
    """seconds: ascending, of rows that follow one of second `last`. Raises ValueError if there is a gap that no run
    has."""
    if seconds[-1] - last > LONGEST_GAP:
        for before, after in pairwise((last, *seconds)):
            if after - before > LONGEST_GAP:
                raise ValueError(f"second {after} follows second {before}")


def _kinds(column: Any) -> tuple[type, ...]:
    """What its values may be."""
    match column.type:
        case JSON():
            return (list,) if column.name in _LISTS else (dict,)
        case Boolean():
            return (bool,)
        case Double():
            return (float, int)
        case Integer():
            return (int,)
        case LargeBinary():
            return (bytes,)
    return (str,)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

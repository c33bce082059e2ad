"""CSV whose texts no spreadsheet takes for formulas: names and messages come from targets and from users' code."""

from __future__ import annotations

import csv
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FORMULA = frozenset("=+-@\t\r")
"""What a cell begins with that a spreadsheet computes."""


class CsvWriter:
    """As `csv.writer`, but a text that would be a formula gets an apostrophe in front."""

    def __init__(self, stream: IO[str], lineterminator: str = "\r\n") -> None:
        self._writer = csv.writer(stream, lineterminator=lineterminator)

    def writerow(self, columns: Iterable[Any], /) -> None:
        # Most cells are not even looked at by a function.
        self._writer.writerow(
            [_harmless(each) if type(each) is str and each[:1] in _FORMULA else each for each in columns]
        )

    def writecolumns(self, columns: Iterable[Sequence[Any]], /) -> None:
        """Rows whose values come by column. A column has only texts or none, and there is at least one row."""
        safe = (list(map(_harmless, each)) if isinstance(each[0], str) else each for each in columns)
        self._writer.writerows(zip(*safe, strict=True))

    def writerows(self, rows: Iterable[Iterable[Any]], /) -> None:
        for row in rows:
            self.writerow(row)


def _harmless(text: str) -> str:
    return f"'{text}" if text[:1] in _FORMULA and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

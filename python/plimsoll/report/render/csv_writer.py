"""CSV whose texts no spreadsheet takes for formulas, and that steers no terminal which shows the file: names and
messages come from targets and from users' code."""

from __future__ import annotations

import csv
import re
from typing import IO, TYPE_CHECKING, Any

from plimsoll.plain_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORMULA = frozenset("=+-@\t\r\n＝＋－＠")
"""What a cell begins with that a spreadsheet computes; some take the wide forms for the others."""
_LINES = re.compile(r"([\t\n])")
"""What a cell may have of what is not seen."""


class CsvWriter:
    """As `csv.writer`, but a text that would be a formula gets an apostrophe in front, and control characters become
    marks."""

    def __init__(self, stream: IO[str], lineterminator: str = "\r\n") -> None:
        self._writer = csv.writer(stream, lineterminator=lineterminator)

    def writerow(self, columns: Iterable[Any], /) -> None:
        # Most cells are not even looked at by a function.
        self._writer.writerow(
            [
                _harmless(each) if isinstance(each, str) and (each[:1] in _FORMULA or not each.isprintable()) else each
                for each in columns
            ]
        )

    def writerows(self, rows: Iterable[Iterable[Any]], /) -> None:
        for row in rows:
            self.writerow(row)


def _harmless(text: str) -> str:
    marked = text if text.isprintable() else "".join(map(_marked, _LINES.split(text)))
    return f"'{marked}" if text[:1] in _FORMULA and not _is_number(text) else marked


def _marked(part: str) -> str:
    return part if part in "\t\n" else printable(part)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

"""Columns of text that fit the width of a terminal, and what a terminal can show and a file cannot."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.plain_text import printable
from plimsoll.report.text import cells, cut

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

# A title may be broken at a blank and before a slash.
_BREAK = re.compile(r" |(?=/)")


@dataclass(frozen=True, slots=True)
class TextColumn:
    """title: broken over lines when room is short. least: a column with it is cut to no less, the others never.

    drop: where even that is too wide, columns with it are left out, the lowest number first.
    """

    title: str
    right: bool = False
    least: int | None = None
    drop: int | None = None


def render(
    columns: Sequence[TextColumn],
    rows: Sequence[Sequence[str]],
    width: int,
) -> list[str]:
    """A line per title row, a rule, a line per row. Lines are longer than width only when no cut can help."""
    titles = [[column.title] for column in columns]
    gap = 2
    if _width(_widths(titles, rows), gap) > width:
        titles = [_BREAK.split(column.title) for column in columns]
        gap = 1
    widths = _shrunk(columns, _widths(titles, rows), gap, width)
    droppable = [place for place, column in enumerate(columns) if column.drop is not None]
    if _width(widths, gap) > width and droppable:
        dropped = min(droppable, key=lambda place: columns[place].drop or 0)
        left = [place for place in range(len(columns)) if place != dropped]
        return render([columns[place] for place in left], [[row[place] for place in left] for row in rows], width)
    height = max(len(title) for title in titles)
    heads = zip(*([""] * (height - len(title)) + title for title in titles), strict=True)
    rule = "-" * _width(widths, gap)
    lines = [_line(columns, texts, widths, gap) for texts in heads]
    return [*lines, rule, *(_line(columns, texts, widths, gap) for texts in rows)]


def _widths(titles: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(cells(text) for text in (*title, *(row[place] for row in rows))) for place, title in enumerate(titles)]


def _width(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _shrunk(columns: Sequence[TextColumn], widths: Sequence[int], gap: int, width: int) -> list[int]:
    """Takes from the widest columns that may be cut, evenly and from the first one first, until the line fits."""
    shrunk = list(widths)
    over = _width(shrunk, gap) - width
    while over > 0:
        least = {place: each.least for place, each in enumerate(columns) if each.least is not None}
        room = [place for place, each in least.items() if shrunk[place] > each]
        if not room:
            break
        widest = max(shrunk[place] for place in room)
        taken_from = [place for place in room if shrunk[place] == widest]
        below = [shrunk[place] for place in room if shrunk[place] < widest]
        step = min(widest - max([*below, *(least[place] for place in taken_from)]), over // len(taken_from))
        if step == 0:
            step, taken_from = 1, taken_from[:1]
        for place in taken_from:
            shrunk[place] -= step
        over -= step * len(taken_from)
    return shrunk


def _line(
    columns: Sequence[TextColumn],
    texts: Sequence[str],
    widths: Sequence[int],
    gap: int,
) -> str:
    padded = []
    for column, each, width in zip(columns, texts, widths, strict=True):
        text = printable(each)
        shown = cut(text, width) if column.least is not None else text
        blank = " " * (width - cells(shown))
        padded.append(blank + shown if column.right else shown + blank)
    return (" " * gap).join(padded).rstrip()


def shows_ansi(stream: TextIO) -> bool:
    """Whether the stream is a terminal that knows about bold and red."""
    return stream.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


def alarming(text: str) -> str:
    """Bold and red, unless NO_COLOR asks for no colors: bold."""
    return f"\x1b[1m{text}\x1b[0m" if os.environ.get("NO_COLOR") else f"\x1b[1;31m{text}\x1b[0m"


def cautioning(text: str) -> str:
    """Yellow, unless NO_COLOR asks for no colors."""
    return text if os.environ.get("NO_COLOR") else f"\x1b[33m{text}\x1b[0m"


def reassuring(text: str) -> str:
    """Green, unless NO_COLOR asks for no colors."""
    return text if os.environ.get("NO_COLOR") else f"\x1b[32m{text}\x1b[0m"

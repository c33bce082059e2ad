"""Finds the tables in a text: pipe tables with or without their line of dashes, CSV, and columns set apart by blanks.

Nothing is understood here but where a table begins, what its columns are, and which cells belong to one row. Lines that
belong to a table and do not fit it come out as `Misfit`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from labs.published.context import strip_mentions

from plimsoll.importers.cells import TableCell
from plimsoll.importers.columns import LABELS, MappedColumn, column, columns, looks_like_header
from plimsoll.importers.tables import DASHES, LONGEST_HEADER, SUMS, delimited_cells, pipe_cells, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Split = Callable[[str], list[str] | None]
    """A line's cells; None for a line that is no part of the table."""


@dataclass(frozen=True, slots=True)
class Row:
    line: int
    cells: tuple[TableCell, ...]


@dataclass(frozen=True, slots=True)
class Misfit:
    line: int
    text: str
    why: str


@dataclass(slots=True)
class Grid:
    """A table as it stands."""

    line: int
    """Of its header."""
    columns: list[MappedColumn | None]
    titles: list[str]
    lead: str = ""
    """What stands in the header before its first title: some tables tell their level there."""
    doubt: str = ""
    """Why its columns are not certain."""
    rows: list[Row] = field(default_factory=list)
    misfits: list[Misfit] = field(default_factory=list)
    end: int = 0
    """The line of its last row."""


def find_tables(lines: Sequence[str]) -> list[Grid]:
    """In the order of the text. lines: without their ends."""
    grids: list[Grid] = []
    index = 0
    while index < len(lines):
        begun = _begin(lines[index], index + 1)
        index += 1
        if begun is not None:
            split, grid = begun
            index = _fill(grid, lines, index, split)
            grids.append(grid)
    return grids


def _begin(line: str, number: int) -> tuple[Split, Grid] | None:
    """The table that begins with this line, and how its lines are taken apart."""
    if len(line) > LONGEST_HEADER:
        return None
    if "|" in line:
        return _grid(pipe_cells(line) or [], number, pipe_cells)
    for delimiter in (",", ";", "\t"):
        if line.count(delimiter) >= 2:
            return _grid(delimited_cells(line, delimiter) or [], number, partial(delimited_cells, delimiter=delimiter))
    titles = _phrases(line)
    return _grid(titles, number, partial(_blank_cells, width=len(titles))) if len(titles) >= 3 else None


def _grid(titles: list[str], number: int, split: Split) -> tuple[Split, Grid] | None:
    if len(titles) < 2 or not looks_like_header(titles):
        return None
    lead, first = strip_mentions(titles[0])
    titles = [first, *titles[1:]]
    found, doubt = columns(titles)
    return split, Grid(number, found, titles, lead, doubt, end=number)


def _fill(grid: Grid, lines: Sequence[str], index: int, split: Split) -> int:
    """Takes in rows until the table ends; the index of the line behind it."""
    while index < len(lines):
        line = lines[index]
        if not line.strip() or (cells := split(line)) is None:
            break
        if not DASHES.fullmatch(line):
            if looks_like_header(cells):
                break
            _take(grid, cells, index + 1, line)
        grid.end = index + 1
        index += 1
    return index


def _take(grid: Grid, texts: list[str], number: int, line: str) -> None:
    """One line: a row, several rows that were joined, or nothing that fits."""
    width = len(grid.columns)
    if not any(text.strip() for text in texts):
        return
    if len(texts) == width - 1:
        texts = _with_label(grid, texts) or texts
    cells = tuple(map(TableCell.of, texts))
    if len(cells) == width:
        grid.rows.append(Row(number, cells))
        return
    rows = [cells[start : start + width] for start in range(0, len(cells), width)]
    if len(cells) % width == 0 and all(_is_row(grid, row) for row in rows):
        grid.rows += [Row(number, row) for row in rows]
        return
    why = f"{len(cells)} cell{'s' * (len(cells) != 1)} where the table has {width} columns"
    grid.misfits.append(Misfit(number, shorten(line), why))


def _with_label(grid: Grid, texts: list[str]) -> list[str] | None:
    """A row of sums often has no cell for its method: then everything else fits one column further on."""
    kinds = [each.kind if each else None for each in grid.columns]
    if kinds[:2] != ["method", "name"] or texts[0].strip().lower() not in SUMS:
        return None
    shifted = ["", *texts]
    cells = tuple(map(TableCell.of, shifted))
    return shifted if all(cell.kind in ("number", "nothing") for cell in cells[2:]) else None


def _is_row(grid: Grid, cells: tuple[TableCell, ...]) -> bool:
    """Text where the table has labels, no text where it has numbers."""
    if not any(each and each.kind in LABELS for each in grid.columns):
        return False
    return all(
        cell.kind == "text" if each and each.kind in ("method", "name", "variant") else cell.kind != "text"
        for each, cell in zip(grid.columns, cells, strict=True)
    )


def _phrases(line: str) -> list[str]:
    """The titles in a header whose columns only blanks part; none if there is a word that belongs to no title."""
    words = line.split()
    if not 3 <= len(words) <= 60:
        return []
    titles: list[str] = []
    start = 0
    while start < len(words):
        for end in range(min(len(words), start + 5), start, -1):
            if column(" ".join(words[start:end])) is not None:
                titles.append(" ".join(words[start:end]))
                start = end
                break
        else:
            return []
    return titles


def _blank_cells(line: str, width: int) -> list[str] | None:
    """A name at the beginning may hold blanks."""
    words = line.split()
    if len(words) < width:
        return None
    first = len(words) - width + 1
    cells = [" ".join(words[:first]), *words[first:]]
    return cells if any(character.isdigit() for cell in cells[1:] for character in cell) else None

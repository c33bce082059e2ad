"""From a text to its measurements: each table with what the text around it says, its rows as values by endpoint.

What cannot be read with certainty comes out as `Skipped`, with its line and the reason, and is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from labs.published import context
from labs.published.grids import find_tables

from plimsoll.importers.cells import TableCell
from plimsoll.importers.columns import LABELS, Meaning
from plimsoll.importers.measured import RowValues, converted, doubt_of
from plimsoll.importers.tables import SUMS, shorten
from plimsoll.stats.study import Skipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from labs.published.grids import Grid, Row

    from plimsoll.importers.columns import MappedColumn
    from plimsoll.importers.result_file import ResultFile

Key = tuple[str, str]
"""Method and name of an endpoint."""
Measure = tuple[Meaning, float | None]
"""Of a column: its kind and quantile."""

SAME_GRID = 0.9
"""Share of a file's percentiles that must have two significant digits before that is taken for how it rounds."""
LEAST_FOR_GRID = 20
IMPLAUSIBLE = 3
"""Times the largest time of a file that rounds: an off-grid number beyond that is two numbers run together."""

_EXPLAIN = re.compile(
    r".*\(cost=\d|\s*(?:Sort Key|Filter|Index Cond|Hash Cond|Planning Time|Execution Time):|\s*\(\d+ rows?\)\s*$"
)
_CODE = re.compile(r"(?:@|def |async |return |import |from \S+ import |\w+\s*=\s*\w+[.(])")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What holds where a table stands."""

    users: int | None = None
    offered: float | None = None
    spawn_rate: float | None = None
    seconds: float | None = None
    heading: str = ""


@dataclass(slots=True)
class Part:
    """A table, or what several that belong together tell. Without rows: only how many requests per second."""

    line: int
    around: Surroundings
    arms: list[dict[Key, RowValues]]
    names: list[str]
    """Of the arms, as far as the titles tell; "" otherwise."""
    rates: tuple[float, ...] = ()
    """Requests per second that the text gives, one for each arm; or none."""
    total: Key | None = None
    """The key of the row of sums."""
    by_row: bool = False
    """Each row is a run of its own: the key is (variant, users or requests per second)."""
    run: str = ""
    """Which of several that its table tells of, by the columns for variant and users."""
    corrected: bool = False
    notes: list[str] = field(default_factory=list)
    row_notes: dict[Key, list[str]] = field(default_factory=dict)
    changes: str = ""
    """The line of prose above it that says what is new."""
    explain: str = ""
    """Query plans printed above it."""

    @property
    def measures(self) -> set[Measure]:
        return {measure for arm in self.arms for values in arm.values() for measure in values.by_measure}

    @property
    def keys(self) -> frozenset[Key]:
        return frozenset(key for arm in self.arms for key in arm if key != self.total)


@dataclass(slots=True)
class Parts:
    """All of a text."""

    parts: list[Part] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    digits: int | None = None
    """Significant digits that its percentiles have; None: all."""
    decimals: int = 0
    """Most decimals of a time in ms."""


def read_parts(source: ResultFile, lines: Sequence[str], unit: str) -> Parts:
    """unit: of times that have none."""
    grids = find_tables(lines)
    return _Reader(source, lines, unit or "ms", grids).read(grids)


class _Reader:
    def __init__(self, source: ResultFile, lines: Sequence[str], unit: str, grids: Sequence[Grid]) -> None:
        self._source = source
        self._lines = list(lines)
        self._unit = unit
        self._out = Parts()
        times = [cell.value for grid in grids for cell in _quantiles(grid)]
        on_grid = [each for each in times if significant(each) <= 2]
        if len(times) >= LEAST_FOR_GRID and len(on_grid) >= SAME_GRID * len(times):
            self._out.digits = 2
        self._largest = max(on_grid, default=0.0)
        self._around = Surroundings()
        self._stub: tuple[int, tuple[float, ...]] | None = None
        """A level without a table yet: its line, and the rates that were given since."""
        self._unclear: Skipped | None = None
        """A level that was mentioned, and cannot be read."""

    def read(self, grids: Sequence[Grid]) -> Parts:
        start = 0
        for grid in grids:
            self._prose(start, grid.line - 1)
            self._table(grid, self._lines[start : grid.line - 1])
            start = grid.end
        self._prose(start, len(self._lines))
        self._end_of_level()
        return self._out

    def _prose(self, start: int, end: int) -> None:
        for index in range(start, end):
            if head := context.heading(self._lines, index):
                self._around = replace(self._around, heading=head)
            found = context.mentions(self._lines[index])
            if found:
                self._mention(found, index + 1, self._lines[index])

    def _mention(self, found: context.Mentions, line: int, text: str) -> None:
        if found.is_level_line:
            self._end_of_level()
            self._stub = (line, ()) if found.users is not None and not found.spawn_rate else None
            self._unclear = None
        if found.unclear:
            why = f"the level is not certain: {found.unclear}"
            self._unclear = Skipped(self._source.place(line), shorten(text.strip()), why)
            self._around = replace(self._around, users=None, offered=None)
        if found.rates and self._stub is not None:
            self._stub = (self._stub[0], found.rates)
        around = self._around
        if found.users is not None:
            around = replace(around, users=found.users, offered=None)
        if found.offered is not None:
            around = replace(around, offered=found.offered, users=None)
        self._around = replace(
            around, spawn_rate=found.spawn_rate or around.spawn_rate, seconds=found.seconds or around.seconds
        )

    def _end_of_level(self) -> None:
        """A level whose table is missing: its rates are kept."""
        if self._stub is not None and self._stub[1]:
            line, rates = self._stub
            self._out.parts.append(
                Part(
                    line, self._around, [{} for _ in rates], ["" for _ in rates], rates, notes=["no table is under it"]
                )
            )
        self._stub = None

    def _table(self, grid: Grid, above: Sequence[str]) -> None:
        lead = context.mentions(grid.lead)
        if lead:
            self._mention(replace(lead, is_level_line=True), grid.line, grid.lead)
        rates, self._stub = (self._stub[1] if self._stub else ()), None
        if self._unclear is not None:
            self._out.skipped.append(self._unclear)
            self._unclear = None
        why = grid.doubt or _lacks(grid)
        run_together = [cell for row in grid.rows for cell in row.cells if self._is_run_together(cell)]
        if not why and run_together and grid.lead:
            # Where numbers of the rows have run together, those of the header may have, too.
            why = f"numbers have run together in it (as {run_together[0].text!r}), so its level is not certain either"
        if why:
            if grid.lead:
                self._around = replace(self._around, users=None)
            self._skip_table(grid, why)
            return
        for title, each in zip(grid.titles, grid.columns, strict=True):
            if each is None and title:
                self._skip(grid.line, title, "a column that is not known here")
        for misfit in grid.misfits:
            self._skip(misfit.line, misfit.text, misfit.why)
        explain = "\n".join(each for each in above if _EXPLAIN.match(each))
        for variant, users, rows in _runs(grid):
            part = self._part(replace(grid, rows=rows), rates)
            part.changes, part.explain = _changes(above), explain
            part.run = " ".join([variant, "" if users is None else str(users)]).strip()
            if variant:
                part.names = [f"{variant} {name}".strip() for name in part.names]
            if users is not None:
                part.around = replace(part.around, users=users)
            if part.arms[0] or part.rates:
                self._merge(part)

    def _part(self, grid: Grid, rates: tuple[float, ...]) -> Part:
        width = 1 + max((each.place for each in grid.columns if each), default=0)
        names = [
            next((each.arm for each in grid.columns if each and each.arm and each.place == arm), "")
            for arm in range(width)
        ]
        part = Part(grid.line, self._around, [{} for _ in range(width)], names)
        part.corrected = any(each and each.corrected for each in grid.columns)
        if rates and len(rates) != width:
            many = f"{len(rates)} rate{'s' * (len(rates) != 1)} for {width} column{'s' * (width != 1)}"
            shown = ", ".join(f"{rate:g}" for rate in rates)
            self._skip(grid.line, shown, f"{many}: which belongs to which is not certain")
        else:
            part.rates = rates
        kinds = {each.kind for each in grid.columns if each}
        part.by_row = "name" not in kinds and bool(kinds & {"variant", "users"})
        for row in grid.rows:
            self._row(grid, row, part)
        return part

    def _row(self, grid: Grid, row: Row, part: Part) -> None:
        key = _key(grid, row, part.by_row)
        line = self._lines[row.line - 1]
        if not key[1] and not key[0]:
            self._skip(row.line, shorten(line), "no name says what was measured")
            return
        if key in part.arms[0]:
            self._skip(row.line, shorten(line), f"{' '.join(key).strip()!r} is there a second time")
            return
        if key[1].lower() in SUMS and not part.by_row:
            part.total = key
        arms = [RowValues() for _ in part.arms]
        for index, (each, cell) in enumerate(zip(grid.columns, row.cells, strict=True)):
            if each is None or each.kind == "other":
                continue
            if each.kind in LABELS and not (part.by_row and each.kind == "users"):
                continue
            why = self._doubt(each, cell)
            if why:
                self._skip(row.line, f"{' '.join(key).strip()}: {cell.text}", why)
            elif cell.kind == "number":
                value, decimals, note = self._value(grid, index, each, row)
                if note:
                    part.row_notes.setdefault(key, []).append(note)
                arms[each.place].by_measure[each.measure] = value
                arms[each.place].decimals[each.measure] = decimals
        for arm, values in zip(part.arms, arms, strict=True):
            if values.by_measure:
                arm[key] = values

    def _doubt(self, each: MappedColumn, cell: TableCell) -> str:
        """Why a cell's value is not certain."""
        if cell.kind == "number" and self._is_run_together(cell) and each.kind == "quantile":
            return (
                f"has {significant(cell.value)} digits where the times of this file have 2, and is more than "
                f"{IMPLAUSIBLE} times as long as the longest of them: two numbers may have run together"
            )
        return doubt_of(each, cell)

    def _is_run_together(self, cell: TableCell) -> bool:
        if cell.kind == "garbled":
            return bool(re.fullmatch(r"\d+(?: \d+)+", cell.text.strip()))
        rounds = self._out.digits is not None and cell.kind == "number" and not cell.decimals and not cell.unit
        return rounds and significant(cell.value) > 2 and cell.value > IMPLAUSIBLE * self._largest > 0

    def _value(self, grid: Grid, index: int, each: MappedColumn, row: Row) -> tuple[float, int, str]:
        """(in our units, its decimals there, a note)."""
        cell = row.cells[index]
        value, decimals, assumed = converted(each, cell, [other.cells[index] for other in grid.rows], self._unit)
        if each.is_time:
            self._out.decimals = max(self._out.decimals, decimals)
        note = f"line {row.line}: {cell.text!r} has no unit, and is taken as {assumed}, as its column"
        return value, decimals, note if assumed else ""

    def _merge(self, part: Part) -> None:
        """Two tables one after the other with the same rows and different columns are one."""
        last = self._out.parts[-1] if self._out.parts else None
        if (
            last is not None
            and last.keys == part.keys
            and last.keys
            and not last.measures & part.measures
            and last.around == part.around
            and len(last.arms) == len(part.arms)
        ):
            for into, arm in zip(last.arms, part.arms, strict=True):
                for key, values in arm.items():
                    kept = into.setdefault(key, RowValues())
                    kept.by_measure |= values.by_measure
                    kept.decimals |= values.decimals
            last.total = last.total or part.total
            last.notes += part.notes
            last.row_notes |= part.row_notes
            last.corrected |= part.corrected
            return
        self._out.parts.append(part)

    def _skip_table(self, grid: Grid, why: str) -> None:
        self._skip(grid.line, shorten(self._lines[grid.line - 1]), f"the whole table is left out: {why}")
        for number in range(grid.line + 1, grid.end + 1):
            text = self._lines[number - 1]
            if any(character.isalnum() for character in text):
                self._skip(number, shorten(text), f"in the table of line {grid.line}, which is left out")

    def _skip(self, line: int, text: str, why: str) -> None:
        self._out.skipped.append(Skipped(self._source.place(line), text.strip(), why))


def _quantiles(grid: Grid) -> Iterator[TableCell]:
    for row in grid.rows:
        for each, cell in zip(grid.columns, row.cells, strict=True):
            if each and each.kind == "quantile" and cell.kind == "number":
                yield cell


def _runs(grid: Grid) -> list[tuple[str, int | None, list[Row]]]:
    """(variant, users, rows) of the runs that a table of endpoints holds, by its columns for these."""
    places = {each.kind: index for index, each in enumerate(grid.columns) if each and each.kind in ("variant", "users")}
    if not places or not any(each and each.kind == "name" for each in grid.columns):
        return [("", None, grid.rows)]
    runs: dict[tuple[str, int | None], list[Row]] = {}
    for row in grid.rows:
        users = row.cells[places["users"]] if "users" in places else None
        variant = row.cells[places["variant"]].name if "variant" in places else ""
        runs.setdefault((variant, int(users.value) if users and users.kind == "number" else None), []).append(row)
    return [(*run, rows) for run, rows in runs.items()]


def _lacks(grid: Grid) -> str:
    if not any(each and each.kind in ("name", "variant", "users") for each in grid.columns):
        return "no column says what was measured"
    return ""


def _key(grid: Grid, row: Row, by_row: bool) -> Key:
    """(method, name), or in a table of runs (variant, its level as it stands)."""
    named = {each.kind: cell for each, cell in zip(grid.columns, row.cells, strict=True) if each and not each.place}
    first, second = ("variant", "users" if "users" in named else "rate") if by_row else ("method", "name")
    method = named[first].name if first in named else ""
    name = named[second].name if second in named else ""
    if name.lower() in SUMS and not by_row:
        return "", "Aggregated"
    return method, name


def _changes(above: Iterable[str]) -> str:
    prose = [
        line.strip()
        for line in above
        if len(line.split()) >= 3 and not _EXPLAIN.match(line) and not _CODE.match(line) and not context.mentions(line)
    ]
    return shorten(prose[-1]) if prose else ""


def significant(value: float) -> int:
    """How many decimal digits it takes to write a number, without zeros at its ends."""
    digits = f"{abs(value):.12g}".split("e")[0].replace(".", "").strip("0")
    return max(1, len(digits))

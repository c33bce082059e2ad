"""Tables in Markdown, CSV, TSV or aligned text. A column's meaning comes from its title or `--column TITLE=MEANING`.

Rows are endpoints; without a column of names they are whole runs. Columns for the variant and the load split a table
into runs, and several tables in one file are variants. Uncertain values become `Skipped`. The rest is kept.
"""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.importers.cells import COUNTS, TableCell
from plimsoll.importers.options import renamed
from plimsoll.importers.single import level_of
from plimsoll.importers.tables.columns import (
    LABELS,
    MEANINGS,
    MappedColumn,
    column,
    columns,
    looks_like_header,
    spaced_titles,
)
from plimsoll.importers.tables.measured import (
    RowValues,
    converted,
    doubt_of,
    measured_of,
    precision_of,
    rounding_of,
    seconds_of,
    shared,
)  # fmt: skip
from plimsoll.importers.tables.text_table import (
    SHOWN,
    SUMS,
    StatedLoad,
    TextTable,
    joined,
    names_of,
    operations_of,
    shorten,
)
from plimsoll.importers.unknown import binary, described
from plimsoll.say.names import listed
from plimsoll.stats.study import Level, Measured, Skipped, Study, Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from plimsoll.importers.options import ImportOptions
    from plimsoll.importers.result_file import ResultFile
    from plimsoll.importers.tables.columns import Meaning

    Split = Callable[[str], list[str] | None]
    """A line's cells; None for a line outside of the table."""
    Run = tuple[str, Level | None]
    """Variant and level."""

DASHES = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?")
LOCUST_TITLES = (
    frozenset({"Average Content Size", "Median Response Time"}),
    frozenset({"# Requests", "# Fails", "Average size (bytes)"}),
)
"""Titles that identify Locust's tables: of its files, and of its page."""
LONGEST_HEADER = 10_000
"""Characters."""
_HEADING = re.compile(r"#{1,6}\s+(?P<text>.+?)\s*#*")


def read_tables(source: ResultFile, options: ImportOptions) -> Study:
    """Raises UsageError if no table in it can be read, or an option does not match."""
    if what := binary(source):
        raise source.error(None, what)
    reader = TableReader(source, options)
    tables = reader.tables(source.text().splitlines())
    operations = operations_of(tables)
    names = ["" for _ in tables] if any(operations) else names_of(tables)
    trials = [
        trial
        for table, name, operation in zip(tables, names, operations, strict=True)
        for trial in reader.trials(table, name, operation)
    ]
    if not trials:
        raise reader.nothing()
    levels = {trial.level for trial in trials}
    if levels != {level_of(options)} and (options.users or options.rate):
        several = ", ".join(str(each) for each in sorted(each for each in levels if each))
        raise UsageError(f"{source.path}: the table gives the levels ({several}); leave out --users and --rate")
    variants = renamed(tuple(dict.fromkeys(trial.variant for trial in trials)), options.variant, "variant")
    called = renamed(tuple(dict.fromkeys(trial.operation for trial in trials)), options.operation, "operation")
    decimals, corrected = reader.decimals, any(each and each.corrected for table in tables for each in table.columns)
    is_locust = any(set(table.titles) >= titles for table in tables for titles in LOCUST_TITLES)
    tool = options.tool or ("locust" if is_locust else "")
    precision = precision_of(tool, None, decimals, corrected=corrected)
    return Study(
        name=options.name or source.path.name.partition(".")[0],
        trials=tuple(
            replace(trial, variant=variants[trial.variant], operation=called[trial.operation], precision=precision)
            for trial in trials
        ),
        variants=tuple(variants.values()),
        skipped=tuple(sorted(reader.skipped, key=lambda each: int(each.place.rpartition(":")[2]))),
        source=str(source.path),
    )


def pipe_cells(line: str) -> list[str] | None:
    if "|" not in line:
        return None
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
    if len(cells) > 1 and not cells[-1]:
        cells.pop()
    if len(cells) > 1 and not cells[0] and line.lstrip().startswith("|"):
        cells.pop(0)
    return cells


def delimited_cells(line: str, delimiter: str) -> list[str] | None:
    if delimiter not in line:
        return None
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:  # a cell of more than 128 KiB
        return None


def aligned_cells(line: str) -> list[str] | None:
    """Columns are separated by at least two blanks."""
    cells = re.split(r"\s{2,}", line.strip())
    return cells if len(cells) > 1 else None


def column_map(texts: Sequence[str]) -> dict[str, MappedColumn]:
    """Meanings of columns by their titles, from "TITLE=MEANING". Raises UsageError."""
    known: dict[str, MappedColumn] = {}
    for text in texts:
        title, equals, meaning = (part.strip() for part in text.rpartition("="))
        found = MappedColumn("other") if meaning == "-" else column(meaning)
        if not equals or not title or found is None:
            raise UsageError(
                f"column: {text!r} is not TITLE=MEANING; a meaning is {listed(MEANINGS, 'or')}, or - for a column that "
                'is left out; times may have a unit, as in "average (s)"'
            )
        known[title] = found
    return known


def _splits(line: str) -> Iterator[Split]:
    if len(line) > LONGEST_HEADER:
        return
    if "|" in line:
        yield pipe_cells
        return
    for delimiter in ("\t", ",", ";"):
        if delimiter in line:
            yield partial(delimited_cells, delimiter=delimiter)
    yield aligned_cells


def _is_sum_without_method(table: TextTable, texts: Sequence[str]) -> bool:
    """Whether it is Locust's row of sums, which has no cell for the method."""
    first = column(table.titles[0])
    return first is not None and first.kind == "method" and TableCell.of(texts[0]).name.lower() in SUMS


class TableReader:
    """Finds the tables of a file, and makes runs of their rows."""

    def __init__(self, source: ResultFile, options: ImportOptions) -> None:
        self.skipped: list[Skipped] = []
        self.decimals = 0
        """Most decimals of a time in ms."""
        self._source = source
        self._options = options
        self._known = column_map(options.column)

    def tables(self, lines: Sequence[str]) -> list[TextTable]:
        found: list[TextTable] = []
        table: TextTable | None = None
        split: Split = pipe_cells
        heading, stated = "", StatedLoad()
        for number, line in enumerate(lines, 1):
            if load := StatedLoad.of(line):
                stated = stated.then(load)
            if marked := _HEADING.fullmatch(line[:SHOWN].strip()):
                heading = marked["text"]
            if begun := self._header(line, number, heading):
                split, table = begun
                table.stated, stated = stated, replace(stated, rate=None)
                found.append(table)
            elif table is not None and not DASHES.fullmatch(line.strip()):
                cells = split(line) if line.strip() else None
                table = self._row(table, cells, number, line) if cells is not None else None
        titles = {title for each in found for title in each.titles}
        if found and (unknown := [title for title in self._known if title not in titles]):
            raise UsageError(f"{self._source.path}: no table has a column {unknown[0]!r}; there are {_quoted(titles)}")
        return joined(filter(self.is_certain, found))

    def _header(self, line: str, number: int, heading: str) -> tuple[Split, TextTable] | None:
        for split in _splits(line):
            titles = split(line) or []
            if len(titles) > 1 and looks_like_header(titles, self._known):
                return split, TextTable(number, heading, titles, [])
        titles = spaced_titles(line, self._known) or []
        return (str.split, TextTable(number, heading, titles, [])) if looks_like_header(titles, self._known) else None

    def _row(self, table: TextTable, texts: list[str], number: int, line: str) -> TextTable:
        if len(texts) == len(table.titles) - 1 and _is_sum_without_method(table, texts):
            texts = ["", *texts]
        if len(texts) == len(table.titles):
            table.rows.append((number, [TableCell.of(text) for text in texts]))
        elif any(text.strip() for text in texts):
            cells = f"{len(texts)} cell{'s' * (len(texts) != 1)}"
            self._skip(number, shorten(line), f"{cells} where the table has {len(table.titles)} columns")
        return table

    def is_certain(self, table: TextTable) -> bool:
        """Determines the columns; if they are uncertain, the table is skipped."""
        table.columns, why = columns(table.titles, self._known)
        if not why and not table.kinds & {"name", "variant", "users", "offered"}:
            why = "no column says what was measured; name one with --column TITLE=name"
        if why:
            self._skip(table.line, shorten(" | ".join(table.titles)), f"the whole table is left out: {why}")
            return False
        for title, each in zip(table.titles, table.columns, strict=True):
            if each is None and title:
                self._skip(table.line, title, "a column that is not known here; --column TITLE=MEANING names it")
        return True

    def trials(self, table: TextTable, name: str, operation: str = "") -> Iterator[Trial]:
        """The runs of a table. name: of the table; "" for the only one."""
        runs: dict[Run, dict[tuple[str, str], RowValues]] = {}
        for row in table.rows:
            self._values(table, name, row, runs)
        for (variant, level), rows in runs.items():
            if rows:
                yield replace(self._trial(table, variant, level, rows), operation=operation)

    def _values(
        self,
        table: TextTable,
        name: str,
        row: tuple[int, list[TableCell]],
        runs: dict[Run, dict[tuple[str, str], RowValues]],
    ) -> None:
        """Adds a row to its run; to several runs if its measures occur once per arm."""
        line, cells = row
        labels = {
            each.kind: cell for each, cell in zip(table.columns, cells, strict=True) if each and each.kind in LABELS
        }
        key = (labels["method"].name if "method" in labels else "", labels["name"].name) if "name" in labels else None
        if key is not None and not any(key):
            self._skip(line, shorten(" | ".join(cell.text for cell in cells)), "no name says what was measured")
            return
        if key is None or key[1].lower() in SUMS:
            key = ("", "Aggregated")
        variant = labels["variant"].name if "variant" in labels else ""
        level = self._level(labels) or table.stated.level
        arms: dict[str, RowValues] = {}
        for index, (each, cell) in enumerate(zip(table.columns, cells, strict=True)):
            if each is None or each.kind in LABELS or each.kind == "other":
                continue
            arm = arms.setdefault(each.arm or (f"arm {each.place + 1}" if table.has_arms else ""), RowValues())
            if why := doubt_of(each, cell):
                self._skip(line, f"{' '.join(key).strip()}: {cell.text}", why)
            elif cell.kind == "number":
                value, decimals, assumed = converted(each, cell, table.cells(index), self._options.unit or "ms")
                if assumed:
                    arm.notes.append(f"line {line}: {cell.text!r} has no unit, and is taken as {assumed}")
                arm.by_measure[each.measure], arm.decimals[each.measure] = value, decimals
                arm.rounding[each.measure] = rounding_of(each, cell)
                self.decimals = max(self.decimals, decimals if each.is_time else 0)
        for arm_name, values in arms.items():
            full = " ".join(part for part in (name, variant, arm_name) if part)
            rows = runs.setdefault((full or self._source.path.name.partition(".")[0], level), {})
            if key in rows:
                why = "is there a second time"
                if level is None:
                    why += "; --column TITLE=users or TITLE=offered says which column is the load, if there is one"
                self._skip(line, shorten(" | ".join(cell.text for cell in cells)), why)
            elif values.by_measure:
                rows[key] = values

    def _level(self, labels: Mapping[Meaning, TableCell]) -> Level | None:
        users, offered = labels.get("users"), labels.get("offered")
        if users is not None and users.kind == "number" and users.value > 0:
            return Level("users", users.value * COUNTS.get(users.unit, 1))
        if offered is not None and offered.kind == "number" and offered.value > 0:
            return Level("/s", offered.value * COUNTS.get(offered.unit, 1))
        return level_of(self._options)

    def _trial(
        self, table: TextTable, variant: str, level: Level | None, rows: Mapping[tuple[str, str], RowValues]
    ) -> Trial:
        seconds = self._options.duration or table.stated.seconds or seconds_of(list(rows.values()))
        notes = [f"read from {self._source.place(table.line)}"]
        facts: dict[str, str | float] = {}
        measured = {}
        for key, values in rows.items():
            measured[key], note = measured_of(key, values, seconds)
            notes += [*values.notes, *([note] if note else [])]
        total = measured.pop(("", "Aggregated"), None)
        if table.stated.rate is not None and not table.has_arms and (total is None or total.rate is None):
            total = replace(total or Measured("", "Aggregated"), rate=table.stated.rate)
        if total is not None and "name" not in table.kinds:
            total, note = shared(total, rows["", "Aggregated"], level.rate if level else None, seconds, facts)
            notes += [note] if note else []
        return Trial(
            id=f"{self._source.place(table.line)} {variant} {level or ''}".rstrip(),
            variant=variant,
            level=level,
            users=level.users if level else None,
            offered=level.rate if level else None,
            think=self._options.think,
            duration=seconds,
            ramp=self._options.ramp or 0.0,
            endpoints=tuple(measured.values()),
            total=total,
            notes=tuple(dict.fromkeys(notes)),
            facts=facts,
        )

    def _skip(self, line: int, text: str, why: str) -> None:
        self.skipped.append(Skipped(self._source.place(line), text.strip(), why))

    def nothing(self) -> UsageError:
        if self.skipped:
            first = self.skipped[0]
            return UsageError(f"{first.place}: {first.text!r}: {first.why}; nothing else in the file could be read")
        if what := described(self._source):
            return self._source.error(None, what)
        return self._source.error(
            None,
            "no table with results was found; a table has a header that names an endpoint (Name, Method, Endpoint) and "
            "what was measured (# requests, average, 95%, p99, RPS); --column TITLE=MEANING explains other titles",
        )


def _quoted(titles: set[str]) -> str:
    return listed([repr(title) for title in sorted(titles)])

"""Feeders: rows of values for the users, from a file or from the plan itself."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import PrivateAttr, model_validator

from plimsoll.load.file_access import lines_of, read_text
from plimsoll.load.mistakes import BadValueError, at, shown
from plimsoll.load.table import ExistingFile, TomlTable

_COLUMN = re.compile(r"[A-Za-z_][\w-]*")


class Rows(NamedTuple):
    columns: list[str]
    """Different from each other, at least one."""
    rows: list[list[str]]
    """At least one, each as long as `columns`."""


class FeederTable(TomlTable):
    """[feeder.NAME]"""

    file: ExistingFile | None = None
    """CSV whose first line names the columns (`.tsv`: with tabs), `.json` (a list of objects) or `.jsonl` (an object
    per line)."""
    rows: list[Any] | None = None
    """Instead of a file: a list of tables, or of lists if there are `columns`."""
    columns: list[str] | None = None
    """Names of the values of `rows` that are lists."""
    delimiter: str | None = None
    """Of a CSV file; by default `","`."""
    order: Literal["sequential", "random"] = "sequential"
    """Of the rows."""
    share: Literal["split", "all"] = "split"
    """`"split"`: each row goes to one worker process; `"all"`: every worker has all rows."""
    at_end: Literal["recycle", "stop", "fail"] = "recycle"
    """`"recycle"`: begin again; `"stop"`: end the run; `"fail"`: end it as failed."""

    _rows: Rows = PrivateAttr()
    _places: list[str] = PrivateAttr(default_factory=list)

    @model_validator(mode="after")
    def _read(self) -> FeederTable:
        if (self.file is None) == (self.rows is None):
            raise BadValueError("needs either a file or rows", "" if self.file is None else "rows")
        if self.delimiter is not None and (self.file is None or len(self.delimiter) != 1):
            raise BadValueError("is for CSV files, and one character", "delimiter")
        if self.columns is not None and self.file is not None:
            raise BadValueError("is for rows in the plan; a file names its columns itself", "columns")
        if self.file is None:
            self._rows = self._from_plan(self.rows or [])
        else:
            self._rows, self._places = at("file", lambda file: placed_rows(file, self.delimiter), self.file)
        return self

    @property
    def read(self) -> Rows:
        """Its rows."""
        return self._rows

    def place(self, row: int) -> str:
        """Where a row is, for messages: file and line. row: from 0."""
        return self._places[row] if self._places else f"row {row + 1}"

    def definition(self, name: str) -> dict[str, Any]:
        """In the format for native users."""
        return {
            "name": name, "columns": self._rows.columns, "rows": self._rows.rows,
            "order": self.order, "share": self.share, "at_end": self.at_end,
        }  # fmt: skip

    def _from_plan(self, rows: list[Any]) -> Rows:
        try:
            return _checked(_named(rows) if self.columns is None else _listed(self.columns, rows))
        except _RowError as error:
            heading = error.index == 0 and self.columns is not None
            field = "columns" if heading else f"rows[{max(0, error.index - 1)}]" if rows else "rows"
            raise BadValueError(str(error), field) from error


class _RowError(Exception):
    """index: of the faulty row, counted from 1; 0 is the row with the column names."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(message)
        self.index = index


def read_rows(path: Path, delimiter: str | None = None) -> Rows:
    """From CSV with a header line, from JSON (a list of objects) or from JSON lines, by the file's suffix.

    delimiter: of CSV; "," unless it is a .tsv. Raises UsageError with the line.
    """
    return placed_rows(path, delimiter)[0]


def placed_rows(path: Path, delimiter: str | None = None) -> tuple[Rows, list[str]]:
    """The same with the place of each row: file and line. Raises UsageError."""
    text = read_text(path)
    suffix = path.suffix.lower()
    named = suffix in (".json", ".jsonl", ".ndjson")
    if named:
        places, rows = _json_rows(text, path) if suffix == ".json" else _json_lines(text, path)
        places = places[:1] + places
    else:
        places, rows = _csv_rows(text, path, delimiter or ("\t" if suffix == ".tsv" else ","))
    try:
        return _checked(_named(rows) if named else rows), places[1:]
    except _RowError as error:
        raise BadValueError(f"{places[error.index] if places else path}: {error}") from error


_Placed = tuple[list[str], list[Any]]
"""Rows, and the place of each."""


def _csv_rows(text: str, path: Path, delimiter: str) -> _Placed:
    # newline="" as required by csv: line ends inside quotes are values.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    places: list[str] = []
    rows: list[Any] = []
    line = 1
    try:
        for row in reader:
            if row:
                places.append(f"{path}:{line}")
                rows.append(row)
            line = reader.line_num + 1
    except csv.Error as error:
        raise BadValueError(f"{path}:{reader.line_num}: {error}") from error
    return places, rows


def _json_rows(text: str, path: Path) -> _Placed:
    rows = _json(text, path, 1)
    if not isinstance(rows, list):
        raise BadValueError(f"{path}: a list of objects is expected: [{{…}}, …]")
    return [f"{path}: element {index}" for index in range(len(rows))], rows


def _json_lines(text: str, path: Path) -> _Placed:
    lines = [(number, line) for number, line in enumerate(lines_of(text), 1) if line.strip()]
    return [f"{path}:{number}" for number, _ in lines], [_json(line, path, number) for number, line in lines]


def _json(text: str, path: Path, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadValueError(f"{path}:{line + error.lineno - 1}: not JSON: {error.msg}") from error


def _named(rows: list[Any]) -> list[list[str]]:
    """For rows that are objects with the same names: the names, and the values of each."""
    table: list[list[str]] = []
    for index, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise _RowError(index, f"{shown(row)} does not name its values; {{name: value, …}} is expected")
        columns = table[0] if table else list(row)
        if set(row) != set(columns):
            raise _RowError(index, f"has {', '.join(row) or 'nothing'}, but the first row {', '.join(columns)}")
        table += [columns] if not table else []
        table.append([_text(row[name]) for name in columns])
    return table


def _listed(columns: list[str], rows: list[Any]) -> list[list[str]]:
    """For rows that are lists of values in column order."""
    for index, row in enumerate(rows, 1):
        if not isinstance(row, list):
            raise _RowError(index, "names its values, but there are columns, too; leave columns out")
    return [columns, *([_text(value) for value in row] for row in rows)]


def _checked(table: list[list[str]]) -> Rows:
    """The first row has the column names."""
    columns, *rows = table or [[]]
    for name in columns:
        if not _COLUMN.fullmatch(name):
            hint = "the first line must name the columns" if name.strip() else "each column needs one"
            raise _RowError(0, f"{shown(name)} is no name of a column; {hint}")
        if columns.count(name) > 1:
            raise _RowError(0, f"two columns are called {name}")
    if not columns or not rows:
        raise _RowError(0, "there are no columns" if rows else "there are no rows")
    for index, row in enumerate(rows, 1):
        if len(row) != len(columns):
            raise _RowError(index, f"{len(row)} values, but {len(columns)} columns")
    return Rows(columns, rows)


def _text(value: Any) -> str:
    """The text for a template: text unchanged, null empty, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

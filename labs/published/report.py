"""Reads a published report with a map: the positions of its tables, and what its text states about the load.

The numbers come from the report. The map (`maps/NAME.toml`) has facts from the text, and the lines that are ambiguous.
For a file with tables, `plimsoll import` has options for the same.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationError

from plimsoll.errors import UsageError
from plimsoll.importers.cells import TableCell
from plimsoll.importers.options import ImportOptions, renamed
from plimsoll.importers.result_file import ResultFile
from plimsoll.importers.studies import declared
from plimsoll.importers.tables.columns import looks_like_header
from plimsoll.importers.tables.measured import precision_of
from plimsoll.importers.tables.reader import DASHES, TableReader, pipe_cells
from plimsoll.importers.tables.text_table import TextTable, shorten
from plimsoll.load.complaints import complain, complaints
from plimsoll.load.table import SeveralTexts, TomlTable, one_or_more
from plimsoll.load.toml_file import read_toml
from plimsoll.stats.study import Against, Claim, FailureKind, GeneratorHealth, Level, Measured, Skipped, Study, Trial

if TYPE_CHECKING:
    from collections.abc import Iterator

MAPS = Path(__file__).parent / "maps"
MOST_PROSE = 20_000
"""Maximum characters of a report's text to store with the study."""
LABELS = 2
"""Columns for method and name: a second table of the same rows repeats them."""


class MappedTable(TomlTable):
    """A table of the report."""

    lines: Annotated[list[int], BeforeValidator(one_or_more), Field(min_length=1)]
    """The line of its header, and of further headers for tables with more columns of the same rows."""
    has_rows: bool = True
    """False: only the rates exist, or are certain."""
    titles: SeveralTexts | None = None
    """Replaces a header whose cells are separated by single blanks only."""
    variants: SeveralTexts = Field(default_factory=list)
    """The variants from left to right, if no column names them."""
    rates: dict[str, float] = Field(default_factory=dict)
    """Requests per second by variant, from the line above the table."""
    users: float | None = None
    seconds: float | None = None
    operation: str = ""
    """If empty, the endpoints name it, for a report that compares operations."""
    changes: int | None = None
    """The line that describes the change of this step."""
    explain: tuple[int, int] | None = Field(default=None, strict=False)
    """First and last line of the query plan above it."""
    notes: SeveralTexts = Field(default_factory=list)


class MappedClaim(TomlTable):
    """A sentence about the share of failed requests."""

    line: int
    relation: Literal[">", "<"]
    errors: float


class UnreadableLines(TomlTable):
    """Lines of the tables to leave out."""

    lines: tuple[int, int] = Field(strict=False)
    why: str


class ReportMap(TomlTable):
    """Facts about a report besides its numbers."""

    tool: str = ""
    digits: int | None = None
    """Significant digits of its times; None: all."""
    corrected: bool = False
    """Its times were corrected afterwards."""
    status: int | None = None
    """The HTTP status of its failures."""
    open_files: int | None = None
    """Maximum number of open connections of the generator."""
    variant: str = ""
    """For all runs, if the report compares no variants."""
    seconds: float | None = None
    """For runs whose table has none."""
    ramp: float = 0.0
    """Seconds in which the users were started."""
    shape: Literal["ladder", "operations", "chain", "rates"]
    against: list[Against] = Field(default_factory=lambda: ["baseline"])
    notes: SeveralTexts = Field(default_factory=list)
    """Of all runs."""
    table: list[MappedTable]
    claim: list[MappedClaim] = Field(default_factory=list)
    unreadable: list[UnreadableLines] = Field(default_factory=list)


def read(path: str | Path, **given: object) -> Study:
    """Reads the study of a report with a map. given: fields of `ImportOptions`. Raises UsageError."""
    source = ResultFile(Path(path))
    return _Report(source, _map_of(source.path), ImportOptions.of(**given)).study()


def _map_of(report: Path) -> ReportMap:
    file = MAPS / f"{report.stem}.toml"
    if not file.is_file():
        known = ", ".join(sorted(each.stem for each in MAPS.glob("*.toml")))
        raise UsageError(f"{report}: there is no map of this report; there are maps of {known}")
    data, places = read_toml(file)
    try:
        return ReportMap.model_validate(data)
    except ValidationError as error:
        raise complain(str(file), complaints(error, ReportMap), places) from error


class _Report:
    def __init__(self, source: ResultFile, known: ReportMap, options: ImportOptions) -> None:
        self._source = source
        self._map = known
        self._options = options
        self._lines = source.text().splitlines()
        self._skipped: list[Skipped] = []
        self._decimals = 0
        """Maximum decimals of a time in ms."""

    def study(self) -> Study:
        runs = [(table, trial) for table in self._map.table for trial in self._trials(table)]
        names = renamed(tuple(dict.fromkeys(trial.variant for _, trial in runs)), self._options.variant, "variant")
        tool = self._options.tool or self._map.tool
        precision = precision_of(tool, self._map.digits, self._decimals, corrected=self._map.corrected)
        changed = [(names[trial.variant], table.changes) for table, trial in runs if table.changes is not None]
        study = Study(
            name=self._options.name or self._source.path.stem,
            trials=tuple(replace(each, variant=names[each.variant], precision=precision) for _, each in runs),
            variants=tuple(names.values()),
            changes={variant: shorten(self._line(line)) for variant, line in changed},
            against=tuple(self._map.against),
            skipped=(*self._skipped, *self._unreadable()),
            claims=tuple(
                Claim(self._source.place(each.line), self._line(each.line), "errors", each.relation, each.errors)
                for each in self._map.claim
            ),
            source=str(self._source.path),
            about={"text": _prose(self._lines)},
            shape=self._map.shape,
        )
        return declared(study, self._options)

    def _trials(self, table: MappedTable) -> Iterator[Trial]:
        trials = self._read(table) if table.has_rows else [self._bare(table, name) for name in table.rates]
        names = table.variants or list(table.rates) or [self._map.variant or trial.variant for trial in trials]
        for trial, name in zip(trials, names, strict=True):
            total = Measured("", "Aggregated", rate=table.rates[name]) if name in table.rates else trial.total
            first, last = table.explain or (1, 0)
            operation = " + ".join(each.label for each in trial.endpoints) if self._map.shape == "operations" else ""
            files = self._map.open_files
            yield replace(
                trial,
                id=f"{self._source.place(table.lines[0])} {trial.level or ''} {name}",
                variant=name,
                operation=trial.operation or operation,
                endpoints=tuple(self._with_status(each) for each in trial.endpoints),
                total=self._with_status(total) if total else None,
                notes=(*trial.notes, *self._map.notes, *table.notes),
                collected={"explain": "\n".join(self._lines[first - 1 : last])} if table.explain else {},
                generator=GeneratorHealth(open_files=files) if files else None,
            )

    def _read(self, table: MappedTable) -> list[Trial]:
        options = replace(
            self._options, users=table.users, duration=table.seconds or self._map.seconds, ramp=self._map.ramp,
            operation=(), variant=(),
        )  # fmt: skip
        reader = TableReader(self._source, options)
        text = self._text_table(table)
        found = list(reader.trials(text, "", table.operation)) if reader.is_certain(text) else []
        self._skipped += reader.skipped
        self._decimals = max(self._decimals, reader.decimals)
        return found

    def _bare(self, table: MappedTable, variant: str) -> Trial:
        """A run with a known rate and nothing else."""
        level = Level("users", table.users) if table.users else None
        notes = (f"read from {self._source.place(table.lines[0])}",)
        return Trial(id="", variant=variant, level=level, users=table.users, notes=notes)

    def _text_table(self, table: MappedTable) -> TextTable:
        titles, rows = self._cells(table.lines[0], table.titles)
        for line in table.lines[1:]:
            more_titles, more = self._cells(line, None)
            titles += more_titles[LABELS:]
            rows = [(number, cells + added[LABELS:]) for (number, cells), (_, added) in zip(rows, more, strict=True)]
        typed = [(number, list(map(TableCell.of, cells))) for number, cells in rows]
        return TextTable(table.lines[0], "", titles, [], typed)

    def _cells(self, line: int, titles: list[str] | None) -> tuple[list[str], list[tuple[int, list[str]]]]:
        """(titles, cells by line) of the table with its header in this line. Raises UsageError."""
        split = str.split if titles else pipe_cells
        titles = titles or pipe_cells(self._line(line)) or []
        rows = []
        for number, text in enumerate(self._lines[line:], line + 1):
            cells = split(text)
            if DASHES.fullmatch(text):
                continue
            if not cells or len(cells) < len(titles) - 1 or looks_like_header(cells):
                break
            # A row of sums often has no cell for the method.
            cells = ["", *cells] if len(cells) == len(titles) - 1 else cells
            if len(cells) != len(titles):
                raise self._source.error(number, f"{len(cells)} cells where the map says {len(titles)} columns")
            rows.append((number, cells))
        if not rows:
            raise self._source.error(line, "the map says that a table begins here, and there is none")
        return titles, rows

    def _with_status(self, measured: Measured) -> Measured:
        if self._map.status is None or not measured.failures:
            return measured
        kind = FailureKind("http", f"HTTP {self._map.status}", measured.failures, self._map.status)
        return replace(measured, kinds=(kind,))

    def _unreadable(self) -> Iterator[Skipped]:
        for each in self._map.unreadable:
            for number in range(each.lines[0], each.lines[1] + 1):
                if any(character.isalnum() for character in self._line(number)):
                    yield Skipped(self._source.place(number), shorten(self._line(number)), each.why)

    def _line(self, number: int) -> str:
        """Raises UsageError."""
        if not 0 < number <= len(self._lines):
            raise self._source.error(number, f"the map names this line, and the report has {len(self._lines)}")
        return self._lines[number - 1].strip()


def _prose(lines: list[str]) -> str:
    """A study without tables."""
    text = "\n".join(line for line in lines if line.strip() and "|" not in line)
    return text[:MOST_PROSE]

"""Tables of the target's side: what was observed of it, and what it says that it did."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from plimsoll.report.document.blocks import TableColumn, TableData, TableRow
from plimsoll.report.document.overview import MOST_RUNS, run_cells, run_columns
from plimsoll.report.document.tables import VARIANT
from plimsoll.report.numbers import NONE, count, known, share, size
from plimsoll.report.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.study import Study, TargetWork

MOST_NAMES = 12
"""Of a variant; those that take most time."""
OTHERS = "(others)"


class _Kind(NamedTuple):
    """A table of work."""

    kind: str
    caption: str
    name: str
    """Of the column with what was done."""
    left_out: tuple[str, ...]
    """Titles of columns that say nothing of it."""


ROWS, P95, FAILED = "Rows per call", "p95 (ms)", "Failed"
KINDS = (
    _Kind(
        "part", "Parts of the time, as responses name them in Server-Timing", "Part",
        ("Per minute", "Share of calls", "Share of time", ROWS, FAILED),
    ),
    _Kind("transaction", "Requests as the target's traces have them", "Transaction", (ROWS,)),
    _Kind("call", "Calls that the target makes itself, from its traces", "Call", (ROWS,)),
    _Kind("statement", "Statements of the database, from pg_stat_statements", "Statement", (P95, FAILED)),
)  # fmt: skip


def observed_table(study: Study) -> TableData | None:
    """What was observed of the target: at the beginning, at the end, at most. None when nothing was."""
    columns = (
        *run_columns(study),
        TableColumn("Of", is_text=True),
        TableColumn("What", is_text=True, room="name"),
        *(TableColumn(title) for title in ("First", "Last", "Least", "Most")),
        TableColumn("Unit", is_text=True, room="word"),
    )
    rows = []
    for trial in study.trials:
        for series in trial.observed:
            seen = [float(each) for each in series.values if each == each]
            if seen:
                is_size = series.unit.startswith("bytes")
                values = [size(each) if is_size else known(each) for each in (seen[0], seen[-1], min(seen), max(seen))]
                unit = series.unit.removeprefix("bytes") if is_size else series.unit
                if series.unit == "cores" and (cores := trial.cores.get(series.source)) is not None:
                    unit = f"of {known(cores)} {'core' if cores == 1 else 'cores'}"
                rows.append(TableRow((*run_cells(study, trial), series.source, series.name, *values, unit)))
    if not rows:
        return None
    note = f"{len(rows) - MOST_RUNS} more rows are in the JSON report." if len(rows) > MOST_RUNS else ""
    return TableData("Observed of the target", columns, tuple(rows[:MOST_RUNS]), note)


def work_tables(study: Study) -> list[TableData]:
    """One for each kind of work that the target told of; all runs of a variant together."""
    return [table for kind in KINDS if (table := _work_table(study, kind)) is not None]


def slowest_table(study: Study) -> TableData | None:
    """Requests by their traces, so that one finds them in the target's own. None when no request had one."""
    columns = (
        *run_columns(study),
        TableColumn("Request", is_text=True, room="name"),
        TableColumn("At (s)", hint="of the run, when its response was complete"),
        TableColumn("Response (ms)", hint="from when it was due to the last byte of its response"),
        TableColumn("Service (ms)", hint="from when it was sent"),
        TableColumn("In the target (ms)", hint="by the longest of the target's own spans, when it sends them"),
        TableColumn("Outcome", is_text=True, room="word"),
        TableColumn("Trace", is_text=True, room="word"),
    )
    rows = tuple(
        TableRow(
            (
                *run_cells(study, trial),
                one_line(f"{each.method} {each.name}".strip()),
                f"{each.second:.1f}",
                known(each.response_ms),
                known(each.service_ms),
                NONE if each.server_ms is None else known(each.server_ms),
                each.outcome,
                each.trace,
            )
        )
        for trial in study.trials
        for each in trial.slowest[: max(1, MOST_RUNS // len(study.trials))]
    )
    return TableData("The slowest requests, by their traces", columns, rows[:MOST_RUNS]) if rows else None


class _Line(NamedTuple):
    """One row, over all runs of a variant."""

    source: str
    name: str
    calls: int
    ms: float
    failed: int
    rows: int | None
    p95: float | None
    """Only of a single run: percentiles do not add up."""


def _work_table(study: Study, kind: _Kind) -> TableData | None:
    several = len(study.variants) > 1
    rows: list[TableRow] = []
    for variant in study.variants:
        trials = [trial for trial in study.trials if trial.variant == variant]
        minutes = sum((trial.duration or 0.0) + trial.warmup for trial in trials) / 60
        lines = _lines([[each for each in trial.work if each.kind == kind.kind] for trial in trials])
        calls, ms = sum(line.calls for line in lines), sum(line.ms for line in lines)
        rows += [
            TableRow(
                (
                    *([variant] if several else []),
                    line.source,
                    one_line(line.name),
                    count(line.calls),
                    known(line.calls / minutes) if minutes else NONE,
                    share(line.calls, calls),
                    share(line.ms, ms) if ms else NONE,
                    known(line.ms / line.calls) if line.calls else NONE,
                    NONE if line.p95 is None else known(line.p95),
                    known(line.rows / line.calls) if line.rows is not None and line.calls else NONE,
                    share(line.failed, line.calls) if line.calls else NONE,
                )
            )
            for line in _shortened(lines)
        ]
    if not rows:
        return None
    columns = (
        *([VARIANT] if several else []),
        TableColumn("Of", is_text=True),
        TableColumn(kind.name, is_text=True, room="name"),
        TableColumn("Calls"),
        TableColumn("Per minute", hint="from the beginning of the warm-up on"),
        TableColumn("Share of calls"),
        TableColumn("Share of time"),
        TableColumn("Mean (ms)"),
        TableColumn(P95),
        TableColumn(ROWS),
        TableColumn(FAILED),
    )
    keep = [number for number, column in enumerate(columns) if column.title not in kind.left_out]
    cells = tuple(TableRow(tuple(row.cells[number] for number in keep)) for row in rows)
    return TableData(kind.caption, tuple(columns[number] for number in keep), cells)


def _lines(of_runs: Sequence[Sequence[TargetWork]]) -> list[_Line]:
    """Those that take most time first."""
    alike: dict[tuple[str, str], list[TargetWork]] = defaultdict(list)
    for works in of_runs:
        for each in works:
            alike[each.source, f"{each.name} ({each.view})" if each.view else each.name].append(each)
    lines = [
        _Line(
            source,
            name,
            sum(each.calls for each in parts),
            sum(each.ms for each in parts),
            sum(each.failed for each in parts),
            sum(each.rows or 0 for each in parts) if any(each.rows is not None for each in parts) else None,
            parts[0].p95 if len(of_runs) == 1 else None,
        )
        for (source, name), parts in alike.items()
    ]
    return sorted(lines, key=lambda line: -line.ms)


def _shortened(lines: Sequence[_Line]) -> list[_Line]:
    """The last row stands for all that have none."""
    if len(lines) <= MOST_NAMES + 1:
        return list(lines)
    rest = lines[MOST_NAMES:]
    rows = [line.rows for line in rest if line.rows is not None]
    others = _Line(
        "",
        f"{OTHERS}: {len(rest)}",
        sum(line.calls for line in rest),
        sum(line.ms for line in rest),
        sum(line.failed for line in rest),
        sum(rows) if rows else None,
        None,
    )
    return [*lines[:MOST_NAMES], others]

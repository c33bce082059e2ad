"""Tables of the target's side: what was observed of it, and what it says that it did."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from plimsoll.plain_text import one_line
from plimsoll.report.document.blocks import TableColumn, TableData, TableRow
from plimsoll.report.document.overview import MOST_RUNS, run_cells, run_columns
from plimsoll.report.document.tables import VARIANT
from plimsoll.say.numbers import NONE, count, known, share, size
from plimsoll.stats.cells import cells_of
from plimsoll.stats.study import TargetWork
from plimsoll.stats.target_side import observed_of, work_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.cells import CellSummary
    from plimsoll.stats.study import Study
    from plimsoll.stats.target_side import ObservedRange

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
    """What was observed of the target in each cell: at the beginning, at the end, at least, at most. First and last
    values are means over the runs of a cell. None when nothing was observed."""
    columns = (
        *_cell_columns(study),
        TableColumn("Of", is_text=True),
        TableColumn("What", is_text=True, room="name"),
        *(TableColumn(title) for title in ("First", "Last", "Least", "Most")),
        TableColumn("Unit", is_text=True, room="word"),
    )
    rows = []
    for cell in cells_of(study):
        cores = {source: number for trial in cell.trials for source, number in trial.cores.items()}
        rows += [
            TableRow((*_cell_names(study, cell), each.source, each.name, *_texts(each, cores.get(each.source))))
            for each in observed_of(cell.trials)
        ]
    if not rows:
        return None
    note = f"{len(rows) - MOST_RUNS} more rows are in the JSON report." if len(rows) > MOST_RUNS else ""
    return TableData("Observed of the target", columns, tuple(rows[:MOST_RUNS]), note)


def _texts(observed: ObservedRange, cores: float | None) -> tuple[str, ...]:
    """The numbers, then the unit."""
    numbers, unit = (observed.first, observed.last, observed.least, observed.most), observed.unit
    if unit == "cores" and cores is not None:
        return (*map(known, numbers), f"of {known(cores)} {'core' if cores == 1 else 'cores'}")
    if unit.startswith("bytes"):
        return (*map(size, numbers), unit.removeprefix("bytes"))
    return (*map(known, numbers), unit)


def _cell_columns(study: Study) -> tuple[TableColumn, ...]:
    return (
        *([TableColumn("Operation", is_text=True)] if len(study.operations) > 1 else []),
        *([VARIANT] if len(study.variants) > 1 else []),
        *([TableColumn("Level")] if len(study.levels) > 1 else []),
    )


def _cell_names(study: Study, cell: CellSummary) -> tuple[str, ...]:
    return (
        *([cell.operation] if len(study.operations) > 1 else []),
        *([cell.variant] if len(study.variants) > 1 else []),
        *([str(cell.level or NONE)] if len(study.levels) > 1 else []),
    )


def work_tables(study: Study) -> list[TableData]:
    """One for each kind of work that is known of the target; all runs of a variant together."""
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


def _work_table(study: Study, kind: _Kind) -> TableData | None:
    several = len(study.variants) > 1
    rows: list[TableRow] = []
    for variant in study.variants:
        trials = [trial for trial in study.trials if trial.variant == variant]
        minutes = sum((trial.duration or 0.0) + trial.warmup for trial in trials) / 60
        works = work_of(trials, kind.kind)
        calls, ms = sum(each.calls for each in works), sum(each.ms for each in works)
        rows += [
            TableRow(
                (
                    *([variant] if several else []),
                    each.source,
                    _title(each),
                    count(each.calls),
                    known(each.calls / minutes) if minutes else NONE,
                    share(each.calls, calls),
                    share(each.ms, ms) if ms else NONE,
                    known(each.ms / each.calls) if each.calls else NONE,
                    NONE if each.p95 is None else known(each.p95),
                    known(each.rows / each.calls) if each.rows is not None and each.calls else NONE,
                    share(each.failed, each.calls) if each.calls else NONE,
                )
            )
            for each in _shortened(works)
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


def _title(work: TargetWork) -> str:
    return one_line(f"{work.name} ({work.view})" if work.view else work.name)


def _shortened(works: Sequence[TargetWork]) -> list[TargetWork]:
    """The last one stands for all that have no row."""
    if len(works) <= MOST_NAMES + 1:
        return list(works)
    rest = works[MOST_NAMES:]
    rows = [each.rows for each in rest if each.rows is not None]
    others = TargetWork(
        rest[0].kind,
        "",
        f"{OTHERS}: {len(rest)}",
        sum(each.calls for each in rest),
        sum(each.ms for each in rest),
        failed=sum(each.failed for each in rest),
        rows=sum(rows) if rows else None,
    )
    return [*works[:MOST_NAMES], others]

"""The tables that one shape of report has and others have not, and those of the generator and the target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.report import words
from plimsoll.report.document.blocks import TableColumn, TableData, TableRow
from plimsoll.report.document.shape import changes_of
from plimsoll.report.document.tables import VARIANT, failed, longest, main_row, quantile, reason, succeeded, with_doubt
from plimsoll.report.numbers import NONE, count, known, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.report.document.footnotes import Footnotes
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.cells import CellSummary, EndpointCell
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.study import Against, Study, Trial

MOST_RUNS = 400
"""Rows of a table with one for each run."""


def chain_table(analysis: Analysis, cells: Sequence[CellSummary], notes: Footnotes) -> TableData:
    """A row for each step: what it changed, what it does, and what came of it against the one before and the first."""
    study = analysis.study
    changes = changes_of(study)
    has_level = len(study.levels) > 1
    columns = (
        TableColumn("Step", is_text=True, use="group"),
        *([TableColumn("Level", use="group")] if has_level else []),
        TableColumn("What changed", is_text=True, room="long", use="group"),
        TableColumn("RPS"),
        TableColumn("p50 (ms)"),
        TableColumn("p99 (ms)"),
        TableColumn("Average size (bytes)"),
        TableColumn("Failed"),
        *(TableColumn(f"RPS against {_AGAINST[each]}", is_text=True, use="extra") for each in study.against),
        *(TableColumn(f"p99 against {_AGAINST[each]}", is_text=True, use="extra") for each in study.against),
    )
    rows = []
    for cell in cells:
        left = (cell.variant, *([str(cell.level or "")] if has_level else []), changes.get(cell.variant, ""))
        against = tuple(
            _came_of(analysis, cell, kind, each) for kind in ("throughput", "quantile") for each in study.against
        )
        of = main_row(cell)
        if of is None:
            rows.append(TableRow((*left, *[notes.missing(reason(cell))] * 5, *against), "missing"))
            continue
        size = NONE if of.size is None else count(of.size)
        numbers = (with_doubt(cell, known(of.rate), notes), quantile(of, 0.5), quantile(of, 0.99), size, failed(of))
        rows.append(TableRow((*left, *numbers, *against)))
    return TableData("All endpoints together", columns, tuple(rows))


_AGAINST: dict[Against, str] = {"previous": "the step before", "baseline": "the baseline"}


def _came_of(analysis: Analysis, cell: CellSummary, kind: str, against: Against) -> str:
    """Of all endpoints together."""
    found = [
        each
        for each in analysis.comparisons
        if each.b == cell.variant
        and (each.level, each.operation) == (cell.level, cell.operation)
        and each.endpoint in (("", ""), ("", "Aggregated"))
        and each.metric.kind == kind
        and each.metric.quantile in (None, 0.99)
        and _is_against(analysis.study, each, against)
    ]
    if not found:
        return NONE
    each = found[0]
    if each.ratio is None:
        return words.WORDS[each.word]
    return f"{words.change(each)}, {words.WORDS[each.word]}"


def _is_against(study: Study, comparison: Comparison, against: Against) -> bool:
    """The second step is compared with the first once, which is both the one before and the baseline."""
    if comparison.against == against:
        return True
    return list(study.variants[:2]) == [comparison.a, comparison.b]


def rates_table(study: Study, cells: Sequence[CellSummary], notes: Footnotes) -> TableData:
    """A row for each implementation and rate."""
    has_operations = len(study.operations) > 1
    titles = ("Success rate", "p50 (ms)", "p99 (ms)", "Max (ms)", "Achieved / offered", "Runs")
    columns = (
        *([TableColumn("Operation", is_text=True, use="group")] if has_operations else []),
        TableColumn("Implementation", is_text=True, room="word"),
        TableColumn("Rate"),
        *map(TableColumn, titles),
    )
    order = {variant: place for place, variant in enumerate(study.variants)}
    rows = []
    for cell in sorted(cells, key=lambda each: (each.operation, order[each.variant])):
        left = (*([cell.operation] if has_operations else []), cell.variant, str(cell.level or NONE))
        valid, all_runs = len(cell.valid), len(cell.trials)
        runs = str(all_runs) if valid == all_runs else f"{valid} valid of {all_runs}"
        of = main_row(cell)
        if of is None:
            rows.append(TableRow((*left, *[notes.missing(reason(cell))] * 5, runs), "missing"))
        else:
            rows.append(TableRow((*left, *_carried(cell, of, notes), runs)))
    return TableData("All endpoints together", columns, tuple(rows))


def _carried(cell: CellSummary, of: EndpointCell, notes: Footnotes) -> tuple[str, ...]:
    crashed = next((trial.crashed for trial in cell.trials if trial.crashed), None)
    mark = notes.mark(f"The target of {cell.variant} at {cell.level} ended by itself: {crashed}") if crashed else ""
    achieved = NONE if cell.achieved is None else share(cell.achieved, 1.0)
    return (
        f"{succeeded(of)}{mark}",
        with_doubt(cell, quantile(of, 0.5), notes),
        quantile(of, 0.99),
        longest(of),
        achieved,
    )


def generator_table(study: Study) -> TableData | None:
    """A row for each run. None when nothing is known of the generator."""
    trials = [trial for trial in study.trials if trial.generator is not None]
    if not trials:
        return None
    columns = (
        *_run_columns(study),
        TableColumn("Lag p99 (ms)", hint="one request in a hundred was sent at least this late"),
        TableColumn("Delay p99 (ms)", hint="one response in a hundred lay unread at least this long"),
        TableColumn("CPU max", hint="busiest second of the busiest worker"),
        TableColumn("Achieved / offered"),
        TableColumn("Dropped"),
        TableColumn("Valid", is_text=True, room="long"),
    )
    rows = []
    for trial in trials[:MOST_RUNS]:
        health = trial.generator
        assert health is not None
        numbers = (
            known(health.lag_p99),
            known(health.delay_p99),
            NONE if health.cpu_max is None else f"{100 * health.cpu_max:.0f} %",
            NONE if health.achieved is None or trial.model == "closed" else share(health.achieved, 1.0),
            NONE if health.dropped is None else count(health.dropped),
        )
        rows.append(TableRow((*_run_cells(study, trial), *numbers, "; ".join(trial.invalid) or "yes")))
    note = f"{len(trials) - MOST_RUNS} more runs are in the JSON report." if len(trials) > MOST_RUNS else ""
    return TableData("The load generator, run by run", columns, tuple(rows), note)


def observed_table(study: Study) -> TableData | None:
    """What was observed of the target: at the beginning, at the end, at most. None when nothing was."""
    columns = (
        *_run_columns(study),
        TableColumn("Of", is_text=True),
        TableColumn("What", is_text=True),
        *(TableColumn(title) for title in ("First", "Last", "Least", "Most")),
        TableColumn("Unit", is_text=True, room="word"),
    )
    rows = []
    for trial in study.trials:
        for series in trial.observed:
            seen = [float(each) for each in series.values if each == each]
            if seen:
                values = (seen[0], seen[-1], min(seen), max(seen))
                cells = (series.source, series.name, *(known(each) for each in values), series.unit)
                rows.append(TableRow((*_run_cells(study, trial), *cells)))
    if not rows:
        return None
    note = f"{len(rows) - MOST_RUNS} more rows are in the JSON report." if len(rows) > MOST_RUNS else ""
    return TableData("Observed of the target", columns, tuple(rows[:MOST_RUNS]), note)


def _run_columns(study: Study) -> tuple[TableColumn, ...]:
    return (
        *([TableColumn("Operation", is_text=True)] if len(study.operations) > 1 else []),
        *([VARIANT] if len(study.variants) > 1 else []),
        TableColumn("Level"),
        TableColumn("Repeat"),
    )


def _run_cells(study: Study, trial: Trial) -> tuple[str, ...]:
    return (
        *([trial.operation] if len(study.operations) > 1 else []),
        *([trial.variant] if len(study.variants) > 1 else []),
        str(trial.level or NONE),
        str(study.number_of(trial)),
    )

"""Comparisons as tables: all of them, and over the levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.report import words
from plimsoll.report.charts.verdicts import tone
from plimsoll.report.document.blocks import Chip, TableColumn, TableData, TableRow
from plimsoll.report.document.tables import failed, main_row, quantile, reason, with_doubt
from plimsoll.report.numbers import AT_LEAST, NONE, known
from plimsoll.stats.cells import cell_of
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.report.document.footnotes import Footnotes
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.cells import CellSummary, EndpointCell
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.study import Level, Study

MEDIAN = Metric("quantile", 0.5)
RATIO = TableColumn("Ratio [95\u00a0%]")
_VERDICT = TableColumn("Verdict", is_text=True, room="word")
_MEANS = "geometric mean over runs; of shares the arithmetic mean"


def verdict_table(analysis: Analysis, most: int, notes: Footnotes) -> TableData:
    """A row for each comparison, the primary ones first. most: of them; the rest is counted."""
    study = analysis.study
    comparisons = sorted(analysis.comparisons, key=lambda each: not each.primary)
    has_operations, has_levels = len(study.operations) > 1, len(study.levels) > 1
    pairs = {(each.a, each.b) for each in comparisons}
    one = next(iter(pairs)) if len(pairs) == 1 else None
    columns = (
        *([TableColumn("Operation", is_text=True, use="group")] if has_operations else []),
        *([TableColumn("Level", use="group")] if has_levels else []),
        *([] if one else [TableColumn("Compared", is_text=True, room="name", use="group")]),
        TableColumn("Endpoint", is_text=True, room="name", use="group"),
        TableColumn("Metric", is_text=True, room="word"),
        TableColumn(one[0] if one else "before", hint=_MEANS),
        TableColumn(one[1] if one else "after", hint=_MEANS),
        TableColumn("Δ", use="extra"),
        RATIO,
        _VERDICT,
    )
    rows = []
    for each in comparisons[:most]:
        cells: tuple[str | Chip, ...] = (
            *([each.operation] if has_operations else []),
            *([str(each.level or "")] if has_levels else []),
            *([] if one else [f"{each.b} against {each.a}"]),
            words.endpoint(each.endpoint),
            _metric(each.metric) + (" ●" if each.primary else ""),
            _value(study, each, each.a, each.a_value, notes),
            _value(study, each, each.b, each.b_value, notes),
            words.change(each),
            ratio_cell(each),
            verdict_chip(analysis, each, notes),
        )
        rows.append(TableRow(cells, "void" if each.word == "invalid" else "main" if each.primary else ""))
    left_out = len(comparisons) - most
    note = "● what the question is about." if any(each.primary for each in comparisons) else ""
    if left_out > 0:
        note = f"{note} {left_out} more comparisons are in the CSV and JSON reports.".strip()
    return TableData("Comparisons", columns, tuple(rows), note)


def _value(study: Study, comparison: Comparison, variant: str, value: float | None, notes: Footnotes) -> str:
    """Without a pair of runs the comparison has none; a run of this variant has one."""
    cell = cell_of(study, variant, comparison.level, comparison.operation)
    if not cell.trials:
        return notes.missing(reason(cell))
    row, metric = cell.endpoint(comparison.endpoint), comparison.metric
    value = row.value(metric) if value is None and row is not None else value
    if value is None:
        return NONE
    is_at_least = row is not None and metric.quantile is not None and row.is_at_least(metric.quantile)
    return with_doubt(cell, f"{AT_LEAST if is_at_least else ''}{words.value(metric, value)}", notes)


def _metric(metric: Metric) -> str:
    """With its unit: p99, ms."""
    return "requests/s" if metric.kind == "throughput" else f"{metric.text}, {words.unit_of(metric)}"


def ratio_cell(comparison: Comparison) -> str:
    """With its interval, where there is one."""
    # That it holds for these very runs only, the verdict beside it says.
    return words.ratio(comparison).removesuffix(f" {words.WITHIN_RUN}") or NONE


def verdict_chip(analysis: Analysis, comparison: Comparison, notes: Footnotes | None = None) -> Chip:
    """The word and what became of it. notes: of the table that it stands in; the reason is written down there, as it is
    mostly that of many rows."""
    text = words.chip(comparison)
    if notes is not None and comparison.reason and comparison.word != "equivalent":
        text += notes.mark(comparison.reason)
    basis = words.support(comparison).strip("()")
    lines = (
        *filter(None, (comparison.reason, basis)),
        *words.details(comparison, words.RunLength.of(analysis.study, comparison)),
    )
    return Chip(text, tone(comparison).split()[0], lines, words.WORDS[comparison.word])


def highest(study: Study) -> Metric:
    """The highest percentile that the study is about; p99 when it is about none."""
    found = [metric.quantile for metric in (*study.primary, *study.metrics) if metric.quantile is not None]
    return Metric("quantile", max(found, default=0.99))


def level_tables(analysis: Analysis, operation: str, notes: Footnotes, place: str = "") -> Iterator[TableData]:
    """Throughput, latency and failures of all endpoints together: a row per level. Of several variants a table each,
    with a column per variant, and with the verdict where there are two. place: for the captions."""
    study, tail = analysis.study, highest(analysis.study)
    contents: tuple[tuple[str, Metric, Callable[[EndpointCell], str]], ...] = (
        ("Throughput (requests/s)", Metric("throughput"), lambda row: known(row.rate)),
        *([("p50 (ms)", MEDIAN, lambda row: quantile(row, 0.5))] if tail.quantile != MEDIAN.quantile else []),
        (f"{tail.text} (ms)", tail, lambda row: quantile(row, tail.quantile or 0.99)),
        ("Failed requests", Metric("errors"), failed),
    )
    if len(study.variants) == 1:
        cells = [cell_of(study, study.variants[0], level, operation) for level in study.levels]
        rows = [
            TableRow((str(cell.level or "all"), *(_cell(cell, shown, notes) for _, _, shown in contents)))
            for cell in cells
            if cell.trials
        ]
        columns = (TableColumn("Level"), *(TableColumn(title) for title, _, _ in contents))
        yield TableData(f"All endpoints together{place}", columns, tuple(rows))
        return
    for title, metric, shown in contents:
        yield from _over_levels(analysis, operation, notes, f"{title}{place}", metric, shown)


def _over_levels(
    analysis: Analysis,
    operation: str,
    notes: Footnotes,
    title: str,
    metric: Metric,
    shown: Callable[[EndpointCell], str],
) -> Iterator[TableData]:
    """None when nothing is known of it."""
    study = analysis.study
    verdicts = _of_total(analysis, operation, metric)
    rows: list[TableRow] = []
    for level in study.levels:
        cells = [cell_of(study, variant, level, operation) for variant in study.variants]
        found = verdicts.get(level)
        judged = (NONE, NONE) if found is None else (ratio_cell(found), verdict_chip(analysis, found, notes).text)
        texts = [_cell(cell, shown, notes) for cell in cells]
        rows.append(TableRow((str(level or "all"), *texts, *(judged if verdicts else ()))))
    width = len(study.variants)
    if any(text != NONE for row in rows for text in row.cells[1 : 1 + width]):
        columns = (TableColumn("Level"), *(TableColumn(variant) for variant in study.variants))
        yield TableData(title, (*columns, *((RATIO, _VERDICT) if verdicts else ())), tuple(rows))


def _of_total(analysis: Analysis, operation: str, metric: Metric) -> dict[Level | None, Comparison]:
    """The verdict by level on all endpoints together, or on the only one; none when there are several pairs."""
    if len(analysis.study.variants) != 2:
        return {}
    keys = analysis.study.endpoints(operation)
    wanted = {("", ""), TOTAL} | (set(keys) if len(keys) == 1 else set())
    same = (metric.kind, metric.quantile)
    return {
        each.level: each
        for each in reversed(analysis.comparisons)
        if each.operation == operation and each.endpoint in wanted and (each.metric.kind, each.metric.quantile) == same
    }


def _cell(cell: CellSummary, shown: Callable[[EndpointCell], str], notes: Footnotes) -> str:
    row = main_row(cell)
    if row is not None:
        return with_doubt(cell, shown(row), notes)
    return notes.missing(reason(cell)) if cell.reasons else NONE

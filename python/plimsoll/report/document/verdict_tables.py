"""Comparisons as tables: all of them, and over the levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.report.charts.verdicts import tone
from plimsoll.report.document.blocks import Chip, TableColumn, TableData, TableRow
from plimsoll.say import comparisons as words
from plimsoll.say.numbers import AT_LEAST, NONE
from plimsoll.say.remarks import reason_text
from plimsoll.stats.cells import cell_of
from plimsoll.stats.metric import Metric

if TYPE_CHECKING:
    from plimsoll.report.document.footnotes import Footnotes
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.study import Study

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
            _value(study, each, each.a, each.a_value),
            _value(study, each, each.b, each.b_value),
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


def _value(study: Study, comparison: Comparison, variant: str, value: float | None) -> str:
    """Without a pair of runs the comparison has none; a run of this variant has one."""
    row = cell_of(study, comparison.cell(variant)).endpoint(comparison.endpoint)
    metric = comparison.metric
    value = row.value(metric) if value is None and row is not None else value
    if value is None:
        return NONE
    is_at_least = row is not None and metric.quantile is not None and row.is_at_least(metric.quantile)
    return f"{AT_LEAST if is_at_least else ''}{words.value(metric, value)}"


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
    text = words.short_verdict(comparison)
    reason = reason_text(comparison)
    if notes is not None and reason and comparison.word != "equivalent":
        text += notes.mark(reason)
    basis = words.support(comparison).strip("()")
    lines = (
        *filter(None, (reason, basis)),
        *words.details(comparison, words.RunLength.of(analysis.study, comparison)),
    )
    return Chip(text, tone(comparison).split()[0], lines, words.WORDS[comparison.word])

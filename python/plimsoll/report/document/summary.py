"""The one table that a report of a study opens with: a row for each cell, with what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.report.charts.verdicts import tone
from plimsoll.report.document.before_after import has_service_times
from plimsoll.report.document.blocks import Chip, TableColumn, TableData, TableRow
from plimsoll.report.document.setup import says_changes
from plimsoll.report.document.tables import failed, quantile
from plimsoll.say import comparisons
from plimsoll.say.answer.shape import changes_of, shape_of
from plimsoll.say.answer.versions import topics_of
from plimsoll.say.numbers import NONE, count, known
from plimsoll.say.remarks import SERVICE_TIMES, times_of_dominant
from plimsoll.stats.cells import dominant_endpoint
from plimsoll.stats.compare.tails import highest
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record.cells import CellKey
    from plimsoll.say.answer.versions import Topic
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.cells import CellSummary, EndpointCell
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.study import Against, Study

MOST_ROWS = 60
SIZES_DIFFER = 0.05
"""From here on the table has a column of sizes."""
_AGAINST: dict[Against, str] = {"previous": "step before", "baseline": "baseline"}


def summary_table(analysis: Analysis, cells: Sequence[CellSummary]) -> TableData:
    """Requests/s, p50, tail and failures of each cell, and the verdicts by what the question is about."""
    study = analysis.study
    topic = next(iter(topics_of(analysis)), None)
    judged = [each for each in analysis.comparisons if topic is not None and topic.is_like(each)]
    against = [each for each in study.against if any(_is_against(study, row, each) for row in judged)]
    changes, tail = changes_of(study), highest(study)
    mixed = _mixed(analysis, cells) if topic is None or topic.endpoint == TOTAL else set()
    has = {
        "operation": len(study.operations) > 1,
        "variant": len(study.variants) > 1,
        "level": len(study.levels) > 1,
        "changes": bool(changes) and not says_changes(study),
        "size": _sizes_differ(cells, topic),
    }
    times = [Metric("quantile", 0.5), *([tail] if tail.quantile != 0.5 else [])]
    columns = (
        *([TableColumn("Operation", is_text=True, use="group")] if has["operation"] else []),
        *([TableColumn("Variant", is_text=True, room="word")] if has["variant"] else []),
        *([TableColumn("Level")] if has["level"] else []),
        *([TableColumn("What changed", is_text=True, room="long")] if has["changes"] else []),
        TableColumn("Requests/s", hint="successful ones"),
        *(TableColumn(f"{metric.text} (ms)") for metric in times),
        TableColumn("Failed"),
        *([TableColumn("Bytes a reply")] if has["size"] else []),
        *(TableColumn(_title(topic, each, len(study.variants)), is_text=True, room="long") for each in against),
    )
    rows, has_service = [], False
    for cell in _ordered(study, cells)[:MOST_ROWS]:
        row = cell.endpoint(dominant_endpoint([cell])) if cell.cell in mixed else _row_of(cell, topic)
        total = cell.main
        by_service = [_by_service(analysis, cell, row, metric) for metric in times]
        has_service = has_service or any(value is not None for value in by_service)
        left = (
            *([cell.operation] if has["operation"] else []),
            *([f"{cell.variant}{'' if cell.valid or has['level'] else '*'}"] if has["variant"] else []),
            *([f"{cell.level or ''}{'' if cell.valid else '*'}"] if has["level"] else []),
            *([changes.get(cell.variant, "")] if has["changes"] else []),
        )
        numbers = (
            NONE if total is None else known(total.value(Metric("throughput"))),
            *(_time(row, value, metric) for value, metric in zip(by_service, times, strict=True)),
            failed(total),
            *([NONE if row is None or row.size is None else count(row.size)] if has["size"] else []),
        )
        chips = (_chip(study, judged, cell, each) for each in against)
        rows.append(TableRow((*left, *numbers, *chips), "" if cell.valid else "void"))
    more = len(cells) - MOST_ROWS
    notes = [f"{more} more cells are in the CSV and JSON reports."] if more > 0 else []
    if any(not cell.valid for cell in cells):
        notes.append("* did not get the load that was asked for.")
    if any(each.word == "one run" for each in judged):
        notes.append("One run each: how much of a change is noise is unknown.")
    shown = {cell.operation: dominant_endpoint([cell]) for cell in cells if cell.cell in mixed}
    notes += [times_of_dominant(operation, endpoint) for operation, endpoint in shown.items()]
    if has_service:
        notes.append(SERVICE_TIMES)
    return TableData(_caption(topic), columns, tuple(rows), " ".join(notes))


def _by_service(analysis: Analysis, cell: CellSummary, row: EndpointCell | None, metric: Metric) -> float | None:
    """The service time that is compared in place of the response time: a report has one p50."""
    if row is None or len(analysis.study.variants) != 2:
        return None
    for comparison in analysis.comparisons:
        is_here = (
            cell.cell in comparison.cells and (comparison.endpoint if any(comparison.endpoint) else TOTAL) == row.key
        )
        if is_here and comparison.metric.is_same(metric) and has_service_times([comparison]):
            return comparison.a_value if cell.cell == comparison.cells[0] else comparison.b_value
    return None


def _time(row: EndpointCell | None, compared: float | None, metric: Metric) -> str:
    if compared is not None:
        return known(compared)
    return NONE if row is None else quantile(row, metric.quantile or 0.99)


def _mixed(analysis: Analysis, cells: Sequence[CellSummary]) -> set[CellKey]:
    """The cells of which a percentile of all endpoints together must not be used: they mix fast and slow ones."""
    blocked = [finding.where for finding in analysis.findings if (finding.id, finding.weight) == ("BIMODAL", "blocks")]
    return {
        cell.cell
        for cell in cells
        for where in blocked
        if where.endpoint in (TOTAL, ("", ""))
        and where.variant in (None, cell.variant)
        and where.level in (None, cell.level)
        and where.operation in (None, cell.operation)
    }


def _ordered(study: Study, cells: Sequence[CellSummary]) -> list[CellSummary]:
    """What is compared stands together: the variants at a level, or the levels of a variant."""
    if shape_of(study) != "rates":
        return list(cells)
    operations, variants = list(study.operations), list(study.variants)
    return sorted(cells, key=lambda each: (operations.index(each.operation), variants.index(each.variant)))


def _row_of(cell: CellSummary, topic: Topic | None) -> EndpointCell | None:
    return (cell.endpoint(topic.endpoint) if topic is not None else None) or cell.main


def _sizes_differ(cells: Sequence[CellSummary], topic: Topic | None) -> bool:
    sizes = [row.size for cell in cells if (row := _row_of(cell, topic)) is not None and row.size]
    return bool(sizes) and max(sizes) > min(sizes) * (1 + SIZES_DIFFER)


def _title(topic: Topic | None, against: Against, variants: int) -> str:
    metric = topic.metric.text if topic is not None else ""
    name = "Requests/s" if metric == "throughput" else metric
    return f"{name} vs {_AGAINST[against]}" if variants > 2 else f"{name} compared"


def _caption(topic: Topic | None) -> str:
    """Of what the times are, where that is not everything."""
    if topic is None or topic.endpoint == TOTAL:
        return "Summary"
    return f"Requests/s and failures of all endpoints, times of {' '.join(filter(None, topic.endpoint))}"


def _chip(study: Study, judged: Sequence[Comparison], cell: CellSummary, against: Against) -> str | Chip:
    own = (comparison for comparison in judged if comparison.cells[1] == cell.cell)
    verdict = next((comparison for comparison in own if _is_against(study, comparison, against)), None)
    return "" if verdict is None else Chip(comparisons.short_verdict(verdict), tone(verdict).split()[0])


def _is_against(study: Study, comparison: Comparison, against: Against) -> bool:
    """The second variant is compared with the first once, which is both the one before and the baseline."""
    return comparison.against == against or list(study.variants[:2]) == [comparison.a, comparison.b]

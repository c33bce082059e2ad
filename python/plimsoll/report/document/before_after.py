"""Two variants side by side: a row for each endpoint, with what became of it. The first table of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.record.cells import CellKey
from plimsoll.report.document.blocks import Chip, TableColumn, TableData, TableRow
from plimsoll.report.document.tables import failed
from plimsoll.report.document.verdict_tables import verdict_chip
from plimsoll.say import comparisons as words
from plimsoll.say.numbers import AT_LEAST, NONE, counted
from plimsoll.say.remarks import SERVICE_TIMES
from plimsoll.stats.cells import cell_of
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.cells import CellSummary, EndpointCell
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.study import Study

MOST_ROWS = 20
P50, P99, THROUGHPUT = Metric("quantile", 0.5), Metric("quantile", 0.99), Metric("throughput")
_TITLES = {P50: "p50 (ms)", P99: "p99 (ms)", THROUGHPUT: "Requests/s"}


def before_after_table(analysis: Analysis) -> TableData | None:
    """The endpoints that users wait for most come first. Values are those that the verdict is about; without a pair of
    runs, those of all runs. None unless exactly two variants with several endpoints are compared: of a single endpoint
    the summary has the same."""
    study = analysis.study
    if len(study.variants) != 2:
        return None
    a, b = study.variants
    rows: list[TableRow] = []
    more, most_keys = 0, 0
    for operation in study.operations:
        for level in study.levels:
            before, after = (cell_of(study, CellKey(variant, level, operation)) for variant in (a, b))
            keys = _keys(study, before, after)
            most_keys = max(most_keys, len(keys))
            most = max(1, MOST_ROWS // (len(study.operations) * len(study.levels)))
            more += max(0, len(keys) - most)
            rows += [_row(analysis, before, after, key) for key in keys[:most]]
    if most_keys < 2:
        return None
    columns = (
        *([TableColumn("Operation", is_text=True, use="group")] if len(study.operations) > 1 else []),
        *([TableColumn("Level", use="group")] if len(study.levels) > 1 else []),
        TableColumn("Endpoint", is_text=True, room="name"),
        *(
            TableColumn(title, hint="successful ones" if metric == THROUGHPUT else "")
            for metric, title in _TITLES.items()
        ),
        TableColumn("Failed", use="extra"),
        TableColumn("p50 compared", is_text=True, room="long"),
    )
    notes = [f"{counted(more, 'more endpoint')} {'has' if more == 1 else 'have'} less waiting."] if more else []
    if has_service_times(analysis.comparisons):
        notes.append(SERVICE_TIMES)
    return TableData(f"{a} → {b}, by endpoint", columns, tuple(rows), " ".join(notes))


def has_service_times(comparisons: Sequence[Comparison]) -> bool:
    """Whether some are of service times, in place of response times."""
    return any(remark.id == "service times" for comparison in comparisons for remark in comparison.remarks)


def _keys(study: Study, before: CellSummary, after: CellSummary) -> list[tuple[str, str]]:
    """Those that a primary metric names first, all endpoints together last."""
    named = [metric for metric in study.primary if metric.endpoint is not None]
    waited: dict[tuple[str, str], float] = {}
    for cell in (before, after):
        for endpoint in cell.endpoints:
            waited[endpoint.key] = waited.get(endpoint.key, 0.0) + endpoint.waited_ms
    keys = sorted(waited, key=lambda key: (not any(metric.is_about(key) for metric in named), -waited[key]))
    return [*keys, TOTAL] if len(keys) > 1 and before.total is not None and after.total is not None else keys


def _row(analysis: Analysis, before: CellSummary, after: CellSummary, key: tuple[str, str]) -> TableRow:
    study, cells = analysis.study, (before.endpoint(key), after.endpoint(key))
    comparisons = [
        comparison
        for comparison in analysis.comparisons
        if comparison.cells == (before.cell, after.cell)
        and (comparison.endpoint == key or (key == TOTAL and not any(comparison.endpoint)))
    ]
    judged = _compared(comparisons, P50)
    shown: tuple[str | Chip, ...] = (
        *([after.operation] if len(study.operations) > 1 else []),
        *([str(after.level or "")] if len(study.levels) > 1 else []),
        words.endpoint(key),
        *(_values(cells, metric, comparisons) for metric in _TITLES),
        _arrow(*(failed(cell) for cell in cells)),
        "" if judged is None else verdict_chip(analysis, judged),
    )
    return TableRow(shown, "total" if key == TOTAL and len(study.levels) == 1 else "")


def _values(cells: Sequence[EndpointCell | None], metric: Metric, comparisons: Sequence[Comparison]) -> str:
    compared = _compared(comparisons, metric)
    values = (None, None) if compared is None else (compared.a_value, compared.b_value)
    return _arrow(*(_value(cell, metric, value) for cell, value in zip(cells, values, strict=True)))


def _compared(comparisons: Sequence[Comparison], metric: Metric) -> Comparison | None:
    return next((comparison for comparison in comparisons if comparison.metric.is_same(metric)), None)


def _value(cell: EndpointCell | None, metric: Metric, value: float | None) -> str:
    if value is None:
        value = None if cell is None else cell.value(metric)
    if value is None:
        return NONE
    is_at_least = cell is not None and metric.quantile is not None and cell.is_at_least(metric.quantile)
    return f"{AT_LEAST if is_at_least else ''}{words.value(metric, value)}"


def _arrow(before: str, after: str) -> str:
    return f"{before} → {after}"

"""Throughput and latency over the levels: two charts, as two scales in one show whatever one likes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.record.cells import CellKey
from plimsoll.report.charts.chart import Chart, Row, draw, short
from plimsoll.report.charts.ticks import ticks_of
from plimsoll.stats.cell import cell_value
from plimsoll.stats.cells import cells_of, dominant_endpoint
from plimsoll.stats.findings.saturation import Saturation
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.study import Level

PERCENTILES = (0.5, 0.95, 0.99)
WIDE = 20.0
"""Levels further apart than this, the highest over the lowest, are on a logarithmic axis."""


def ladder_charts(analysis: Analysis, operation: str, endpoint: tuple[str, str], label: str) -> list[Chart]:
    """Two, or fewer where too little is known. label: the endpoint as it is called in titles."""
    study = analysis.study
    levels = [level for level in study.levels if level is not None and _ran(analysis, operation, level)]
    if len(levels) < 2:
        return []
    words = _words(levels, study.variants)
    knees = _knees(analysis, operation)
    note = "The shaded range is the bracket of the knee." if knees else ""
    about: dict[str, Any] = {"operation": operation, "endpoint": endpoint, "note": note}
    of = f"{operation}: {label}" if operation else label
    name = f"ladder-{operation}-{label}"
    points, runs = [], []
    for variant in study.variants:
        rows = list(_points(analysis, variant, levels, operation, endpoint, Metric("throughput")))
        points += [row for row, _ in rows]
        runs += [row for _, single in rows for row in single]
    charts = []
    if points:
        data = {"points": points, "runs": runs, "knees": knees}
        charts.append(draw("ladder_throughput", f"{name}-throughput", f"Throughput, {of}", data, words, **about))
    times: list[Row] = []
    for variant in study.variants:
        for q in PERCENTILES:
            metric = Metric("quantile", q)
            for row, _ in _points(analysis, variant, levels, operation, endpoint, metric):
                times.append({**row, "percentile": metric.text})
    if times:
        data = {"points": times, "knees": knees}
        words["ticks"] = ticks_of(times, "value", "low", "high")
        charts.append(draw("ladder_latency", f"{name}-latency", f"Response times, {of}", data, words, **about))
    return charts


def operations_charts(analysis: Analysis) -> list[Chart]:
    """Throughput and median over the levels with a line for each operation, of a study with several and one variant. Of
    an operation with several requests it is the one that users wait for most: all of them together have a rate of their
    sum, and a median that may be between them."""
    study = analysis.study
    levels = [level for level in study.levels if level is not None]
    if len(study.operations) < 2 or len(study.variants) != 1 or len(levels) < 2:
        return []
    cells = cells_of(study)
    drawn = {
        operation: dominant_endpoint(cell for cell in cells if cell.operation == operation)
        for operation in study.operations
    }
    series = {
        operation: operation if endpoint == TOTAL else f"{operation}: {' '.join(filter(None, endpoint))}"
        for operation, endpoint in drawn.items()
    }
    words = _words(levels, list(series.values()))

    def rows(metric: Metric) -> Iterable[tuple[Row, list[Row]]]:
        for operation, endpoint in drawn.items():
            name = {"series": series[operation]}
            for row, runs in _points(analysis, study.variants[0], levels, operation, endpoint, metric):
                yield {**row, **name}, [{**run, **name} for run in runs]

    rates, medians = list(rows(Metric("throughput"))), [row for row, _ in rows(Metric("quantile", 0.5))]
    charts = []
    if rates:
        data = {"points": [row for row, _ in rates], "runs": [run for _, runs in rates for run in runs], "knees": []}
        charts.append(draw("ladder_throughput", "ladder-operations-throughput", "Throughput by operation", data, words))
    if medians:
        words["ticks"] = ticks_of(medians, "value", "low", "high")
        data = {"points": [{**row, "percentile": "p50"} for row in medians], "knees": []}
        charts.append(draw("ladder_latency", "ladder-operations-p50", "Median times by operation", data, words))
    return charts


def _words(levels: Sequence[Level], series: Sequence[str]) -> dict[str, Any]:
    """What the placeholders of a chart over levels stand for."""
    return {
        "level": "users" if levels[0].unit == "users" else "offered arrivals per second",
        "levels": [level.value for level in levels],
        "scale": "log" if levels[-1].value > WIDE * levels[0].value > 0 else "linear",
        "series": list(series),
        "what": "response time",
    }


def _ran(analysis: Analysis, operation: str, level: Level) -> bool:
    return any(trial.level == level and trial.operation == operation for trial in analysis.study.trials)


def _points(
    analysis: Analysis,
    variant: str,
    levels: Sequence[Level],
    operation: str,
    endpoint: tuple[str, str],
    metric: Metric,
) -> Iterable[tuple[Row, list[Row]]]:
    """A point for each level, and its single runs."""
    for level in levels:
        cell = cell_value(analysis.study.cell(CellKey(variant, level, operation)), metric, endpoint)
        if cell is None or cell.value <= 0:
            continue
        row: Row = {"series": variant, "level": level.value, "value": short(cell.value), "count": len(cell.values)}
        row["low"] = short(cell.low) if cell.low is not None else None
        row["high"] = short(cell.high) if cell.high is not None else None
        single: list[Row] = [{"series": variant, "level": level.value, "value": short(each)} for each in cell.values]
        yield row, single if len(single) > 1 else []


def _knees(analysis: Analysis, operation: str) -> list[Row]:
    """Of the findings that tell a bracket of levels."""
    rows: list[Row] = []
    for finding in analysis.findings:
        if isinstance(finding, Saturation) and finding.where.operation in (None, operation):
            (low, high), variant = finding.bracket, finding.where.variant or analysis.study.variants[0]
            rows.append({"series": variant, "low": low, "high": high})
    return rows

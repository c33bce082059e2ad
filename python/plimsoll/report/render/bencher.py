"""Bencher Metric Format: figures by benchmark and measure, for services that keep the history of benchmarks.

A benchmark is an endpoint of a variant at a level; of compared runs only the last one counts, and its name is that of
a run by itself. Times are in ns, as `latency` is there; throughput is in requests
per second. Bounds are those of the 95 % interval over repeats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.report.text import dumps
from plimsoll.stats.cell import cell_value
from plimsoll.stats.cells import cells_of
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from plimsoll.report.sources import OutputRequest, StudySource
    from plimsoll.stats.cells import CellSummary
    from plimsoll.stats.study import Study

_NS = 1e6
"""In a ms."""
MEASURES = {
    "latency": (Metric("mean"), _NS),
    "latency-p50": (Metric("quantile", 0.5), _NS),
    "latency-p95": (Metric("quantile", 0.95), _NS),
    "latency-p99": (Metric("quantile", 0.99), _NS),
    "throughput": (Metric("throughput"), 1.0),
    "error-rate": (Metric("errors"), 1.0),
}
"""By their name there: the metric, and what its value is multiplied by."""


def bencher_metrics(source: StudySource, request: OutputRequest) -> str:
    """Without runs whose load was not the load asked for: a history must not hold them."""
    study = source.analysis.study
    cells = [cell for cell in cells_of(study) if cell.valid]
    if _are_runs(study):
        cells = [cell for cell in cells if cell.variant == study.variants[-1]]
    several = len({cell.cell for cell in cells}) > 1
    found: dict[str, Any] = {}
    for cell in cells:
        variant = "" if _are_runs(study) else cell.variant
        before = [part for part in (variant, cell.operation, str(cell.level or "")) if part] if several else []
        for key in (*cell.by_key, *((TOTAL,) if cell.total is not None else ())):
            name = " ".join(part for part in key if part)
            if measures := _measures(cell, key):
                found[" / ".join((*before, name))] = measures
    return dumps(found, indent=1) + "\n"


def _are_runs(study: Study) -> bool:
    """Whether the variants are runs: the last one is measured, the others were, and the id of a run is no name of a
    history."""
    return study.newest is not None or all(trial.id == trial.variant for trial in study.trials)


def _measures(cell: CellSummary, key: tuple[str, str]) -> dict[str, Any]:
    found = {}
    for name, (metric, factor) in MEASURES.items():
        value = cell_value(cell.trials, metric, key)
        if value is not None:
            numbers = {"value": value.value, "lower_value": value.low, "upper_value": value.high}
            found[name] = {each: number * factor for each, number in numbers.items() if number is not None}
    return found

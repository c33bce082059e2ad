"""Tables that several shapes of a report share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll.report.analysis.document import Table
from plimsoll.report.document.footnotes import MISSING
from plimsoll.report.numbers import NONE, amount, counted, share
from plimsoll.report.render.text_table import TextColumn, one_line
from plimsoll.report.words import (
    TOTAL,
    UNTOLD,
    WITHIN_RUN,
    WORDS,
    change,
    direction_in_short,
    endpoint,
    ratio,
    unit_of,
    value,
    verdict,
)
from plimsoll.stats.cells import cell_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.report.document.footnotes import Footnotes
    from plimsoll.stats.cells import Cell, EndpointCell
    from plimsoll.stats.comparison import Comparison
    from plimsoll.stats.study import Metric, Study

PERCENTILES = (50, 60, 70, 80, 90, 95, 99, 100)
RATIO = TextColumn("Ratio [95\u00a0%]", right=True)
_ENDPOINT = TextColumn("Endpoint", least=12)


def name_of(key: tuple[str, str]) -> str:
    return one_line(endpoint(key))


def compared(study: Study, comparisons: Sequence[Comparison], notes: Footnotes) -> Table:
    """One pair of variants at one level: a row per endpoint and metric. What is of invalid runs is not shown."""
    first = comparisons[0]
    a, b = (cell_of(study, name, first.level, first.operation) for name in (first.a, first.b))
    columns = (
        _ENDPOINT,
        TextColumn("Metric"),
        *(TextColumn(one_line(each.variant), right=True, least=7) for each in (a, b)),
        TextColumn("Δ", right=True),
        RATIO,
        TextColumn("Verdict"),
    )
    rows = [
        (
            name_of(each.endpoint),
            metric_title(each.metric),
            _value(each, each.a_value, a, notes),
            _value(each, each.b_value, b, notes),
            change_cell(each),
            ratio_cell(each),
            verdict_cell(each, notes),
        )
        for each in comparisons
    ]
    return Table(columns, tuple(rows), grouped=True, spare=frozenset({4}))


def _value(comparison: Comparison, known: float | None, cell: Cell, notes: Footnotes) -> str:
    """Without a pair of valid runs there is none in the comparison; a valid run of this variant still has one."""
    if not cell.valid:
        return notes.missing(reason(cell))
    row = cell.endpoint(comparison.endpoint) if known is None else None
    return value(comparison.metric, known if row is None else row.value(comparison.metric))


def change_cell(comparison: Comparison) -> str:
    return MISSING if comparison.word in UNTOLD else change(comparison)


def ratio_cell(comparison: Comparison) -> str:
    """With its interval; none where it would not be worth believing."""
    if comparison.word in UNTOLD:
        return MISSING
    # That it holds for these very runs only, the verdict beside it says.
    return ratio(comparison).removesuffix(f" {WITHIN_RUN}") or NONE


def verdict_cell(comparison: Comparison, notes: Footnotes) -> str:
    """The word, and what became of it; a reason becomes a note, as it is mostly that of many rows."""
    if comparison.word == "different":
        return ": ".join(part for part in (verdict(comparison), direction_in_short(comparison)) if part)
    if comparison.reason and comparison.word != "equivalent":
        return f"{WORDS[comparison.word]}{notes.mark(comparison.reason)}"
    return verdict(comparison)


def metric_title(metric: Metric) -> str:
    """With its unit: p99, ms."""
    if metric.kind == "throughput":
        return "requests/s"
    return f"{metric.text}, {unit_of(metric)}"


def requests(cell: Cell) -> Table:
    """Locust's first table: requests, failures, times, sizes and rates of each endpoint."""
    titles = (
        "# Requests",
        "# Fails",
        "Average (ms)",
        "Min (ms)",
        "Max (ms)",
        "Average size (bytes)",
        "RPS",
        "Failures/s",
    )
    columns = (TextColumn("Method"), TextColumn("Name", least=10), *(TextColumn(title, right=True) for title in titles))
    return Table(columns, tuple(_request_row(row) for row in _rows(cell)))


def percentiles(cell: Cell) -> Table:
    """Locust's second table."""
    titles = (f"{percent}%ile (ms)" for percent in PERCENTILES)
    columns = (TextColumn("Method"), TextColumn("Name", least=10), *(TextColumn(title, right=True) for title in titles))
    rows = [(*_names(row), *(_percentile(row, percent) for percent in PERCENTILES)) for row in _rows(cell)]
    return Table(columns, tuple(rows))


def failures(cells: Sequence[Cell]) -> Table | None:
    """What failed and how often, by endpoint, kind and message; None when nothing did."""
    found: dict[tuple[str, ...], int] = {}
    for cell in cells:
        level = str(cell.level or "")
        for row in cell.endpoints:
            for kind in (kind for run in row.runs for kind in run.kinds):
                status = str(kind.status) if kind.status is not None else ""
                key = (level, cell.variant, name_of(row.key), kind.outcome, status, one_line(kind.message))
                found[key] = found.get(key, 0) + kind.count
    if not found:
        return None
    titles = ("Level", "Variant", "Endpoint", "Kind", "Status", "Message")
    least = {"Endpoint": 12, "Message": 20}
    columns = (*(TextColumn(title, least=least.get(title)) for title in titles), TextColumn("# Fails", right=True))
    return Table(columns, tuple((*key, str(number)) for key, number in found.items()))


def milliseconds(number: float | None, at_least: bool = False) -> str:
    """at_least: it may have been longer."""
    return NONE if number is None or not math.isfinite(number) else f"{'≥' if at_least else ''}{amount(number)}"


def failed(row: EndpointCell | None) -> str:
    """Failed requests as a share of all."""
    if row is None or row.failures is None or not row.requests:
        return NONE
    return share(row.failures, row.requests)


def succeeded(row: EndpointCell | None) -> str:
    if row is None or row.failures is None or not row.requests:
        return NONE
    return share(row.requests - row.failures, row.requests)


def reason(cell: Cell) -> str:
    """Why its numbers must not be used."""
    level = f" at {cell.level}" if cell.level is not None else ""
    if not cell.trials:
        return f"{cell.variant} was not run{level}"
    first, *others = cell.reasons
    more = f"; and {counted(len(others), 'more reason')}, which the JSON has" if others else ""
    return f"{cell.variant}{level} is INVALID: {first}{more}"


def _rows(cell: Cell) -> list[EndpointCell]:
    return [*cell.endpoints, *([cell.total] if cell.total is not None else [])]


def _names(row: EndpointCell) -> tuple[str, str]:
    method, name = row.key
    return (method, one_line(name)) if method or name not in ("", TOTAL) else ("", TOTAL)


def _request_row(row: EndpointCell) -> tuple[str, ...]:
    return (
        *_names(row),
        *(NONE if number is None else str(number) for number in (row.requests, row.failures)),
        milliseconds(row.mean),
        milliseconds(row.min),
        milliseconds(row.max, bool(row.censored)),
        *(NONE if number is None else f"{number:.0f}" for number in (row.size,)),
        *(NONE if number is None else f"{number:.2f}" for number in (row.rate, row.failures_per_s)),
    )


def _percentile(row: EndpointCell, percent: int) -> str:
    if percent < 100:
        return milliseconds(row.quantile(percent / 100))
    return milliseconds(row.max if row.max is not None else row.quantile(1.0), bool(row.censored))

"""Tables of endpoints: Locust's two tables, and failures. Nothing is computed here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.report.document.blocks import TableBlock, TableColumn, TableData, TableRow
from plimsoll.say.numbers import NONE, UNCLEAN, count, known, share, source_count
from plimsoll.stats.latency.milliseconds import is_clean
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from plimsoll.stats.cells import CellSummary, EndpointCell
    from plimsoll.stats.study import FailureKind

PERCENTILES = (50, 60, 70, 80, 90, 95, 99, 100)
"""Of Locust's second table."""
METHOD = TableColumn("Method", is_text=True, room="word")
NAME = TableColumn("Name", is_text=True, room="name")
MESSAGE = TableColumn("Message", is_text=True, room="long")
EXAMPLE = TableColumn("First message", is_text=True, room="long")
VARIANT = TableColumn("Variant", is_text=True, room="word")
KIND = TableColumn("Kind", is_text=True, room="word")
NOT_SAID = "the source does not say why"
MOST_AT_A_GLANCE = 12
"""Rows of a table that needs no filter."""
REQUESTS = (
    TableColumn("# Requests"),
    TableColumn("# Fails"),
    TableColumn("Unanswered", hint="no response had come when the user was stopped, or the waiting for it ended"),
    TableColumn("Average (ms)"),
    TableColumn("Min (ms)"),
    TableColumn("Max (ms)"),
    TableColumn("Size (bytes)", hint="on average"),
    TableColumn("RPS"),
    TableColumn("Fails/s"),
)


def shown(table: TableData, id: str = "") -> TableBlock:
    """id: unique in its document."""
    return TableBlock(table, id, has_filter=len(table.rows) > MOST_AT_A_GLANCE)


def quantile(of: EndpointCell, q: float) -> str:
    """In ms; "≥" before one that may have been greater, "*" behind one that is not clean."""
    value = of.quantile(q)
    is_unclean = value is not None and not is_clean(value, of.share(Metric("quantile", q)))
    return known(value, at_least=of.is_at_least(q)) + (UNCLEAN if is_unclean else "")


def longest(of: EndpointCell) -> str:
    """Its maximum; where only percentiles are known, the last of them."""
    return known(of.quantile(1.0) if of.max is None else of.max, at_least=of.is_mean_at_least)


def failed(of: EndpointCell | None) -> str:
    """Failed requests as a share of all."""
    if of is None or not of.requests or of.failures is None:
        return NONE
    return share(of.failures, of.requests)


def locust_tables(
    cells: Sequence[CellSummary], most: int, *, names_variant: bool, place: str = ""
) -> tuple[TableData, TableData]:
    """The two tables of Locust for cells that stand at one level: requests, and percentiles. most: rows of each; the
    endpoints with the most requests are kept. place: where these cells stand, for the captions: " at 50 users"."""
    left = (METHOD, NAME, VARIANT) if names_variant else (METHOD, NAME)
    keys = list(dict.fromkeys(each.key for cell in cells for each in cell.endpoints))
    shown, note = _busiest(cells, keys, most // max(1, len(cells)))
    by_key = [{**{each.key: each for each in cell.endpoints}, TOTAL: cell.total} for cell in cells]

    def rows(texts: Callable[[EndpointCell], list[str]]) -> tuple[TableRow, ...]:
        found = []
        for key in (*shown, TOTAL):
            for cell, endpoints in zip(cells, by_key, strict=True):
                found += _row(cell, key, endpoints.get(key), texts, names_variant=names_variant)
        return tuple(found)

    counts = (replace(each, hint="of all runs that count") for each in REQUESTS[:3])
    percentiles = tuple(TableColumn(f"{each}%") for each in PERCENTILES)
    title = f"Percentiles of the times (ms){place}"
    return (
        TableData(f"Requests{place}", (*left, *counts, *REQUESTS[3:]), rows(_requests), note),
        TableData(title, (*left, *percentiles), rows(_percentiles), note),
    )


def _busiest(
    cells: Sequence[CellSummary], keys: Sequence[tuple[str, str]], most: int
) -> tuple[list[tuple[str, str]], str]:
    if len(keys) <= most:
        return sorted(keys, key=lambda key: (key[1], key[0])), ""
    counts = dict.fromkeys(keys, 0)
    for cell in cells:
        for each in cell.endpoints:
            counts[each.key] += each.requests or 0
    chosen = sorted(keys, key=lambda key: -counts[key])[:most]
    note = f"The {most} endpoints with the most requests; {len(keys) - most} more are in the CSV and JSON reports."
    return sorted(chosen, key=lambda key: (key[1], key[0])), note


def _row(
    cell: CellSummary,
    key: tuple[str, str],
    endpoint: EndpointCell | None,
    texts: Callable[[EndpointCell], list[str]],
    *,
    names_variant: bool,
) -> list[TableRow]:
    """One, or none for an endpoint that the cell has not. endpoint: what it has of it."""
    is_total = key == TOTAL
    left = ["", "Aggregated"] if is_total else list(key)
    left += [cell.variant] if names_variant else []
    if endpoint is None or not endpoint.runs:
        return []
    return [TableRow((*left, *texts(endpoint)), "total" if is_total else "")]


def _requests(of: EndpointCell) -> list[str]:
    return [
        source_count(of.requests, of.rounding("requests")),
        source_count(of.failures, of.rounding("failures")),
        NONE if of.unanswered is None else count(of.unanswered),
        known(of.mean, at_least=of.is_mean_at_least),
        known(of.min),
        longest(of),
        NONE if of.size is None else count(of.size),
        known(of.rate),
        known(of.failures_per_s),
    ]


def _percentiles(of: EndpointCell) -> list[str]:
    return [longest(of) if percent == 100 else quantile(of, percent / 100) for percent in PERCENTILES]


def failure_table(cells: Iterable[tuple[str, CellSummary]], most: int, place: str = "") -> TableData | None:
    """By cell and message; a source may have counts only. None when nothing failed. place: for the caption."""
    rows = []
    for label, cell in cells:
        for endpoint in cell.endpoints or ((cell.total,) if cell.total is not None else ()):
            alike: dict[tuple[str, str], list[FailureKind]] = {}
            for run in endpoint.runs:
                for kind in run.kinds:
                    key = (f"HTTP {kind.status}" if kind.status else kind.outcome), kind.group or kind.message
                    alike.setdefault(key, []).append(kind)
            counts = {key: sum(kind.count for kind in kinds) for key, kinds in alike.items()}
            if not counts and endpoint.failures:
                text = source_count(endpoint.failures, endpoint.rounding("failures"))
                rows.append(TableRow((text, failed(endpoint), NONE, label, *endpoint.key, NOT_SAID)))
            for (kind_name, group), number in sorted(counts.items(), key=lambda each: -each[1]):
                of = share(number, endpoint.requests or 0)
                messages = {kind.message for kind in alike[kind_name, group]}
                message = messages.pop() if len(messages) == 1 else group
                rows.append(TableRow((count(number), of, kind_name, label, *endpoint.key, message)))
    if not rows:
        return None
    note = f"{len(rows) - most} more are in the CSV and JSON reports." if len(rows) > most else ""
    columns = (
        TableColumn("# Fails"), TableColumn("Share"), KIND, TableColumn("In", is_text=True), METHOD, NAME, MESSAGE,
    )  # fmt: skip
    return TableData(f"Failures{place}", columns, tuple(rows[:most]), note)

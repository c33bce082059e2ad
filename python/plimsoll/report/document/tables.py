"""Tables of a document: columns, and rows of texts. Nothing is computed here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from plimsoll.report import words
from plimsoll.report.charts.verdicts import tone
from plimsoll.report.numbers import NONE, amount, share
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from plimsoll.report.document.footnotes import Footnotes
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.cells import Cell, EndpointCell
    from plimsoll.stats.comparison import Comparison

PERCENTILES = (50, 60, 70, 80, 90, 95, 99, 100)
"""Of Locust's second table."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    title: str
    is_text: bool = False
    hint: str = ""
    room: Literal["", "word", "long"] = ""
    """Of texts. word: never broken. long: may be of any length, and gets more room than others."""


@dataclass(frozen=True, slots=True)
class Chip:
    """A verdict, and the lines that belong to it."""

    text: str
    tone: str
    lines: tuple[str, ...] = ()
    word: str = ""
    """What a reader may filter by."""


@dataclass(frozen=True, slots=True)
class TableRow:
    cells: tuple[str | Chip, ...]
    kind: str = ""
    """"total"; "void": numbers of something invalid; "missing": there are none, and a note says why."""


@dataclass(frozen=True, slots=True)
class TableData:
    caption: str
    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]
    note: str = ""
    """What was left out."""


METHOD, NAME = TableColumn("Method", is_text=True, room="word"), TableColumn("Name", is_text=True, room="long")
MESSAGE = TableColumn("Message", is_text=True, room="long")
VARIANT = TableColumn("Variant", is_text=True, room="word")
KIND = TableColumn("Kind", is_text=True, room="word")
REQUESTS = (
    TableColumn("# Requests"),
    TableColumn("# Fails"),
    TableColumn("Average (ms)"),
    TableColumn("Min (ms)"),
    TableColumn("Max (ms)"),
    TableColumn("Average size (bytes)"),
    TableColumn("RPS"),
    TableColumn("Failures/s"),
)


def number(value: float | None) -> str:
    return NONE if value is None else amount(value)


def locust_tables(
    cells: Sequence[Cell], notes: Footnotes, most: int, *, names_variant: bool, place: str = ""
) -> tuple[TableData, TableData]:
    """The two tables of Locust for cells that stand at one level: requests, and percentiles. most: rows of each; the
    endpoints with the most requests are kept. place: where these cells stand, for the captions: " at 50 users"."""
    left = (METHOD, NAME, VARIANT) if names_variant else (METHOD, NAME)
    keys = list(dict.fromkeys(each.key for cell in cells for each in cell.endpoints))
    shown, note = _busiest(cells, keys, most // max(1, len(cells)))
    by_key = [{**{each.key: each for each in cell.endpoints}, TOTAL: cell.total} for cell in cells]

    def rows(texts: Callable[[EndpointCell], list[str]], width: int) -> tuple[TableRow, ...]:
        found = []
        for key in (*shown, TOTAL):
            for cell, endpoints in zip(cells, by_key, strict=True):
                found += _row(cell, key, endpoints.get(key), texts, width, notes, names_variant=names_variant)
        return tuple(found)

    counts = (replace(each, hint="of all valid runs") for each in REQUESTS[:2])
    percentiles = tuple(TableColumn(f"{each}%") for each in PERCENTILES)
    return (
        TableData(f"Requests{place}", (*left, *counts, *REQUESTS[2:]), rows(_requests, len(REQUESTS)), note),
        TableData(
            f"Percentiles of the times (ms){place}", (*left, *percentiles), rows(_percentiles, len(percentiles)), note
        ),
    )


def _busiest(cells: Sequence[Cell], keys: Sequence[tuple[str, str]], most: int) -> tuple[list[tuple[str, str]], str]:
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
    cell: Cell,
    key: tuple[str, str],
    endpoint: EndpointCell | None,
    texts: Callable[[EndpointCell], list[str]],
    width: int,
    notes: Footnotes,
    *,
    names_variant: bool,
) -> list[TableRow]:
    """One, or none for an endpoint that the cell has not. endpoint: what it has of it."""
    is_total = key == TOTAL
    left = ["", "Aggregated"] if is_total else list(key)
    left += [cell.variant] if names_variant else []
    kind = "total" if is_total else ""
    if endpoint is not None and endpoint.runs:
        return [TableRow((*left, *texts(endpoint)), kind)]
    if cell.reasons and not cell.valid and is_total:
        return [TableRow((*left, *[notes.missing("; ".join(cell.reasons))] * width), "missing")]
    return []


def _requests(of: EndpointCell) -> list[str]:
    return [
        NONE if of.requests is None else words.count(of.requests),
        NONE if of.failures is None else words.count(of.failures),
        *(number(each) for each in (of.mean, of.min, of.max)),
        NONE if of.size is None else words.count(of.size),
        number(of.rate),
        number(of.failures_per_s),
    ]


def _percentiles(of: EndpointCell) -> list[str]:
    return [number(of.max if percent == 100 else of.quantile(percent / 100)) for percent in PERCENTILES]


def verdict_table(analysis: Analysis, most: int) -> TableData:
    """A row for each comparison, the primary ones first. most: of them; the rest is counted."""
    study = analysis.study
    comparisons = sorted(analysis.comparisons, key=lambda each: not each.primary)
    has_operations = len(study.operations) > 1
    pairs = {(each.a, each.b) for each in comparisons}
    one = next(iter(pairs)) if len(pairs) == 1 else None
    columns = [
        *([TableColumn("Operation", is_text=True)] if has_operations else []),
        *([TableColumn("Level")] if len(study.levels) > 1 else []),
        *([] if one else [TableColumn("Compared", is_text=True, room="long")]),
        TableColumn("Endpoint", is_text=True, room="long"),
        TableColumn("Metric", is_text=True, room="word"),
        TableColumn(one[0] if one else "before", hint="geometric mean over runs"),
        TableColumn(one[1] if one else "after", hint="geometric mean over runs"),
        TableColumn("Δ"),
        TableColumn("95 % interval of the ratio"),
        TableColumn("Verdict", is_text=True),
    ]
    rows = []
    for each in comparisons[:most]:
        cells: list[str | Chip] = [
            *([each.operation] if has_operations else []),
            *([str(each.level or "")] if len(study.levels) > 1 else []),
            *([] if one else [f"{each.b} against {each.a}"]),
            words.endpoint(each.endpoint),
            each.metric.text + (" ●" if each.primary else ""),
            *(_with_unit(each, value) for value in (each.a_value, each.b_value)),
            words.change(each),
            words.interval(each) or NONE,
            verdict_chip(analysis, each),
        ]
        rows.append(TableRow(tuple(cells), "void" if each.word == "invalid" else ""))
    left_out = len(comparisons) - most
    note = "● what the question is about." if any(each.primary for each in comparisons) else ""
    if left_out > 0:
        note = f"{note} {left_out} more comparisons are in the CSV and JSON reports.".strip()
    return TableData("Verdicts", tuple(columns), tuple(rows), note)


def _with_unit(comparison: Comparison, value: float | None) -> str:
    if value is None:
        return NONE
    unit = words.unit_of(comparison.metric)
    return f"{words.value(comparison.metric, value)}{'' if unit in ('', '/s') else ' '}{unit}"


def verdict_chip(analysis: Analysis, comparison: Comparison) -> Chip:
    direction = words.direction(comparison)
    text = words.WORDS[comparison.word] if comparison.reason else words.verdict(comparison)
    reason = (comparison.reason,) if comparison.reason else ()
    lines = (*reason, *words.details(comparison, words.RunLength.of(analysis.study, comparison)))
    text += f": {direction}" if direction else ""
    return Chip(text, tone(comparison).split()[0], lines, words.WORDS[comparison.word])


def failure_table(cells: Iterable[tuple[str, Cell]], most: int, place: str = "") -> TableData | None:
    """By cell and message. None when nothing failed. place: for the caption."""
    rows = []
    for label, cell in cells:
        for endpoint in cell.endpoints:
            counts: dict[tuple[str, str], int] = {}
            for run in endpoint.runs:
                for kind in run.kinds:
                    key = (f"HTTP {kind.status}" if kind.status else kind.outcome), kind.message
                    counts[key] = counts.get(key, 0) + kind.count
            for (kind_name, message), count in sorted(counts.items(), key=lambda each: -each[1]):
                of = share(count, endpoint.requests or 0)
                rows.append(TableRow((words.count(count), of, kind_name, label, *endpoint.key, message)))
    if not rows:
        return None
    note = f"{len(rows) - most} more are in the CSV and JSON reports." if len(rows) > most else ""
    columns = (
        TableColumn("# Fails"),
        TableColumn("Share"),
        KIND,
        TableColumn("In", is_text=True),
        METHOD,
        NAME,
        MESSAGE,
    )
    return TableData(f"Failures{place}", columns, tuple(rows[:most]), note)

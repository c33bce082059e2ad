"""A run as tables for the terminal."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from plimsoll.report.document.exceptions import exception_lines
from plimsoll.report.document.remarks import doubts, generator_line, load_line, remarks
from plimsoll.report.load import load_at_length, load_in_short
from plimsoll.report.numbers import milliseconds, seconds, share
from plimsoll.report.render.terminal import alarming, struck
from plimsoll.report.render.text_table import TextColumn, one_line, render
from plimsoll.report.verdict import banner, last_word, threshold_rows
from plimsoll.stats.latency import Latency
from plimsoll.stats.summary import AGREE, EndpointSummary, summarise, summarise_total

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.report.assessment import Assessment
    from plimsoll.report.described import Described
    from plimsoll.stats.view import RunView

PERCENTILES = (50, 60, 70, 80, 90, 95, 99, 100)

MOST_ROWS = 20
"""Failure messages and exceptions shown; the rest is counted and can be had as JSON."""

_METHOD = TextColumn("Method")
_NAME = TextColumn("Name", least=10)


def heading(run: Described, view: RunView) -> str:
    """What the run was: one line, and one each for its warm-up, its phases and its notes."""
    started = datetime.fromtimestamp(run.started).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    parts = [
        f"run {run.id} ({run.status})",
        started,
        seconds(view.duration),
        load_in_short(run.manifest),
        f"against {run.manifest['host']}" if run.manifest.get("host") else "",
    ]
    notes = [f"note: {one_line(note)}" for note in run.notes]
    return "\n".join([", ".join(part for part in parts if part), *load_at_length(run.manifest, view.warmup), *notes])


def tables(view: RunView, assessment: Assessment, width: int | None = None, *, colour: bool = False) -> str:
    """Requests, response times, failures, exceptions, thresholds and the generator's own state.

    For an invalid run the first lines and the last one say so. width: None asks the terminal. colour: for a terminal,
    where the numbers of an invalid run can be struck through.
    """
    sheet = _Sheet(
        width or shutil.get_terminal_size().columns, struck if colour and not assessment.validity.valid else None
    )
    loud = alarming if colour else str
    rows = [*summarise(view), summarise_total(view)]
    sections = [
        banner(assessment.validity, sheet.width, loud),
        *([_requests(rows, sheet), *_times(rows, sheet)] if view.total.outcomes else [["no requests were made"]]),
        _failure_kinds(view, sheet),
        _failure_messages(view, sheet),
        _exceptions(view, sheet.width),
        _thresholds(assessment, sheet),
        _below(view, rows, assessment, sheet.width),
        last_word(assessment.validity, loud),
    ]
    return "\n\n".join("\n".join(section) for section in sections if section)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """What tables are drawn on."""

    width: int
    mark: Callable[[str], str] | None
    """Done to every number, so that it is seen not to count."""

    def table(self, title: str, columns: list[TextColumn], rows: list[list[str]], total: bool = False) -> list[str]:
        """total: the last row is the sum of the others, and gets a rule above it."""
        lines = render(columns, rows, self.width, self.mark)
        if total:
            lines.insert(-1, next(line for line in lines if line.startswith("--")))
        return [title, *lines]


def _requests(rows: list[EndpointSummary], sheet: _Sheet) -> list[str]:
    titles = ("# Requests", "# Fails", "Average", "Min", "Max", "Average size", "RPS", "Failures/s")
    columns = [_METHOD, _NAME, *(TextColumn(title, right=True) for title in titles)]
    return sheet.table("Requests (ms, bytes)", columns, [_request_row(row) for row in rows], total=True)


def _request_row(row: EndpointSummary) -> list[str]:
    times = (row.response.mean, row.response.min, row.response.max)
    return [
        row.method,
        one_line(row.name),
        str(row.requests),
        str(row.failures),
        *(milliseconds(time) for time in times),
        f"{row.average_size:.0f}",
        f"{row.rps:.2f}",
        f"{row.failures_per_s:.2f}",
    ]


def _times(rows: list[EndpointSummary], sheet: _Sheet) -> list[list[str]]:
    """Response times, and where they are not the target's doing alone, service times too."""
    response = _percentiles("Response time percentiles (ms)", rows, [row.response for row in rows], sheet)
    if all(row.service_agrees for row in rows):
        return [response]
    title = "Service time percentiles (ms): what the target took"
    return [response, _percentiles(title, rows, [row.service for row in rows], sheet)]


def _percentiles(title: str, rows: list[EndpointSummary], times: list[Latency], sheet: _Sheet) -> list[str]:
    columns = [_METHOD, _NAME, *(TextColumn(f"{percent}%", right=True) for percent in PERCENTILES)]
    cells = [
        [row.method, one_line(row.name), *(milliseconds(time.quantile(each / 100)) for each in PERCENTILES)]
        for row, time in zip(rows, times, strict=True)
    ]
    return sheet.table(title, columns, cells, total=True)


def _failure_kinds(view: RunView, sheet: _Sheet) -> list[str]:
    failed = view.total.failed_outcomes
    if not failed:
        return []
    titles = ("# Fails", "Share", "Median", "Max")
    columns = [TextColumn("Kind"), *(TextColumn(title, right=True) for title in titles)]
    rows = []
    for each in failed:
        time = Latency.of_response([each])
        shares = str(each.count), share(each.count, view.total.requests)
        rows.append([each.outcome, *shares, milliseconds(time.median), milliseconds(time.max)])
    return sheet.table("Failures by kind, and the time until they failed (ms)", columns, rows)


def _failure_messages(view: RunView, sheet: _Sheet) -> list[str]:
    if not view.failures:
        return []
    columns = [TextColumn("# Fails", right=True), TextColumn("Kind"), _METHOD, _NAME, TextColumn("Message", least=20)]
    rows = [
        [str(each.count), each.outcome, each.method, one_line(each.name), one_line(each.message)]
        for each in view.failures[:MOST_ROWS]
    ]
    return [*sheet.table("Failures by message", columns, rows), *_more(len(view.failures))]


def _exceptions(view: RunView, width: int) -> list[str]:
    if not view.exceptions:
        return []
    lines = [line for each in view.exceptions[:MOST_ROWS] for line in exception_lines(each, width)]
    return ["Exceptions in the users' code", *lines, *_more(len(view.exceptions))]


def _more(number: int) -> list[str]:
    return [f"… and {number - MOST_ROWS} more; `plimsoll show RUN --json` has all"] if number > MOST_ROWS else []


def _thresholds(assessment: Assessment, sheet: _Sheet) -> list[str]:
    if not assessment.thresholds:
        return []
    columns = [
        TextColumn("Threshold", least=20),
        TextColumn("Value", right=True),
        TextColumn("Limit", right=True),
        TextColumn("Detail", least=20),
    ]
    return sheet.table("Thresholds", columns, threshold_rows(assessment.thresholds))


def _below(view: RunView, rows: list[EndpointSummary], assessment: Assessment, width: int) -> list[str]:
    lines = remarks(view, rows[-1].response)
    if view.total.response.count and all(row.service_agrees for row in rows):
        lines.append(f"service times (what the target took) agree with these response times within {100 * AGREE:.0f}%")
    lines += doubts(assessment, width)
    if assessment.is_open:
        lines.append(load_line(view, assessment.max_users))
    return [*lines, generator_line(view.generator)]

"""A run as tables for the terminal."""

from __future__ import annotations

import re
import shutil
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.report.numbers import NONE, amount, counted, milliseconds, seconds, share
from plimsoll.report.table import Column, cut, one_line, render
from plimsoll.stats.latency import Latency
from plimsoll.stats.summary import EndpointSummary, summarise, summarise_total

if TYPE_CHECKING:
    from plimsoll._engine import Histogram
    from plimsoll.record import CaughtException
    from plimsoll.report.described import Described
    from plimsoll.stats.view import GeneratorView, RunView

PERCENTILES = (50, 60, 70, 80, 90, 95, 99, 100)

MOST_ROWS = 20
"""Failure messages and exceptions shown; the rest is counted and can be had as JSON."""

_METHOD = Column("Method")
_NAME = Column("Name", least=10)

_FRAME = re.compile(
    r'^ {2}File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.+)\n(?: {4}(?P<code>\S.*))?', re.MULTILINE
)
_NOT_THE_USERS = ("/site-packages/", "/dist-packages/", "/lib/python3", "<frozen ", str(Path(__file__).parents[1]))


def heading(run: Described, view: RunView) -> str:
    """What the run was: one line, and one per note."""
    started = datetime.fromtimestamp(run.started).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    users = run.manifest.get("users")
    parts = [
        f"run {run.id} ({run.status})",
        started,
        seconds(view.duration),
        f"{users} users" if users is not None else "",
        f"against {run.manifest['host']}" if run.manifest.get("host") else "",
    ]
    return "\n".join([", ".join(part for part in parts if part), *(f"note: {one_line(note)}" for note in run.notes)])


def tables(view: RunView, width: int | None = None) -> str:
    """Requests, response times, failures, exceptions and the generator's own state. width: None asks the terminal."""
    width = width or shutil.get_terminal_size().columns
    rows = [*summarise(view), summarise_total(view)]
    sections = [
        _requests(rows, width) if view.total.outcomes else ["no requests were made"],
        _percentiles(rows, width) if view.total.outcomes else [],
        _failure_kinds(view, width),
        _failure_messages(view, width),
        _exceptions(view, width),
        _remarks(view, rows),
    ]
    return "\n\n".join("\n".join(section) for section in sections if section)


def _requests(rows: list[EndpointSummary], width: int) -> list[str]:
    titles = ("# Requests", "# Fails", "Average", "Min", "Max", "Average size", "RPS", "Failures/s")
    columns = [_METHOD, _NAME, *(Column(title, right=True) for title in titles)]
    return ["Requests (ms, bytes)", *_with_total(render(columns, [_request_row(row) for row in rows], width))]


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


def _percentiles(rows: list[EndpointSummary], width: int) -> list[str]:
    columns = [_METHOD, _NAME, *(Column(f"{percent}%", right=True) for percent in PERCENTILES)]
    cells = [
        [row.method, one_line(row.name), *(milliseconds(row.response.quantile(each / 100)) for each in PERCENTILES)]
        for row in rows
    ]
    return ["Response time percentiles (ms)", *_with_total(render(columns, cells, width))]


def _with_total(lines: list[str]) -> list[str]:
    """A rule above the last row, which is the sum of the others."""
    rule = next(line for line in lines if line.startswith("--"))
    return [*lines[:-1], rule, lines[-1]]


def _failure_kinds(view: RunView, width: int) -> list[str]:
    failed = view.total.failed_outcomes
    if not failed:
        return []
    titles = ("# Fails", "Share", "Median", "Max")
    columns = [Column("Kind"), *(Column(title, right=True) for title in titles)]
    rows = []
    for each in failed:
        time = Latency.of_response([each])
        shares = str(each.count), share(each.count, view.total.requests)
        rows.append([each.outcome, *shares, milliseconds(time.median), milliseconds(time.max)])
    return ["Failures by kind, and the time until they failed (ms)", *render(columns, rows, width)]


def _failure_messages(view: RunView, width: int) -> list[str]:
    if not view.failures:
        return []
    columns = [Column("# Fails", right=True), Column("Kind"), _METHOD, _NAME, Column("Message", least=20)]
    rows = [
        [str(each.count), each.outcome, each.method, one_line(each.name), one_line(each.message)]
        for each in view.failures[:MOST_ROWS]
    ]
    return ["Failures by message", *render(columns, rows, width), *_more(len(view.failures))]


def _exceptions(view: RunView, width: int) -> list[str]:
    if not view.exceptions:
        return []
    lines = ["Exceptions in the users' code"]
    for each in view.exceptions[:MOST_ROWS]:
        lines.append(cut(f"{each.count:>7} × {one_line(_what(each))}", width))
        if where := user_line(each.traceback):
            lines.append(cut(f"{'':>9} {one_line(where)}", width))
    return [*lines, *_more(len(view.exceptions))]


def _what(exception: CaughtException) -> str:
    """The last line of the traceback names the class too."""
    lines = exception.traceback.strip().splitlines()
    first = exception.message.strip().splitlines()[0] if exception.message.strip() else ""
    return lines[-1] if lines and first in lines[-1] else first or (lines[-1] if lines else "")


def user_line(traceback: str) -> str:
    """Where in the user's own files it happened: the last line that is neither a library's nor ours; "" for none."""
    own = [frame for frame in _FRAME.finditer(traceback) if not any(part in frame["file"] for part in _NOT_THE_USERS)]
    if not own:
        return ""
    code = f": {own[-1]['code']}" if own[-1]["code"] else ""
    return f"{own[-1]['file']}:{own[-1]['line']}, in {own[-1]['function']}{code}"


def _more(number: int) -> list[str]:
    return [f"… and {number - MOST_ROWS} more; `plimsoll show RUN --json` has all"] if number > MOST_ROWS else []


def _remarks(view: RunView, rows: list[EndpointSummary]) -> list[str]:
    total = rows[-1].response
    lines = []
    if total.censored:
        lines.append(f"≥: at least; {counted(total.censored, 'timeout')} kept at the limit that ended the wait")
    if total.overflow:
        lines.append(f"longer than 1 h, where percentiles end: {counted(total.overflow, 'exchange')}")
    if view.total.cancelled:
        lines.append(
            f"cut off when their user stopped, and counted nowhere else: {counted(view.total.cancelled, 'exchange')}"
        )
    return [*lines, generator_line(view.generator)]


def generator_line(generator: GeneratorView) -> str:
    """How well the load generator itself kept up."""
    if not generator.workers:
        return "generator: nothing is known of it"
    parts = [
        counted(generator.workers, "worker"),
        f"lag p99 {_p99(generator.lag)}",
        f"delay p99 {_p99(generator.delay)}",
        f"CPU max {100 * generator.cpu_max:.0f}%",
        f"stamps: {_stamps(generator)}",
    ]
    if generator.dropped:
        parts.append(f"{generator.dropped} dropped")
    return f"generator: {', '.join(parts)}"


def _p99(durations: Histogram) -> str:
    return f"{amount(durations.value_at(0.99) / 1000)} ms" if durations.count else NONE


def _stamps(generator: GeneratorView) -> str:
    """Which clock stamped the arrivals."""
    total, user = generator.delay.count, generator.user_stamps
    if user and user >= total:
        return "user"
    rejected = f", {generator.rejected_stamps} of them rejected" if generator.rejected_stamps else ""
    return f"kernel, {user} of {total} user{rejected}" if user else "kernel" if total else NONE

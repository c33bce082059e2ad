"""A run as one HTML page that needs nothing else: the tables of the terminal, and how it went second by second."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from plimsoll.report.chart import Line, line_chart
from plimsoll.report.console import PERCENTILES, heading
from plimsoll.report.exceptions import user_line
from plimsoll.report.numbers import milliseconds
from plimsoll.report.remarks import generator_line, remarks
from plimsoll.report.verdict import INVALID, threshold_rows
from plimsoll.stats.summary import EndpointSummary, summarise, summarise_total

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.report.assessment import Assessment
    from plimsoll.report.described import Described
    from plimsoll.stats.view import RunView

STYLE = """
:root { color-scheme: light dark; --line: light-dark(#d0d4da, #3a4048); --soft: light-dark(#5a626d, #9aa3ae);
  --c0: light-dark(#1f6feb, #58a6ff); --c1: light-dark(#cf222e, #ff7b72); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; } .text { text-align: left; white-space: normal; overflow-wrap: anywhere; }
tr.total td { font-weight: 600; border-top: 2px solid var(--line); }
.invalid { border: 2px solid var(--c1); border-radius: 6px; padding: .6rem 1rem; } .invalid b { color: var(--c1); }
.invalid ~ .numbers td:not(.text) { text-decoration: line-through; }
.soft, figcaption { color: var(--soft); } figure { margin: 1rem 0; } svg { width: 100%; max-width: 760px; }
svg text { font-size: 11px; fill: var(--soft); } svg .grid { stroke: var(--line); }
polyline { fill: none; stroke-width: 1.6; }
polyline.line-0 { stroke: var(--c0); } polyline.line-1 { stroke: var(--c1); }
.key { display: inline-block; width: .8em; height: .25em; margin: 0 .3em 0 1em; vertical-align: middle; }
.key.line-0 { background: var(--c0); } .key.line-1 { background: var(--c1); } pre { overflow-x: auto; }
"""


def html(view: RunView, run: Described | None, assessment: Assessment) -> str:
    """run: None for one that was not kept."""
    title = f"Plimsoll: run {run.id}" if run else "Plimsoll: a run that was not kept"
    sections = [
        f"<h1>{escape(title)}</h1>",
        *(f'<p class="soft">{escape(line)}</p>' for line in (heading(run, view).splitlines() if run else ())),
        _validity(assessment),
        _thresholds(assessment),
        _numbers([*summarise(view), summarise_total(view)]),
        _course(view),
        _failures(view),
        _exceptions(view),
        "<h2>How to read this</h2>",
        *(f'<p class="soft">{escape(line)}</p>' for line in remarks(view, view.total.response_of(view.timed))),
        f'<p class="soft">{escape(generator_line(view.generator))}</p>',
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(section for section in sections if section)
        + "\n</body></html>\n"
    )


def _validity(assessment: Assessment) -> str:
    if assessment.validity.valid:
        return ""
    reasons = "".join(f"<li>{escape(reason)}</li>" for reason in assessment.validity.reasons)
    return f'<div class="invalid"><b>{escape(INVALID)}</b><ul>{reasons}</ul></div>'


def _thresholds(assessment: Assessment) -> str:
    if not assessment.thresholds:
        return ""
    return _table(
        "Thresholds", ("Threshold", "Value", "Limit", "Detail"), threshold_rows(assessment.thresholds), (0, 3)
    )


def _numbers(rows: Sequence[EndpointSummary]) -> str:
    titles = ("Method", "Name", "# Requests", "# Fails", "Average", "Min", "Max", "Average size", "RPS", "Failures/s")
    requests = [
        [
            row.method, row.name, str(row.requests), str(row.failures),
            *(milliseconds(each) for each in (row.response.mean, row.response.min, row.response.max)),
            f"{row.average_size:.0f}", f"{row.rps:.2f}", f"{row.failures_per_s:.2f}",
        ]
        for row in rows
    ]  # fmt: skip
    times = [
        [row.method, row.name, *(milliseconds(row.response.quantile(each / 100)) for each in PERCENTILES)]
        for row in rows
    ]
    headers = ("Method", "Name", *(f"{each}%" for each in PERCENTILES))
    return _table("Requests (ms, bytes)", titles, requests, (0, 1), total=True) + _table(
        "Response time percentiles (ms)", headers, times, (0, 1), total=True
    )


def _course(view: RunView) -> str:
    users = view.generator.users_by_second()
    charts = [
        line_chart(
            "Requests per second",
            [Line("requests", view.total.requests_by_second), Line("failures", view.total.failures_by_second)],
        ),
        line_chart("Users", [Line("users", [users.get(second, 0) for second in range(view.last_second + 1)])]),
    ]
    return f"<h2>Second by second</h2>{''.join(charts)}" if any(charts) else ""


def _failures(view: RunView) -> str:
    if not view.failures:
        return ""
    rows = [[str(each.count), each.outcome, each.method, each.name, each.message] for each in view.failures]
    return _table("Failures", ("# Fails", "Kind", "Method", "Name", "Message"), rows, (1, 2, 3, 4))


def _exceptions(view: RunView) -> str:
    if not view.exceptions:
        return ""
    entries = [
        f"<details><summary>{each.count} × {escape(each.message)} "
        f'<span class="soft">{escape(user_line(each.traceback))}</span></summary>'
        f"<pre>{escape(each.traceback)}</pre></details>"
        for each in view.exceptions
    ]
    return f"<h2>Exceptions in the users' code</h2>{''.join(entries)}"


def _table(
    title: str, headers: Iterable[str], rows: Sequence[Sequence[str]], text: Sequence[int], *, total: bool = False
) -> str:
    """text: the columns with words. total: the last row is the sum of the others."""

    def cell(tag: str, place: int, value: str) -> str:
        kind = ' class="text"' if place in text else ""
        return f"<{tag}{kind}>{escape(value)}</{tag}>"

    head = "".join(cell("th", place, value) for place, value in enumerate(headers))
    lines = ["".join(cell("td", place, value) for place, value in enumerate(row)) for row in rows]
    last = lines.pop() if total else None
    body = "".join(f"<tr>{line}</tr>" for line in lines) + (f'<tr class="total">{last}</tr>' if last else "")
    return (
        f'<div class="numbers"><h2>{escape(title)}</h2><div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></div>"
    )

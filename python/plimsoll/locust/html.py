"""A page with the tables of `environment.stats`, for code that writes its own report.

The report of `plimsoll run --html` is made from the stored run and has more.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from plimsoll.locust.util import format_duration, format_utc_timestamp

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Sequence

    from plimsoll.locust.environment import Environment

PERCENTILES_FOR_HTML_REPORT = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0]

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
body.dark { background: #16191d; color: #dde1e6; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; } th, td { padding: .25rem .7rem; border-bottom: 1px solid #8888; }
td.number { text-align: right; font-variant-numeric: tabular-nums; } pre { margin: 0; white-space: pre-wrap; }
"""
REQUESTS = (
    "Type", "Name", "# Requests", "# Fails", "Average (ms)", "Min (ms)", "Max (ms)", "Average size (bytes)", "RPS",
    "Failures/s",
)  # fmt: skip
FAILURES = ("# Failures", "Method", "Name", "Message", "First Seen", "Last Seen")


def get_html_report(environment: Environment, show_download_link: bool = True, theme: str = "") -> str:
    """A self-contained page. theme: "dark" or light. show_download_link has no effect."""
    stats: Any = environment.runner.stats if environment.runner else environment.stats
    entries = [*(stats.entries[key] for key in sorted(stats.entries)), stats.total]
    start, end = stats.start_time, stats.last_request_timestamp or stats.start_time
    exceptions = environment.runner.exceptions.values() if environment.runner else ()
    facts = [
        f"During: {format_utc_timestamp(start)} – {format_utc_timestamp(end)} ({format_duration(start, end)})",
        f"Target Host: {host_of(environment)}",
        f"Script: {environment.locustfile}",
        *([f"Profile: {environment.profile}"] if environment.profile else []),
    ]
    percents = [f"{100 * each:g}%ile (ms)" for each in PERCENTILES_FOR_HTML_REPORT]
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Load test report</title>',
            f'<style>{STYLE}</style></head><body class="{"dark" if theme == "dark" else "light"}">',
            "<h1>Load test report</h1>",
            *(f"<p>{escape(fact)}</p>" for fact in facts),
            _table("Request Statistics", REQUESTS, map(_request_row, entries)),
            _table("Response Time Statistics", ("Method", "Name", *percents), map(_percentile_row, entries)),
            _table("Failures", FAILURES, map(_failure_row, stats.errors.values())),
            _table("Exceptions", ("# Occurrences", "Message", "Traceback", "Nodes"), map(_exception_row, exceptions)),
            "</body></html>\n",
        ]
    )


def process_html_filename(options: Namespace) -> None:
    """Fill in users, spawn rate and run time for {u}, {r} and {t} in options.html_file."""
    for mark, value in (("{u}", options.num_users), ("{r}", options.spawn_rate), ("{t}", options.run_time)):
        if value is not None:
            options.html_file = options.html_file.replace(mark, f"{value:g}")


def host_of(environment: Environment) -> str | None:
    """The host of the test, or that of all its user classes if they share one."""
    if environment.host:
        return environment.host
    hosts = {each.host for each in environment.user_classes}
    return hosts.pop() if len(hosts) == 1 else None


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = ["".join(_cell(value) for value in row) for row in rows]
    if not lines:
        return ""
    head = "".join(f"<th>{escape(each)}</th>" for each in columns)
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f"<h2>{escape(title)}</h2>\n<table><tr>{head}</tr>\n{body}</table>"


def _cell(value: Any) -> str:
    if isinstance(value, int | float):
        return f'<td class="number">{escape(str(round(value, 2)))}</td>'
    text = "" if value is None else str(value)
    return f"<td><pre>{escape(text)}</pre></td>" if "\n" in text else f"<td>{escape(text)}</td>"


def _request_row(entry: Any) -> Sequence[Any]:
    times = entry.avg_response_time, entry.min_response_time or 0, entry.max_response_time
    sizes_and_rates = entry.avg_content_length, entry.total_rps, entry.total_fail_per_sec
    return entry.method, entry.name, entry.num_requests, entry.num_failures, *times, *sizes_and_rates


def _percentile_row(entry: Any) -> Sequence[Any]:
    times = (entry.get_response_time_percentile(each) for each in PERCENTILES_FOR_HTML_REPORT)
    return entry.method, entry.name, *times


def _failure_row(error: Any) -> Sequence[Any]:
    seen = (format_utc_timestamp(each) for each in (error.first_seen, error.last_seen))
    return error.occurrences, error.method, error.name, str(error.error), *seen


def _exception_row(row: Any) -> Sequence[Any]:
    return row["count"], row["msg"], row["traceback"], ", ".join(sorted(row["nodes"]))

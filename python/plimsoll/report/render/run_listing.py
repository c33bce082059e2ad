"""Runs, a line each: as a table, and as CSV."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from plimsoll.plain_text import one_line
from plimsoll.report.load import load_in_short
from plimsoll.report.render.csv_writer import CsvWriter
from plimsoll.report.render.terminal import TextColumn, render
from plimsoll.say.durations import duration_text
from plimsoll.say.numbers import amount, counted, milliseconds, moments, shares_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.report.run_summary import RunSummary
    from plimsoll.report.sources import Labelled

_COLUMNS = [
    TextColumn("Scenario", least=12),
    TextColumn("Load", right=True, drop=6),
    TextColumn("Duration", right=True, drop=2),
    TextColumn("# Requests", right=True, drop=7),
    TextColumn("# Fails", right=True, drop=4),
    TextColumn("RPS", right=True, drop=3),
    TextColumn("p50 ms", right=True),
    TextColumn("p99 ms", right=True),
    TextColumn("Status", least=12),
]
_TIMES = ("p50", "p99")
_OTAVA_TIMES = ("mean", "p50", "p90", "p95", "p99")
OTAVA_COLUMNS = (
    "time", "run", "commit", "branch", "name", *(f"{each}_ms" for each in _OTAVA_TIMES), "throughput", "error_rate",
)  # fmt: skip
_TAGS = TextColumn("Tags", least=8, drop=5)


def run_list(runs: Sequence[tuple[Labelled, RunSummary]], width: int) -> str:
    """One line per run, in the order given. With their tags, if any of them has some."""
    if not runs:
        return "no runs yet"
    has_tags = any(run.tags for run, _ in runs)
    title, started = moments("Started", (run.started for run, _ in runs))
    rows = [
        [run.id, when, *_row(run, summary), *([one_line(", ".join(run.tags))] if has_tags else [])]
        for (run, summary), when in zip(runs, started, strict=True)
    ]
    marks = shares_line(summary.time(name) for _, summary in runs for name in _TIMES)
    columns = [TextColumn("Run"), TextColumn(title, drop=1), *_COLUMNS]
    lines = render([*columns, *([_TAGS] if has_tags else [])], rows, width)
    return "\n".join([*lines, *([marks] if marks else [])])


def _row(run: Labelled, summary: RunSummary) -> list[str]:
    return [
        one_line(run.manifest.name),
        load_in_short(run.manifest).removeprefix("open model, "),
        duration_text(summary.duration),
        str(summary.requests),
        str(summary.failures),
        amount(summary.rate),
        *(milliseconds(summary.time(name)) for name in _TIMES),
        _status(run, summary),
    ]


def _status(run: Labelled, summary: RunSummary) -> str:
    """How it ended, and what a reader must know before trusting the line. A run that goes on is not judged."""
    if run.status == "running":
        return run.status
    thresholds = run.facts.thresholds or ()
    failed = sum(not each["passed"] for each in thresholds)
    marks = [
        *([] if summary.is_valid else ["invalid"]),
        *([f"✗ {failed} of {counted(len(thresholds), 'threshold')}"] if failed else []),
    ]
    return ", ".join(marks if marks and run.status == "finished" else [run.status, *marks])


def otava_csv(runs: Iterable[tuple[Labelled, RunSummary]]) -> str:
    """For Apache Otava: a line for each valid run that has ended, the earliest first.

    Throughput is in requests per second, the error rate from 0 to 1; a time is empty where it is not known, or only
    known to be at least so long.
    """
    buffer = io.StringIO()
    writer = CsvWriter(buffer, lineterminator="\n")
    writer.writerow(OTAVA_COLUMNS)
    for run, summary in sorted(runs, key=lambda each: each[0].started):
        if run.status not in ("finished", "stopped") or not summary.is_valid or not summary.requests:
            continue
        manifest = run.manifest
        times = [None if each in summary.at_least else summary.times[each] for each in _OTAVA_TIMES]
        about = manifest.commit, manifest.branch
        started = datetime.fromtimestamp(run.started, UTC).strftime("%Y-%m-%d %H:%M:%S +0000")
        writer.writerow([started, run.id, *about, manifest.name, *times, summary.rate, summary.fail_ratio])
    return buffer.getvalue()

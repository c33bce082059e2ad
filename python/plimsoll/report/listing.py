"""Runs as a table, a line each."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from plimsoll.report.load import load_in_short
from plimsoll.report.numbers import counted, milliseconds, seconds
from plimsoll.report.table import Column, one_line, render
from plimsoll.stats.summary import summarise_total
from plimsoll.stats.validity import judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.report.described import Described
    from plimsoll.stats.view import RunView

_COLUMNS = [
    Column("Run"),
    Column("Started"),
    Column("Scenario", least=8),
    *(Column(title, right=True) for title in ("Load", "Duration", "# Requests", "# Fails", "RPS", "p50 ms", "p99 ms")),
    Column("Status"),
]


def run_list(runs: Sequence[tuple[Described, RunView]], width: int) -> str:
    """One line per run, in the order given."""
    if not runs:
        return "no runs yet"
    return "\n".join(render(_COLUMNS, [_row(run, view) for run, view in runs], width))


def _row(run: Described, view: RunView) -> list[str]:
    total = summarise_total(view)
    scenario = run.manifest.get("scenario") or {}
    return [
        run.id,
        datetime.fromtimestamp(run.started).astimezone().strftime("%m-%d %H:%M"),
        one_line(str(scenario.get("name", ""))),
        load_in_short(run.manifest).removeprefix("open model, "),
        seconds(view.duration),
        str(total.requests),
        str(total.failures),
        f"{total.rps:.1f}",
        milliseconds(total.response.median),
        milliseconds(total.response.quantile(0.99)),
        _status(run, view),
    ]


def _status(run: Described, view: RunView) -> str:
    """How it ended, and what a reader must know before trusting the line. A run that goes on is not judged."""
    if run.status == "running":
        return run.status
    thresholds = run.facts.get("thresholds") or ()
    failed = sum(not each["passed"] for each in thresholds)
    marks = [
        *([] if judge(view, run.manifest, run.facts).valid else ["invalid"]),
        *([f"✗ {failed} of {counted(len(thresholds), 'threshold')}"] if failed else []),
    ]
    return ", ".join(marks if marks and run.status == "finished" else [run.status, *marks])

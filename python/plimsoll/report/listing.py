"""Runs as a table, a line each."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from plimsoll.report.numbers import milliseconds, seconds
from plimsoll.report.table import Column, one_line, render
from plimsoll.stats.summary import summarise_total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.report.described import Described
    from plimsoll.stats.view import RunView

_COLUMNS = [
    Column("Run"),
    Column("Started"),
    Column("Scenario", least=8),
    *(Column(title, right=True) for title in ("Users", "Duration", "# Requests", "# Fails", "RPS", "p50 ms", "p99 ms")),
    Column("Status"),
]


def run_list(runs: Sequence[tuple[Described, RunView]], width: int) -> str:
    """One line per run, in the order given."""
    if not runs:
        return "no runs yet"
    return "\n".join(render(_COLUMNS, [_row(run, view) for run, view in runs], width))


def _row(run: Described, view: RunView) -> list[str]:
    total = summarise_total(view)
    scenario, users = run.manifest.get("scenario") or {}, run.manifest.get("users")
    return [
        run.id,
        datetime.fromtimestamp(run.started).astimezone().strftime("%m-%d %H:%M"),
        one_line(str(scenario.get("name", ""))),
        "" if users is None else str(users),
        seconds(view.duration),
        str(total.requests),
        str(total.failures),
        f"{total.rps:.1f}",
        milliseconds(total.response.median),
        milliseconds(total.response.quantile(0.99)),
        run.status,
    ]

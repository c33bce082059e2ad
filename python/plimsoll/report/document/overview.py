"""The table of the load generator, and what tables with a row for each run have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.report.document.blocks import TableColumn, TableData, TableRow
from plimsoll.report.document.tables import VARIANT
from plimsoll.say.numbers import NONE, count, known, share

if TYPE_CHECKING:
    from plimsoll.stats.study import Study, Trial

MOST_RUNS = 400
"""Rows of a table with one for each run."""


def generator_table(study: Study) -> TableData | None:
    """A row for each run. None when nothing is known of the generator."""
    trials = [trial for trial in study.trials if trial.generator is not None]
    if not trials:
        return None
    columns = (
        *run_columns(study),
        TableColumn("Lag p99 (ms)", hint="one request in a hundred was sent at least this late"),
        TableColumn("Delay p99 (ms)", hint="one response in a hundred lay unread at least this long"),
        TableColumn("CPU max", hint="busiest second of the busiest worker"),
        TableColumn("Achieved / offered"),
        TableColumn("Dropped"),
        TableColumn("Valid", is_text=True, room="long"),
    )
    rows = []
    for trial in trials[:MOST_RUNS]:
        health = trial.generator
        assert health is not None
        numbers = (
            known(health.lag_p99),
            known(health.delay_p99),
            NONE if health.cpu_max is None else f"{100 * health.cpu_max:.0f} %",
            NONE if health.achieved is None or trial.model == "closed" else share(health.achieved, 1.0),
            NONE if health.dropped is None else count(health.dropped),
        )
        rows.append(TableRow((*run_cells(study, trial), *numbers, "; ".join(trial.invalid) or "yes")))
    note = f"{len(trials) - MOST_RUNS} more runs are in the JSON report." if len(trials) > MOST_RUNS else ""
    return TableData("The load generator, run by run", columns, tuple(rows), note)


def run_columns(study: Study) -> tuple[TableColumn, ...]:
    return (
        *([TableColumn("Operation", is_text=True)] if len(study.operations) > 1 else []),
        *([VARIANT] if len(study.variants) > 1 else []),
        TableColumn("Level"),
        TableColumn("Repeat"),
    )


def run_cells(study: Study, trial: Trial) -> tuple[str, ...]:
    return (
        *([trial.operation] if len(study.operations) > 1 else []),
        *([trial.variant] if len(study.variants) > 1 else []),
        str(trial.level or NONE),
        str(study.number_of(trial)),
    )

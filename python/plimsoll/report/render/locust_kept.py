"""Locust's CSV files of a run that is kept, as they would have been written while it went on."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from plimsoll.report.assessment import assess
from plimsoll.report.render.locust_csv import CsvFiles
from plimsoll.stats.left_out import first_second
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.record import Health, Interval
    from plimsoll.store import StoredRun


def csv_tables(run: StoredRun, prefix: str) -> None:
    """Everything but the history: see `CsvFiles`. Raises StoreError, UsageError."""
    view = RunView.of(run)
    files = CsvFiles(prefix, of_locustfile=bool((run.manifest.get("plan") or {}).get("locustfiles")))
    files.check()
    files.finish(view, assess(view, run.manifest, run.facts))


def csv_history(run: StoredRun, prefix: str, full_history: bool = False) -> None:
    """The history, a line for each second; full_history: and for each endpoint. Raises StoreError, UsageError."""
    files = CsvFiles(prefix, full_history)
    files.check()
    view = RunView(first_second(run.manifest, run.facts), run.manifest.get("times_of") or "all")
    for second, intervals, health in _seconds(run):
        view.add(intervals, health)
        # A second of a worker may come in several rows, of which only one carries its state.
        users = {row.worker: 0 for row in health}
        for row in health:
            users[row.worker] = max(users[row.worker], row.users)
        files.history(view, run.started + second + 1, sum(users.values()))


def _seconds(run: StoredRun) -> Iterator[tuple[int, list[Interval], list[Health]]]:
    """In their order; what is decoded of a second is forgotten with it."""
    by_second = attrgetter("second")
    intervals = groupby(run.intervals(), by_second)
    health = groupby(run.health(), by_second)
    next_intervals, next_health = next(intervals, None), next(health, None)
    while next_intervals is not None or next_health is not None:
        second = min(each[0] for each in (next_intervals, next_health) if each is not None)
        found: tuple[list[Interval], list[Health]] = [], []
        if next_intervals is not None and next_intervals[0] == second:
            found[0].extend(next_intervals[1])
            next_intervals = next(intervals, None)
        if next_health is not None and next_health[0] == second:
            found[1].extend(next_health[1])
            next_health = next(health, None)
        yield second, *found

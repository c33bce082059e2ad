"""Periodic readings of the statistics: points of the charts, and reports of workers to the main node."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import gevent

from plimsoll.locust.stats import settings
from plimsoll.locust.stats.percentiles import diff_response_time_dicts
from plimsoll.report.render.locust_csv import iso_time

if TYPE_CHECKING:
    from plimsoll.locust.runners import Runner
    from plimsoll.locust.stats.entry import StatsEntryDict
    from plimsoll.locust.stats.request_stats import RequestStats

_SUMS = ("num_requests", "num_none_requests", "num_failures", "total_response_time", "total_content_length")
_COUNTS = ("response_times", "num_reqs_per_sec", "num_fail_per_sec")


def update_stats_history(runner: Runner, timestamp: str | None = None) -> None:
    """Add a point: {"time": …, "user_count": [time, number], "current_rps": [time, number], …}. Times in ms."""
    total = runner.stats.total
    now = timestamp or iso_time(time.time())
    values: dict[str, Any] = {
        f"response_time_percentile_{each}": total.get_current_response_time_percentile(each) or 0
        for each in settings.PERCENTILES_TO_CHART
    }
    values |= {
        "current_rps": total.current_rps,
        "current_fail_per_sec": total.current_fail_per_sec,
        "total_avg_response_time": total.avg_response_time,
        "user_count": runner.user_count,
    }
    runner.stats.history.append({**{name: [now, value] for name, value in values.items()}, "time": now})


def stats_history(runner: Runner) -> None:
    """Runs in a greenlet: add a point every HISTORY_STATS_INTERVAL_SEC seconds during a test."""
    while True:
        if runner.state not in ("ready", "stopped"):
            update_stats_history(runner)
        gevent.sleep(settings.HISTORY_STATS_INTERVAL_SEC)


class StatsReports:
    """Each call returns the changes since the last one, or since a later reset of the statistics.

    {"stats": [a StatsEntryDict for each endpoint with requests], "stats_total": StatsEntryDict, "errors": {key: …}}.
    Minimum and maximum response time are those of all requests so far.
    """

    def __init__(self, stats: RequestStats) -> None:
        self._stats = stats
        self._since = stats.start_time
        self._before: dict[tuple[str, str], Any] = {}
        """Rows at the last call, by (name, method); the total has no method."""
        self._errors: dict[str, int] = {}

    def __call__(self) -> dict[str, Any]:
        stats = self._stats
        if stats.start_time != self._since:
            self._since, self._before, self._errors = stats.start_time, {}, {}
        rows = [self._new(row) for row in stats.serialize_stats()]
        errors = {}
        for key, error in stats.serialize_errors().items():
            count, self._errors[key] = error["occurrences"] - self._errors.get(key, 0), error["occurrences"]
            if count:
                errors[key] = {**error, "occurrences": count}
        return {
            "stats": [row for row in rows if row["num_requests"]],
            "stats_total": self._new(stats.total.serialize()),
            "errors": errors,
        }

    def _new(self, row: StatsEntryDict) -> Any:
        now: dict[str, Any] = dict(row)
        key = row["name"], row["method"]
        before, self._before[key] = self._before.get(key), now
        if before is None:
            return now
        return {
            **now,
            **{name: now[name] - before[name] for name in _SUMS},
            **{name: diff_response_time_dicts(now[name], before[name]) for name in _COUNTS},
        }

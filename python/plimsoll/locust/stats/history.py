"""`RequestStats.history`: points of the charts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import gevent

from plimsoll.locust.stats import settings
from plimsoll.report.render.locust_csv import iso_time

if TYPE_CHECKING:
    from plimsoll.locust.runners import Runner


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
    """Runs in a greenlet: add a point every HISTORY_STATS_INTERVAL_SEC seconds while a test is going on."""
    while True:
        if runner.state not in ("ready", "stopped"):
            update_stats_history(runner)
        gevent.sleep(settings.HISTORY_STATS_INTERVAL_SEC)

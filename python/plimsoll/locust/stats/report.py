"""What came to the statistics since the last report, as Locust's workers tell it to the main node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.locust.stats.percentiles import diff_response_time_dicts

if TYPE_CHECKING:
    from plimsoll.locust.stats.entry import StatsEntryDict
    from plimsoll.locust.stats.request_stats import RequestStats

_SUMS = ("num_requests", "num_none_requests", "num_failures", "total_response_time", "total_content_length")
_COUNTS = ("response_times", "num_reqs_per_sec", "num_fail_per_sec")


class StatsReports:
    """Each call returns what is new since the last one, or since the statistics were reset after that.

    {"stats": [a StatsEntryDict for each endpoint with requests], "stats_total": StatsEntryDict, "errors": {key: …}}.
    Smallest and largest response time are those of all requests so far.
    """

    def __init__(self, stats: RequestStats) -> None:
        self._stats = stats
        self._since = stats.start_time
        self._told: dict[tuple[str, str], Any] = {}
        """Rows as they were at the last call, by (name, method); the total has no method."""
        self._errors: dict[str, int] = {}

    def __call__(self) -> dict[str, Any]:
        stats = self._stats
        if stats.start_time != self._since:
            self._since, self._told, self._errors = stats.start_time, {}, {}
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
        before, self._told[key] = self._told.get(key), now
        if before is None:
            return now
        return {
            **now,
            **{name: now[name] - before[name] for name in _SUMS},
            **{name: diff_response_time_dicts(now[name], before[name]) for name in _COUNTS},
        }

"""The numbers for Locust's page, made from the snapshot of a live run: Locust's keys, in ms, bytes and seconds.

`plimsoll.locust.web.routes` gives the same responses to programs that use Plimsoll as a library.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from plimsoll.record import frames_of
from plimsoll.report.render.locust_csv import error_text, failure_key, nodes
from plimsoll.server.live.feed import IN_PROGRESS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.server.live.snapshot import LiveSnapshot
    from plimsoll.server.messages import EndpointRow, FailureItem, LogLine, TaskRatio, Test, WorkerItem

MOST_ROWS = 500
"""Endpoints, or failures, in one response."""
COLUMNS = {
    "num_requests": "requests",
    "num_failures": "failures",
    "min_response_time": "min",
    "max_response_time": "max",
    "current_rps": "current_rps",
    "current_fail_per_sec": "current_failures_per_s",
    "avg_response_time": "mean",
    "median_response_time": "p50",
    "total_rps": "rps",
    "total_fail_per_sec": "failures_per_s",
    "response_time_percentile_0.95": "p95",
    "response_time_percentile_0.99": "p99",
    "avg_content_length": "size",
}
"""Attributes of an `EndpointRow` by Locust's names. None there is 0 here."""


def statistics(snapshot: LiveSnapshot, test: Test | None, *, of_locustfile: bool) -> dict[str, Any]:
    """The response of /stats/requests. of_locustfile: failures have Locust's texts for those of a locustfile."""
    total = snapshot.total
    aggregated = {"method": "", "name": "Aggregated", **dict.fromkeys(COLUMNS, 0)} if total is None else _entry(total)
    again = ("current_rps", "current_fail_per_sec", "total_rps", "total_fail_per_sec")
    return {
        "stats": [*map(_entry, snapshot.in_order()[:MOST_ROWS]), aggregated],
        "errors": _errors(snapshot.failures, of_locustfile),
        **{name: aggregated[name] for name in again},
        "fail_ratio": total.failures / total.requests if total is not None and total.requests else 0.0,
        "current_response_time_percentiles": {
            "response_time_percentile_0.5": None if total is None else total.current_p50,
            "response_time_percentile_0.95": None if total is None else total.current_p95,
        },
        **(_workers(snapshot.workers, test) if test is not None and test.workers > 1 else {}),
        "state": state(test),
        "user_count": 0 if test is None else test.users,
    }


def state(test: Test | None) -> str:
    """The state of a test, under Locust's names."""
    if test is None:
        return "ready"
    if test.status == "preparing":
        return "spawning"
    return test.status if test.status in IN_PROGRESS else "stopped"


def worker_count(test: Test | None) -> int:
    """0 in a run without separate processes, as in Locust."""
    return test.workers if test is not None and test.workers > 1 and test.status in IN_PROGRESS else 0


def exceptions(snapshot: LiveSnapshot, workers: int) -> dict[str, Any]:
    """workers: their number."""
    rows = [
        {
            "count": each.count,
            "msg": each.message,
            "traceback": frames_of(each.traceback),
            "nodes": nodes(each.workers, workers),
        }
        for each in snapshot.exceptions
    ]
    return {"exceptions": rows}


def tasks(ratios: Sequence[TaskRatio]) -> dict[str, Any]:
    return {"per_class": _ratios(ratios, "ratio"), "total": _ratios(ratios, "total")}


def logs(lines: Iterable[LogLine]) -> dict[str, Any]:
    """Workers log to the log of the process."""
    return {"master": [_line(each) for each in lines], "workers": {}}


def _entry(row: EndpointRow) -> dict[str, Any]:
    numbers = {name: getattr(row, column) or 0 for name, column in COLUMNS.items()}
    return {"method": row.method, "name": row.name, **numbers}


def _errors(failures: Iterable[FailureItem], of_locustfile: bool) -> list[dict[str, Any]]:
    """As in Locust, failures of different kinds with the same text are one row."""
    found: dict[str, dict[str, Any]] = {}
    for each in failures:
        text = error_text(each.method, each.message) if of_locustfile else each.message
        known = found.setdefault(
            failure_key(each.method, each.name, text),
            {
                "method": each.method,
                "name": each.name,
                "error": text,
                "occurrences": 0,
                "first_seen": each.first,
                "last_seen": each.last,
            },
        )
        known["occurrences"] += each.count
        known["first_seen"] = min(known["first_seen"], each.first)
        known["last_seen"] = max(known["last_seen"], each.last)
    return list(found.values())[:MOST_ROWS]


def _workers(items: Iterable[WorkerItem], test: Test) -> dict[str, Any]:
    """CPU in percent; the memory of each worker is unknown."""
    workers = [
        {
            "id": f"worker-{each.index}",
            "state": state(test),
            "user_count": each.users,
            "cpu_usage": 100 * each.cpu,
            "memory_usage": None,
        }
        for each in items
        if not each.is_lost
    ]
    return {"workers": workers, "worker_count": worker_count(test)}


def _ratios(ratios: Sequence[TaskRatio], name: str) -> dict[str, Any]:
    return {
        each.name: {"ratio": getattr(each, name), **({"tasks": _ratios(each.tasks, name)} if each.tasks else {})}
        for each in ratios
    }


def _line(line: LogLine) -> str:
    """A line without a level stays unchanged."""
    if not line.level:
        return line.text
    moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(line.at))
    return f"[{moment},{int(line.at % 1 * 1000):03d}] {line.level}: {line.text}"

"""Locust's JSON: a list with one object per endpoint, all of them filled; only the times are not rounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.record import NO_REQUESTS
from plimsoll.report.text import dumps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.report.sources import OutputRequest, RunSource
    from plimsoll.stats.view import EndpointView, RunView


def locust_json(source: RunSource, request: OutputRequest) -> str:
    """Times are in ms, sizes in bytes, times of day Unix seconds.

    A second is known by its beginning, so `last_request_timestamp` is the end of the last second with a request.
    """
    view = source.view
    entries = [_entry(each, view, source.started) for each in view.endpoints if each.completed]
    return dumps(entries, indent=4) + "\n"


def _entry(endpoint: EndpointView, view: RunView, started: float) -> dict[str, Any]:
    timed = endpoint.interval_of(view.timed)
    untimed = sum(each.untimed for outcome, each in endpoint.outcomes.items() if outcome not in NO_REQUESTS)
    seconds = [second for second, count in enumerate(endpoint.requests_by_second) if count]
    return {
        "name": endpoint.name,
        "method": endpoint.method,
        "last_request_timestamp": started + seconds[-1] + 1 if seconds else None,
        "start_time": started + view.warmup,
        "num_requests": endpoint.completed,
        "num_none_requests": untimed,
        "num_failures": endpoint.completed_failures,
        "total_response_time": timed.response_sum / 1e6,
        "max_response_time": timed.response_max / 1e6,
        "min_response_time": timed.response_min / 1e6 if timed.timed else None,
        "total_content_length": endpoint.body_bytes,
        "response_times": {f"{micros / 1000:g}": count for micros, count in timed.response.buckets()},
        "num_reqs_per_sec": _per_second(endpoint.requests_by_second, started),
        "num_fail_per_sec": _per_second(endpoint.failures_by_second, started),
    }


def _per_second(counts: Sequence[int], started: float) -> dict[str, int]:
    return {str(int(started) + second): count for second, count in enumerate(counts) if count}

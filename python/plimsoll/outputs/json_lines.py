"""A JSON object a line: one when the run starts, one a second, one for each event."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.outputs.delivery import DeliveredOutput, Delivery
from plimsoll.outputs.transports import FileTransport, HttpTransport, http_headers, is_http

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll._engine import Histogram
    from plimsoll.outputs.kinds import OutputTarget
    from plimsoll.outputs.output import OutputEvent, OutputSecond
    from plimsoll.outputs.transports import Transport
    from plimsoll.stats.latency.milliseconds import Latency
    from plimsoll.stats.totals import Totals

CONTENT_TYPE = "application/x-ndjson"
QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


class JsonLines(DeliveredOutput):
    def __init__(self, target: OutputTarget) -> None:
        """The URL is a path, "-" for stdout, or the URL of an HTTP server. Raises UsageError."""
        transport: Transport
        if is_http(target.url):
            transport = HttpTransport(target.url, CONTENT_TYPE, http_headers(target.settings))
        elif not target.url or "://" in target.url:
            raise UsageError("say where to: a file, - for stdout, or http://host:port/path")
        elif target.settings:
            raise UsageError("header is for a URL")
        else:
            transport = FileTransport(target.url)
        super().__init__(Delivery(target.name, transport, is_of_lines=True))

    def second(self, second: OutputSecond) -> None:
        timed = self._run.timed
        self._put(
            "second",
            second.time,
            {
                "second": second.second,
                "state": second.state,
                "total": _row(second.total, timed),
                "endpoints": [_row(endpoint, timed) for endpoint in second.endpoints],
                "generator": _generator(second),
                "validity": {
                    "valid": second.is_valid,
                    "reasons": list(second.reasons),
                    "remarks": list(second.remarks),
                },
                "thresholds": [
                    {"text": result.text, "outcome": result.outcome, "value": result.value, "unit": result.unit}
                    for result in second.thresholds
                ],
            },
        )

    def event(self, event: OutputEvent) -> None:
        self._put(event.kind, event.time, {"text": event.text, **event.details})

    def _put(self, type: str, time: float, fields: Mapping[str, Any]) -> None:
        line = {"type": type, "run": self._run.id, "time": time, **fields}
        self._delivery.put(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def _row(totals: Totals, timed: frozenset[str]) -> dict[str, Any]:
    counts = totals.counts
    return {
        "method": totals.method,
        "name": totals.name,
        "requests": totals.requests,
        "failures": totals.failures,
        "unanswered": totals.unanswered,
        "dropped": totals.dropped,
        "outcomes": {outcome: interval.count for outcome, interval in sorted(totals.outcomes.items())},
        "bytes_out": counts.bytes_out,
        "bytes_in": counts.bytes_in,
        "response_ms": _times(totals.response_of(timed)),
        "service_ms": _times(totals.service_of(timed)),
    }


def _times(latency: Latency) -> dict[str, Any]:
    figures = latency.named(QUANTILES) | {"mean": latency.mean, "max": latency.max}
    return {
        "count": latency.count,
        **{name: None if time is None else time.value for name, time in figures.items()},
        "at_least": [name for name, time in figures.items() if time is not None and time.at_least],
        "share": {name: time.share for name, time in figures.items() if time is not None and time.share},
    }


def _generator(second: OutputSecond) -> dict[str, Any]:
    state = second.generator
    return {
        "workers": state.workers,
        "users": state.users,
        "wanted": second.wanted,
        "in_flight": state.in_flight,
        "waiting": state.waiting,
        "offered": state.offered,
        "dropped": state.dropped,
        "cpu": state.cpu,
        "lag_ms": _lateness(state.lag),
        "delay_ms": _lateness(state.delay),
    }


def _lateness(times: Histogram) -> dict[str, float | None]:
    if not times.count:
        return {"p50": None, "p99": None, "max": None}
    half, most = times.values_at((0.5, 0.99))
    return {"p50": half / 1000, "p99": most / 1000, "max": times.max / 1000}

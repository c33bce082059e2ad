"""InfluxDB's line protocol: over HTTP for the versions 1, 2 and 3, over UDP, or into a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from plimsoll.errors import UsageError
from plimsoll.outputs.delivery import DeliveredOutput, Delivery
from plimsoll.outputs.transports import (
    FileTransport,
    HttpTransport,
    UdpTransport,
    host_and_port,
    http_headers,
    is_http,
)
from plimsoll.plain_text import one_line
from plimsoll.stats.latency.milliseconds import ms_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.outputs.kinds import OutputTarget
    from plimsoll.outputs.output import OutputEvent, OutputSecond
    from plimsoll.outputs.transports import Transport
    from plimsoll.stats.totals import Totals

ENDPOINT, GENERATOR, EVENT = "plimsoll", "plimsoll_run", "plimsoll_event"
"""Measurements: a line per endpoint and second, a line per second, a line per event."""
QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
TOKEN_VARIABLE = "INFLUX_TOKEN"
_NAME_ESCAPES = str.maketrans({",": r"\,", "=": r"\=", " ": r"\ "})
_TEXT_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\""})

FieldValue = float | int | bool | str | None


class InfluxLines(DeliveredOutput):
    def __init__(self, target: OutputTarget) -> None:
        """Raises UsageError."""
        super().__init__(Delivery(target.name, _transport(target), is_of_lines=True))
        self._event_nanos = 0

    def second(self, second: OutputSecond) -> None:
        nanos, tags = round(second.time * 1e9), {"run": self._run.id, **self._run.labels}
        timed, state = self._run.timed, second.generator
        lines = [
            line(ENDPOINT, {**tags, "method": row.method, "name": row.name}, _fields(row, timed), nanos)
            for row in second.endpoints
        ]
        generator = {
            **_fields(second.total, timed),
            "user_count": state.users,
            "user_count_wanted": second.wanted,
            "workers": state.workers,
            "in_flight": state.in_flight,
            "waiting": state.waiting,
            "arrivals": state.offered,
            "dropped_arrivals": state.dropped,
            "cpu": state.cpu,
            "lag_p99_ms": ms_at(state.lag, 0.99),
            "delay_p99_ms": ms_at(state.delay, 0.99),
            "valid": int(second.is_valid),  # a number: InfluxQL has no sum or minimum of booleans
            "thresholds_broken": sum(result.outcome == "broken" for result in second.thresholds),
        }
        lines.append(line(GENERATOR, tags, generator, nanos))
        self._delivery.put(b"".join(lines))

    def event(self, event: OutputEvent) -> None:
        tags = {"run": self._run.id, **self._run.labels, "kind": event.kind}
        verdict = event.details.get("verdict")
        fields: dict[str, FieldValue] = {"text": event.text, "verdict": verdict}
        # Two events of one kind at one time would be one point.
        self._event_nanos = max(round(event.time * 1e9), self._event_nanos + 1)
        self._delivery.put(line(EVENT, tags, fields, self._event_nanos))


def _fields(totals: Totals, timed: frozenset[str]) -> dict[str, FieldValue]:
    counts, latency = totals.counts, totals.response_of(timed)
    times = latency.named(QUANTILES) | {"mean": latency.mean, "max": latency.max}
    most = times["p99"]
    return {
        "requests": totals.requests,
        "failures": totals.failures,
        "unanswered": totals.unanswered,
        "dropped": totals.dropped,
        "bytes_out": counts.bytes_out,
        "bytes_in": counts.bytes_in,
        **{f"{name}_ms": None if time is None else time.value for name, time in times.items()},
        "p99_share_ms": None if most is None else most.share,
    }


def line(measurement: str, tags: Mapping[str, str], fields: Mapping[str, FieldValue], nanos: int) -> bytes:
    """One line. Tags and fields without a value are left out."""
    tagged = "".join(f",{name}={_tag(value)}" for name, value in sorted(tags.items()) if value)
    valued = ",".join(f"{name}={_field(value)}" for name, value in fields.items() if value is not None)
    return f"{measurement}{tagged} {valued} {nanos}\n".encode()


def _tag(value: str) -> str:
    """A value cannot have line breaks. A backslash at its end would escape what follows."""
    text = one_line(value).translate(_NAME_ESCAPES)
    return f"{text}_" if text.endswith("\\") else text


def _field(value: FieldValue) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return f"{value}i"
        case str():
            return f'"{one_line(value).translate(_TEXT_ESCAPES)}"'
        case _:
            return repr(value)


def _transport(target: OutputTarget) -> Transport:
    """Raises UsageError."""
    if is_http(target.url):
        headers = http_headers(target.settings)
        token = target.settings.get("token") or os.environ.get(TOKEN_VARIABLE)
        if token and "Authorization" not in headers:
            headers["Authorization"] = f"{'Bearer' if _is_version_3(target) else 'Token'} {token}"
        return HttpTransport(_write_url(target), "text/plain; charset=utf-8", headers)
    if target.settings:
        raise UsageError(f"{next(iter(target.settings))} is for a URL of the form http://host:8086")
    if target.url.startswith("udp://"):
        return UdpTransport(*host_and_port(target.url.removeprefix("udp://")))
    if not target.url or "://" in target.url:
        raise UsageError("say where to: http://host:8086, udp://host:8089, a file, or - for stdout")
    return FileTransport(target.url)


def _is_version_3(target: OutputTarget) -> bool:
    return target.settings.get("version") == "3" or "/api/v3/" in target.url


def _write_url(target: OutputTarget) -> str:
    """A URL with a path is complete. Without one, `bucket` is for version 2, `db` for version 1, or for version 3 with
    version=3."""
    parts, settings = urlsplit(target.url), target.settings
    if parts.path not in ("", "/"):
        return target.url
    if "bucket" in settings:
        path, asked = "/api/v2/write", {"org": settings.get("org", ""), "bucket": settings["bucket"], "precision": "ns"}
    elif "db" not in settings:
        raise UsageError("say which database, db=NAME, or which bucket, bucket=NAME,org=NAME")
    elif _is_version_3(target):
        path, asked = "/api/v3/write_lp", {"db": settings["db"], "precision": "nanosecond"}
    else:
        path, asked = "/write", {"db": settings["db"], "precision": "ns"}
    return urlunsplit(parts._replace(path=path, query=urlencode(asked, quote_via=quote)))

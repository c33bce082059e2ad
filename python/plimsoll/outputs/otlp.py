"""Metrics by OpenTelemetry's protocol over HTTP, with the semantic conventions for HTTP clients.

https://opentelemetry.io/docs/specs/otlp/#otlphttp, and the variables OTEL_EXPORTER_OTLP_…, which SDKs read as well.
"""

from __future__ import annotations

import gzip
import os
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    AGGREGATION_TEMPORALITY_CUMULATIVE,
    AGGREGATION_TEMPORALITY_DELTA,
    Metric,
)

from plimsoll._engine import Histogram
from plimsoll.errors import UsageError
from plimsoll.outputs.delivery import DeliveredOutput, Delivery
from plimsoll.outputs.exponential import exponential_buckets
from plimsoll.outputs.transports import HttpTransport, http_headers, interval_of
from plimsoll.record import FAILURES, NO_REQUESTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.outputs.kinds import OutputTarget
    from plimsoll.outputs.output import OutputRun, OutputSecond, Undelivered

DEFAULT_URL = "http://localhost:4318"
PATH = "/v1/metrics"
HTTP_METHODS = frozenset({"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"})
"""Of the semantic conventions. Other methods are `_OTHER` there."""
Attributes = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Times:
    """Times of one series since the start of its counting."""

    histogram: Histogram = field(default_factory=Histogram)
    """Times in µs."""
    sum_s: float = 0.0

    def add(self, times: Histogram, sum_s: float) -> None:
        if times.count:
            self.histogram.add(times)
            self.sum_s += sum_s


@dataclass(slots=True)
class _Sums:
    """What is counted since the start, or with deltas since the last message."""

    requests: dict[Attributes, int] = field(default_factory=dict)
    service: dict[Attributes, _Times] = field(default_factory=dict)
    response: dict[Attributes, _Times] = field(default_factory=dict)
    lag: _Times = field(default_factory=_Times)
    delay: _Times = field(default_factory=_Times)
    offered: int = 0
    dropped: int = 0


class OtlpMetrics(DeliveredOutput):
    def __init__(self, target: OutputTarget) -> None:
        """Without a URL: the one of the variables. Settings: `interval`, whole seconds, and `header`. Raises
        UsageError."""
        protocol = _variable("PROTOCOL")
        if protocol not in ("", "http/protobuf"):
            raise UsageError(f"OTEL_EXPORTER_OTLP_PROTOCOL is {protocol}; figures are sent by http/protobuf only")
        self._interval = interval_of(target.settings)
        self._is_gzip = _variable("COMPRESSION") == "gzip"
        headers = {**_headers(_variable("HEADERS")), **http_headers(target.settings)}
        if self._is_gzip:
            headers["Content-Encoding"] = "gzip"
        transport = HttpTransport(
            _url(target.url), "application/x-protobuf", headers, authorities=_variable("CERTIFICATE") or None
        )
        super().__init__(Delivery(target.name, transport, is_of_lines=False))
        self._is_delta = _variable("TEMPORALITY_PREFERENCE").lower() == "delta"
        self._temporality = AGGREGATION_TEMPORALITY_DELTA if self._is_delta else AGGREGATION_TEMPORALITY_CUMULATIVE
        self._sums = _Sums()
        self._since_nanos = self._unsent = 0
        self._server: Attributes = ()
        self._last: OutputSecond | None = None

    def open(self, run: OutputRun) -> None:
        self._since_nanos = round(run.started * 1e9)
        self._server = _server_of(run.host)
        super().open(run)

    def second(self, second: OutputSecond) -> None:
        sums, timed = self._sums, self._run.timed
        for row in second.endpoints:
            for outcome, interval in row.outcomes.items():
                if outcome in NO_REQUESTS:
                    continue
                series = self._series(row.method, row.name, outcome)
                sums.requests[series] = sums.requests.get(series, 0) + interval.count
                if outcome in timed:
                    sums.service.setdefault(series, _Times()).add(interval.service, interval.service_sum / 1e9)
                    sums.response.setdefault(series, _Times()).add(interval.response, interval.response_sum / 1e9)
        state = second.generator
        sums.lag.add(state.lag, state.lag.mean * state.lag.count / 1e6)
        sums.delay.add(state.delay, state.delay.mean * state.delay.count / 1e6)
        sums.offered += state.offered
        sums.dropped += state.dropped
        self._last = second
        self._unsent += 1
        if self._unsent >= self._interval:
            self._send()

    def flush(self, timeout_s: float) -> Undelivered | None:
        self._send()
        return super().flush(timeout_s)

    def _series(self, method: str, name: str, outcome: str) -> Attributes:
        """The attributes of exchanges that ended with this outcome."""
        known = method if method in HTTP_METHODS else "_OTHER"
        original = () if known == method else (("http.request.method_original", method),)
        failed = (("error.type", outcome),) if outcome in FAILURES else ()
        return (("http.request.method", known), *original, ("url.template", name), *self._server, *failed)

    def _send(self) -> None:
        if self._last is None or not self._unsent:
            return
        time_nanos = round(self._last.time * 1e9)
        message = self._message(self._run, self._last, time_nanos).SerializeToString()
        self._delivery.put(gzip.compress(message, 1) if self._is_gzip else message, self._unsent)
        self._unsent = 0
        if self._is_delta:
            self._sums, self._since_nanos = _Sums(), time_nanos

    def _message(self, run: OutputRun, last: OutputSecond, time_nanos: int) -> ExportMetricsServiceRequest:
        message, sums = ExportMetricsServiceRequest(), self._sums
        resource = message.resource_metrics.add()
        for key, value in resource_attributes(run).items():
            _attribute(resource.resource.attributes, key, value)
        scope = resource.scope_metrics.add()
        scope.scope.name, scope.scope.version = "plimsoll", run.version
        times = self._since_nanos, time_nanos
        histograms: tuple[tuple[str, str, Mapping[Attributes, _Times]], ...] = (
            ("http.client.request.duration", "From sent to the arrival of the response.", sums.service),
            ("plimsoll.response.duration", "From due to the arrival of the response.", sums.response),
            ("plimsoll.lag", "How late the load generator sent.", {(): sums.lag}),
            ("plimsoll.delay", "How long responses lay unread.", {(): sums.delay}),
        )
        for name, text, series in histograms:
            if any(entry.histogram.count for entry in series.values()):
                self._histogram(scope.metrics.add(name=name, description=text, unit="s"), series, times)
        counters: tuple[tuple[str, str, Mapping[Attributes, int]], ...] = (
            ("plimsoll.requests", "{request}", sums.requests),
            ("plimsoll.arrivals", "{arrival}", {(): sums.offered}),
            ("plimsoll.dropped_arrivals", "{arrival}", {(): sums.dropped}),
        )
        for name, unit, counts in counters:
            self._counter(scope.metrics.add(name=name, unit=unit), counts, times)
        state = last.generator
        gauges: tuple[tuple[str, str, float], ...] = (
            ("plimsoll.users", "{user}", state.users),
            ("plimsoll.requests.active", "{request}", state.in_flight),
            ("plimsoll.arrivals.waiting", "{arrival}", state.waiting),
            ("plimsoll.workers", "{worker}", state.workers),
            ("plimsoll.worker.cpu.utilization", "1", state.cpu),
            ("plimsoll.valid", "1", int(last.is_valid)),
        )
        for name, unit, number in gauges:
            scope.metrics.add(name=name, unit=unit).gauge.data_points.add(time_unix_nano=time_nanos, as_double=number)
        if last.thresholds:
            broken = scope.metrics.add(name="plimsoll.threshold.broken", unit="1")
            for result in last.thresholds:
                is_broken = float(result.outcome == "broken")
                point = broken.gauge.data_points.add(time_unix_nano=time_nanos, as_double=is_broken)
                _attribute(point.attributes, "plimsoll.threshold", result.text)
        return message

    def _counter(self, metric: Metric, counts: Mapping[Attributes, int], times: tuple[int, int]) -> None:
        metric.sum.is_monotonic = True
        metric.sum.aggregation_temporality = self._temporality
        for attributes, count in counts.items():
            point = metric.sum.data_points.add(start_time_unix_nano=times[0], time_unix_nano=times[1], as_int=count)
            for key, value in attributes:
                _attribute(point.attributes, key, value)

    def _histogram(self, metric: Metric, series: Mapping[Attributes, _Times], times: tuple[int, int]) -> None:
        metric.exponential_histogram.aggregation_temporality = self._temporality
        for attributes, entry in series.items():
            if not entry.histogram.count:
                continue
            buckets = exponential_buckets(entry.histogram)
            point = metric.exponential_histogram.data_points.add(
                start_time_unix_nano=times[0],
                time_unix_nano=times[1],
                count=entry.histogram.count,
                sum=entry.sum_s,
                scale=buckets.scale,
                zero_count=buckets.zeros,
                min=entry.histogram.min / 1e6,
                max=entry.histogram.max / 1e6,
            )
            point.positive.offset = buckets.offset
            point.positive.bucket_counts.extend(buckets.counts)
            for key, value in attributes:
                _attribute(point.attributes, key, value)


def resource_attributes(run: OutputRun) -> dict[str, str]:
    """Attributes of the run. Attributes in environment variables replace the others."""
    named = os.environ.get("OTEL_SERVICE_NAME", "")
    own = {
        "service.name": "plimsoll",
        "service.version": run.version,
        "service.instance.id": run.id,
        "host.name": socket.gethostname(),
        "plimsoll.run": run.id,
        "plimsoll.scenario": run.name,
        "plimsoll.model": run.model,
        "vcs.ref.head.revision": run.commit,
        **_headers(os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")),
        **({"service.name": named} if named else {}),
    }
    return {key: text for key, text in own.items() if text}


def _attribute(attributes: Any, key: str, value: str) -> None:
    added = attributes.add()
    added.key, added.value.string_value = key, value


def _variable(name: str) -> str:
    """The variable's value for metrics, else its value for all signals; "" if neither is set."""
    values = (os.environ.get(f"OTEL_EXPORTER_OTLP_{signal}{name}") for signal in ("METRICS_", ""))
    return next((value.strip() for value in values if value), "")


def _url(url: str) -> str:
    if not url and (own := os.environ.get("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")):
        return own  # complete, unlike that of all signals
    base = url or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or DEFAULT_URL
    return base if base.endswith(PATH) else f"{base.rstrip('/')}{PATH}"


def _headers(text: str) -> dict[str, str]:
    """key=value,key=value with the values percent-encoded, as the variables have them."""
    pairs = (pair.partition("=") for pair in text.split(","))
    return {key.strip(): unquote(value.strip()) for key, equals, value in pairs if equals and key.strip()}


def _server_of(host: str) -> Attributes:
    """Attributes of the target, if there is one target and it has a URL."""
    try:
        parts = urlsplit(host)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return ()
    if not parts.hostname or "," in host:
        return ()
    return (("server.address", parts.hostname), *((("server.port", str(port)),) if port else ()))

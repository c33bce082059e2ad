"""Metrics with the semantic conventions for HTTP clients."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    AGGREGATION_TEMPORALITY_CUMULATIVE,
    AGGREGATION_TEMPORALITY_DELTA,
    Metric,
)

from plimsoll._engine import Histogram
from plimsoll.outputs.exponential import exponential_buckets
from plimsoll.outputs.otlp.resource import fill_resource, request_attributes, set_attribute
from plimsoll.record import NO_REQUESTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.outputs.otlp.resource import Attributes
    from plimsoll.outputs.output import OutputRun, OutputSecond


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


class MetricSums:
    """Adds up seconds, and makes messages of the sums."""

    _run: OutputRun
    """From `begin` on."""

    def __init__(self, *, is_delta: bool) -> None:
        """is_delta: a message has what is new since the last one, and not the sums since the start."""
        self._is_delta = is_delta
        self._temporality = AGGREGATION_TEMPORALITY_DELTA if is_delta else AGGREGATION_TEMPORALITY_CUMULATIVE
        self._sums = _Sums()
        self._since_nanos = 0
        self._server: Attributes = ()
        self._last: OutputSecond | None = None

    def begin(self, run: OutputRun, server: Attributes) -> None:
        """server: attributes of the target."""
        self._run, self._server, self._since_nanos = run, server, round(run.started * 1e9)

    def add(self, second: OutputSecond) -> None:
        sums, timed = self._sums, self._run.timed
        for row in second.endpoints:
            for outcome, interval in row.outcomes.items():
                if outcome in NO_REQUESTS:
                    continue
                series = request_attributes(row.method, row.name, outcome, self._server)
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

    def message(self) -> bytes:
        """ExportMetricsServiceRequest. At least one second was added."""
        assert self._last is not None
        time_nanos = round(self._last.time * 1e9)
        message = self._message(self._run, self._last, time_nanos).SerializeToString()
        if self._is_delta:
            self._sums, self._since_nanos = _Sums(), time_nanos
        return message

    def _message(self, run: OutputRun, last: OutputSecond, time_nanos: int) -> ExportMetricsServiceRequest:
        message, sums = ExportMetricsServiceRequest(), self._sums
        resource = message.resource_metrics.add()
        fill_resource(resource.resource, run)
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
                set_attribute(point.attributes, "plimsoll.threshold", result.text)
        return message

    def _counter(self, metric: Metric, counts: Mapping[Attributes, int], times: tuple[int, int]) -> None:
        metric.sum.is_monotonic = True
        metric.sum.aggregation_temporality = self._temporality
        for attributes, count in counts.items():
            point = metric.sum.data_points.add(start_time_unix_nano=times[0], time_unix_nano=times[1], as_int=count)
            for key, value in attributes:
                set_attribute(point.attributes, key, value)

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
                set_attribute(point.attributes, key, value)

"""Requests of OpenTelemetry's protocol, in protobuf and in JSON, as spans and points."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple

from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_DELTA

from plimsoll.observe.instruments import MetricPoint
from plimsoll.observe.spans import TraceSpan

PROTOBUF, JSON = "application/x-protobuf", "application/json"
MOST_TEXT = 200
"""Maximum characters of a name or of an attribute."""
MOST_ATTRIBUTES = 128
"""Of a span, a point or a service; SDKs send no more."""
_FAILED = 2
"""The code of a span's status."""
_IDS = frozenset({"traceId", "spanId", "parentSpanId", "trace_id", "span_id", "parent_span_id"})
"""Fields that are hexadecimal in JSON, unlike in protobuf's mapping."""


class Telemetry(NamedTuple):
    """The content of one request."""

    spans: tuple[TraceSpan, ...] = ()
    points: tuple[MetricPoint, ...] = ()


def traces(body: bytes, kind: str) -> Telemetry:
    """Raises ValueError, like the functions below."""
    request = ExportTraceServiceRequest()
    _read(request, body, kind)
    return Telemetry(spans=tuple(_spans(request)))


def metrics(body: bytes, kind: str) -> Telemetry:
    request = ExportMetricsServiceRequest()
    _read(request, body, kind)
    return Telemetry(points=tuple(_points(request)))


def logs(body: bytes, kind: str) -> Telemetry:
    """Accepted and discarded: an SDK that sends all signals must not fail."""
    return Telemetry()


def _read(message: Message, body: bytes, kind: str) -> None:
    try:
        if kind == PROTOBUF:
            message.ParseFromString(body)
        else:
            value = json.loads(body)
            if not isinstance(value, dict):
                raise ValueError("the body is not an object")
            json_format.ParseDict(_as_protobuf(value), message, ignore_unknown_fields=True)
    except (DecodeError, json_format.ParseError, RecursionError, UnicodeDecodeError) as error:
        raise ValueError(" ".join(str(error).split())[:MOST_TEXT] or type(error).__name__) from error


def _as_protobuf(value: Any) -> Any:
    """JSON with ids as in protobuf's own mapping."""
    if isinstance(value, dict):
        return {
            key: _base64(inner) if key in _IDS and isinstance(inner, str) else _as_protobuf(inner)
            for key, inner in value.items()
        }
    return [_as_protobuf(each) for each in value] if isinstance(value, list) else value


def _base64(digits: str) -> str:
    return base64.b64encode(bytes.fromhex(digits)).decode()


def _spans(request: ExportTraceServiceRequest) -> Iterable[TraceSpan]:
    for resource in request.resource_spans:
        service = _texts(resource.resource.attributes).get("service.name", "unknown_service")
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield TraceSpan(
                    service,
                    span.kind,
                    span.name[:MOST_TEXT],
                    span.start_time_unix_nano,
                    span.end_time_unix_nano,
                    span.status.code == _FAILED,
                    span.trace_id.hex(),
                    _texts(span.attributes),
                )


def _points(request: ExportMetricsServiceRequest) -> Iterable[MetricPoint]:
    for resource in request.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                yield from _points_of(metric)


def _points_of(metric: Any) -> Iterable[MetricPoint]:
    match metric.WhichOneof("data"):
        case "gauge":
            for each in metric.gauge.data_points:
                yield _number(metric, each, "gauge", is_delta=False)
        case "sum":
            is_delta = metric.sum.aggregation_temporality == AGGREGATION_TEMPORALITY_DELTA
            # A sum that can decrease, e.g. a number of connections, is a gauge elsewhere.
            kind = "counter" if metric.sum.is_monotonic or is_delta else "gauge"
            for each in metric.sum.data_points:
                yield _number(metric, each, kind, is_delta=is_delta)
        case "histogram" | "exponential_histogram" as name:
            data = getattr(metric, name)
            is_delta = data.aggregation_temporality == AGGREGATION_TEMPORALITY_DELTA
            for each in data.data_points:
                named = _named(metric, each)
                yield MetricPoint(
                    named, metric.unit[:MOST_TEXT], each.time_unix_nano, each.sum, "histogram", each.count, is_delta
                )


def _number(metric: Any, point: Any, kind: str, *, is_delta: bool) -> MetricPoint:
    value = point.as_double if point.WhichOneof("value") == "as_double" else point.as_int
    return MetricPoint(
        _named(metric, point), metric.unit[:MOST_TEXT], point.time_unix_nano, float(value), kind, is_delta=is_delta
    )


def _named(metric: Any, point: Any) -> str:
    """In Prometheus's notation."""
    labels = ",".join(f'{key}="{value}"' for key, value in sorted(_texts(point.attributes).items()))
    return f"{metric.name[:MOST_TEXT]}{f'{{{labels}}}' if labels else ''}"


def _texts(attributes: Iterable[Any]) -> Mapping[str, str]:
    found = {}
    for each in islice(attributes, MOST_ATTRIBUTES):
        kind = each.value.WhichOneof("value")
        if kind in ("string_value", "int_value", "bool_value", "double_value"):
            found[each.key[:MOST_TEXT]] = str(getattr(each.value, kind))[:MOST_TEXT]
    return found

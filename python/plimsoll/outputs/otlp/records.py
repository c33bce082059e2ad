"""Events of a run as log records, and requests as spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import (
    SEVERITY_NUMBER_ERROR,
    SEVERITY_NUMBER_INFO,
    SEVERITY_NUMBER_WARN,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from plimsoll._engine import is_trace_sampled, trace_parent
from plimsoll.outputs.otlp.resource import fill_resource, request_attributes, set_attribute
from plimsoll.outputs.output import masked
from plimsoll.record import FAILURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.outputs.otlp.resource import Attributes
    from plimsoll.outputs.output import OutputEvent, OutputRun
    from plimsoll.record import TracedRequest

_INFO = frozenset({"start", "phase", "note", "load_changed", "worker_returned"})
_SAMPLED = 1


def log_message(run: OutputRun, event: OutputEvent) -> bytes:
    """ExportLogsServiceRequest with one record, whose body is the sentence of the event."""
    message = ExportLogsServiceRequest()
    logs = message.resource_logs.add()
    fill_resource(logs.resource, run)
    scope = logs.scope_logs.add()
    scope.scope.name, scope.scope.version = "plimsoll", run.version
    severity, text = _severity(event)
    nanos = round(event.time * 1e9)
    record = scope.log_records.add(
        time_unix_nano=nanos, observed_time_unix_nano=nanos, severity_number=severity, severity_text=text,
        event_name=f"plimsoll.{event.kind}",
    )  # fmt: skip
    record.body.string_value = event.text
    for key, value in event.details.items():
        set_attribute(record.attributes, f"plimsoll.{key}", value)
    return message.SerializeToString()


def _severity(event: OutputEvent) -> tuple[Any, str]:
    is_error = event.kind == "end" and event.details.get("verdict") != "passed"
    is_insight = event.kind == "finding" and event.details.get("weight") == "insight"
    if is_error:
        return SEVERITY_NUMBER_ERROR, "ERROR"
    if event.kind in _INFO or event.kind == "end" or is_insight:
        return SEVERITY_NUMBER_INFO, "INFO"
    return SEVERITY_NUMBER_WARN, "WARN"


def span_message(run: OutputRun, requests: Sequence[TracedRequest], server: Attributes) -> bytes:
    """ExportTraceServiceRequest with a span per request, which is the parent of the target's span. server: attributes
    of the target."""
    message = ExportTraceServiceRequest()
    spans = message.resource_spans.add()
    fill_resource(spans.resource, run)
    scope = spans.scope_spans.add()
    scope.scope.name, scope.scope.version = "plimsoll", run.version
    for request in requests:
        end = run.started + request.second
        name, trace = masked(request.name), int(request.trace[16:], 16)
        is_sampled = run.trace_share is None or is_trace_sampled(trace, run.trace_share)
        span = scope.spans.add(
            trace_id=bytes.fromhex(request.trace),
            span_id=trace_parent(trace).to_bytes(8, "big"),
            flags=_SAMPLED if is_sampled else 0,
            name=f"{request.method} {name}",
            kind=Span.SPAN_KIND_CLIENT,
            start_time_unix_nano=round((end - request.service_ms / 1000) * 1e9),
            end_time_unix_nano=round(end * 1e9),
        )
        for key, value in request_attributes(request.method, name, request.outcome, server):
            set_attribute(span.attributes, key, value)
        set_attribute(span.attributes, "plimsoll.response.duration", request.response_ms / 1000)
        if request.outcome in FAILURES:
            span.status.code = Status.STATUS_CODE_ERROR
    return message.SerializeToString()

"""What a receiver says of a message that it took: it may have refused a part of it.

https://opentelemetry.io/docs/specs/otlp/#partial-success
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from plimsoll.outputs.output import OutputError
from plimsoll.plain_text import one_line
from plimsoll.redact import redact
from plimsoll.say.numbers import counted

if TYPE_CHECKING:
    from plimsoll.outputs.otlp.settings import Signal

MOST_LETTERS = 200
"""Of what the receiver says."""
_RESPONSES: dict[Signal, tuple[Any, str, str]] = {
    "metrics": (ExportMetricsServiceResponse, "rejected_data_points", "data point"),
    "logs": (ExportLogsServiceResponse, "rejected_log_records", "log record"),
    "traces": (ExportTraceServiceResponse, "rejected_spans", "span"),
}
"""By signal: the message, its number of what was refused, and what that is called."""


def check_response(signal: Signal, reply: bytes) -> None:
    """Raises OutputError if a part of the message was refused. A reply in another format says nothing."""
    kind, field, name = _RESPONSES[signal]
    try:
        partial = kind.FromString(reply).partial_success
    except DecodeError:
        return
    if refused := getattr(partial, field):
        text = one_line(redact(partial.error_message))[:MOST_LETTERS]
        raise OutputError(f"{counted(refused, name)} of a message refused" + (f": {text}" if text else ""))

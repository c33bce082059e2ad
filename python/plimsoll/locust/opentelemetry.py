"""`--otel` as in Locust 2.47: OpenTelemetry's SDK in each process of a run, with metrics, spans and logs under Locust's
names. The environment variables of the SDK say where they go; the default is OTLP over gRPC.

Locust makes spans by instrumenting `requests`. The engine sends requests itself, so spans are made here of the
`request` event: of all user classes, with the same names, and without a header to the target.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from plimsoll.locust.legacy import LOCUST_VERSION
from plimsoll.users.events import events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

logger = logging.getLogger("locust.opentelemetry")
MAX_REQUEST_NAMES = 20
request_names: set[str] = set()
"""Names of requests that are attributes of their own; the others share one."""
OTHERS = "Too many unique request names"
OtelSignal = Literal["traces", "metrics", "logs"]
_EXPORTERS: dict[OtelSignal, tuple[str, str]] = {
    "traces": ("trace_exporter", "OTLPSpanExporter"),
    "metrics": ("metric_exporter", "OTLPMetricExporter"),
    "logs": ("_log_exporter", "OTLPLogExporter"),
}
"""By signal: module and class of the exporter by OTLP."""


def setup_opentelemetry(locustfile: str, profile: str | None) -> bool:
    """Whether something is exported. It is said in the log if the SDK, or a part of it, is not installed."""
    try:
        from opentelemetry.sdk.resources import Resource
    except ImportError:
        logger.error(
            "OpenTelemetry SDK is not installed, opentelemetry not enabled. Run 'pip install opentelemetry-sdk "
            "opentelemetry-exporter-otlp'"
        )
        return False
    wanted = {signal: _wanted(signal) for signal in _EXPORTERS}
    if all(names == {"none"} for names in wanted.values()):
        logger.info("No OpenTelemetry exporters configured, opentelemetry not enabled")
        return False
    resource = Resource.create({
        "service.name": os.getenv("OTEL_SERVICE_NAME", "locust"),
        "service.version": LOCUST_VERSION,
        "host.name": socket.gethostname(),
        "filename": locustfile,
        "profile": profile or "",
    })  # fmt: skip
    ends: list[Callable[[], Any]] = []
    if wanted["traces"]:
        ends.append(_export_traces(resource, wanted["traces"]))
    if wanted["metrics"]:
        ends.append(_export_metrics(resource, wanted["metrics"]))
    if wanted["logs"]:
        ends.append(_export_logs(resource, wanted["logs"]))

    def end(**_: Any) -> None:
        for shut_down in ends:
            shut_down()

    events.quit.add_listener(end)
    return True


def _wanted(signal: OtelSignal) -> set[str]:
    names = os.getenv(f"OTEL_{signal.upper()}_EXPORTER", "otlp").split(",")
    return {name.strip().lower() for name in names if name.strip()}


def _otlp_exporter(signal: OtelSignal) -> Any:
    """None, and a line in the log, if the package of its protocol is not installed."""
    protocol = os.getenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    protocol = os.getenv(f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL", protocol).lower().strip()
    part = {"grpc": "grpc", "http/protobuf": "http", "http": "http"}.get(protocol)
    if part is None:
        logger.warning("Unknown OpenTelemetry otlp exporter protocol '%s'. Use 'grpc' or 'http/protobuf'", protocol)
        return None
    module, name = _EXPORTERS[signal]
    try:
        exporter = getattr(import_module(f"opentelemetry.exporter.otlp.proto.{part}.{module}"), name)
        if part == "grpc":
            # Threads of gRPC would otherwise block the greenlets of all users.
            from grpc.experimental import gevent

            gevent.init_gevent()
    except ImportError:
        package = f"opentelemetry-exporter-otlp-proto-{part}"
        logger.warning("OpenTelemetry otlp exporter for '%s' is not available. Please install %s", protocol, package)
        return None
    return exporter()


def _exporters(signal: OtelSignal, names: set[str], console: Callable[[], Any]) -> Iterator[tuple[str, Any]]:
    """(name, exporter) of those that there are."""
    for name in sorted(names - {"none"}):
        if name == "console":
            yield name, console()
        elif name != "otlp":
            logger.warning("Unknown %s exporter '%s'. Ignored", signal, name)
        elif (exporter := _otlp_exporter(signal)) is not None:
            yield name, exporter


def _export_traces(resource: Any, names: set[str]) -> Callable[[], Any]:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor

    provider = TracerProvider(resource=resource)
    for name, exporter in _exporters("traces", names, ConsoleSpanExporter):
        provider.add_span_processor((SimpleSpanProcessor if name == "console" else BatchSpanProcessor)(exporter))
    trace.set_tracer_provider(provider)
    tracer = trace.get_tracer("locust")

    def add_span(request_type: str, name: str, response_time: float, exception: Any, **context: Any) -> None:
        end = time.time_ns()
        # Where a request was made within a span of the locustfile, that one is the parent.
        start = end - round((response_time or 0.0) * 1e6)
        span = tracer.start_span(f"{request_type} {name}", kind=trace.SpanKind.CLIENT, start_time=start)
        if span.is_recording():
            span.set_attribute("http.request.method", request_type)
            if url := context.get("url"):
                span.set_attribute("url.full", str(url))
            if status := getattr(context.get("response"), "status_code", None):
                span.set_attribute("http.response.status_code", status)
            if exception:
                span.set_attribute("error.type", type(exception).__name__)
                span.set_status(trace.Status(trace.StatusCode.ERROR, str(exception)))
        span.end(end)

    if names != {"none"}:
        events.request.add_listener(add_span)
    return provider.shutdown


def _export_metrics(resource: Any, names: set[str]) -> Callable[[], Any]:
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import ConsoleMetricExporter, PeriodicExportingMetricReader

    exporters = _exporters("metrics", names, ConsoleMetricExporter)
    provider = MeterProvider(
        resource=resource, metric_readers=[PeriodicExportingMetricReader(exporter) for _, exporter in exporters]
    )
    metrics.set_meter_provider(provider)
    meter = metrics.get_meter("locust")
    duration = meter.create_histogram("locust.client.duration", unit="s", description="Time to last byte for requests")

    def record(name: str, response_time: float, exception: Any, **_: Any) -> None:
        if len(request_names) < MAX_REQUEST_NAMES:
            request_names.add(name)
        attributes = {"name": name if name in request_names else OTHERS}
        if exception:
            attributes["error.type"] = type(exception).__name__
        duration.record((response_time or 0.0) / 1000.0, attributes)

    def count_users(runner: Any, **_: Any) -> None:
        def observe(_: Any) -> Iterator[Any]:
            for user_class, count in runner.user_classes_count.items():
                yield metrics.Observation(count, {"user_class": user_class})

        if runner is not None:
            meter.create_observable_gauge(
                "locust.users.count", [observe], "{user}", "Number of currently running Locust users"
            )

    events.request.add_listener(record)
    events.init.add_listener(count_users)
    return provider.shutdown


def _export_logs(resource: Any, names: set[str]) -> Callable[[], Any]:
    from opentelemetry import _logs
    from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
    from opentelemetry.sdk._logs.export import (
        BatchLogRecordProcessor,
        ConsoleLogRecordExporter,
        SimpleLogRecordProcessor,
    )

    provider = LoggerProvider(resource=resource)
    for name, exporter in _exporters("logs", names, ConsoleLogRecordExporter):
        processor = SimpleLogRecordProcessor if name == "console" else BatchLogRecordProcessor
        provider.add_log_record_processor(processor(exporter))
    _logs.set_logger_provider(provider)
    handler = LoggingHandler(logger_provider=provider)
    handler.name = "opentelemetry"
    for name in ("", "locust"):  # those of Locust do not propagate
        logging.getLogger(name).addHandler(handler)
    return provider.shutdown

"""Sends traces to an OpenTelemetry receiver: requests with their view, SQL statements, and calls."""

from opentelemetry import trace as traces
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.django import DjangoInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.instrumentation.urllib3 import URLLib3Instrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


def trace() -> None:
    """Call it once in each process. OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_SERVICE_NAME set the receiver and the name."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), schedule_delay_millis=1000))
    traces.set_tracer_provider(provider)
    DjangoInstrumentor().instrument(response_hook=_name_view)
    PsycopgInstrumentor().instrument(enable_commenter=False)
    URLLib3Instrumentor().instrument()


def _name_view(span, request, response) -> None:  # type: ignore[no-untyped-def]
    match = getattr(request, "resolver_match", None)
    if match is None or not span.is_recording():
        return
    view = getattr(match.func, "cls", None)
    action = getattr(match.func, "actions", {}).get(request.method.lower(), "")
    name = f"{view.__name__}.{action}" if view is not None and action else getattr(match.func, "__name__", "")
    span.set_attribute("code.function.name", name)

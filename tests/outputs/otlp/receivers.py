"""A gRPC server with OpenTelemetry's three services, and OpenTelemetry's own collector."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from tests.command import wait_until

from plimsoll.experiment.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.outputs.receiver import Receiver

COLLECTOR = Path(__file__).parents[3] / "target" / "otel-collector"
"""`make otel-collector` builds it: ten minutes of CPU."""
REQUESTS = {
    "/v1/metrics": metrics_service_pb2.ExportMetricsServiceRequest,
    "/v1/logs": logs_service_pb2.ExportLogsServiceRequest,
    "/v1/traces": trace_service_pb2.ExportTraceServiceRequest,
}


@dataclass
class GrpcReceiver:
    url: str = ""
    messages: list[Any] = field(default_factory=list)
    """Requests that were answered with OK."""
    metadata: list[dict[str, str]] = field(default_factory=list)
    rejects: int = 0
    """Data points, log records or spans that each response says to have refused."""
    refuse: Callable[[], grpc.StatusCode | None] = lambda: None
    """The status of the next response; None is OK."""


@contextmanager
def grpc_receiving(
    port: int = 0, certificate: tuple[str, str] | None = None, senders: str | None = None
) -> Iterator[GrpcReceiver]:
    """certificate: its own, and the key; None: no TLS. senders: the file of the authority of the certificates that
    senders must have; None: they need none."""
    receiver = GrpcReceiver()

    def answering(response: Any) -> Any:
        def export(self: Any, request: Any, context: grpc.ServicerContext) -> Any:
            if (status := receiver.refuse()) is not None:
                context.abort(status, "not now")
            receiver.messages.append(request)
            receiver.metadata.append(dict(context.invocation_metadata()))
            answer = response()
            if receiver.rejects:
                answer.partial_success.error_message = "too old"
                for field in answer.partial_success.DESCRIPTOR.fields:
                    if field.name.startswith("rejected_"):
                        setattr(answer.partial_success, field.name, receiver.rejects)
            return answer

        return export

    server = grpc.server(ThreadPoolExecutor(4))
    for module, services, name, response in (
        (metrics_service_pb2_grpc, "Metrics", "MetricsService", metrics_service_pb2.ExportMetricsServiceResponse),
        (logs_service_pb2_grpc, "Logs", "LogsService", logs_service_pb2.ExportLogsServiceResponse),
        (trace_service_pb2_grpc, "Trace", "TraceService", trace_service_pb2.ExportTraceServiceResponse),
    ):
        servicer = type(services, (getattr(module, f"{name}Servicer"),), {"Export": answering(response)})()
        getattr(module, f"add_{name}Servicer_to_server")(servicer, server)
    address = f"127.0.0.1:{port}"
    if certificate is None:
        receiver.url = f"http://127.0.0.1:{server.add_insecure_port(address)}"
    else:
        chain, key = (Path(path).read_bytes() for path in certificate)
        authority = Path(senders).read_bytes() if senders else None
        credentials = grpc.ssl_server_credentials([(key, chain)], authority, authority is not None)
        receiver.url = f"https://127.0.0.1:{server.add_secure_port(address, credentials)}"
    server.start()
    try:
        yield receiver
    finally:
        server.stop(None).wait()


@contextmanager
def collector(folder: Path, receiver: Receiver) -> Iterator[dict[str, str]]:
    """The URLs of a real collector by protocol, which sends what it gets on to a receiver. Skips the test if none was
    built."""
    if not COLLECTOR.exists():
        pytest.skip("no collector: make otel-collector")
    http, grpc_port = free_port(), free_port()
    protocols = {"http": {"endpoint": f"127.0.0.1:{http}"}, "grpc": {"endpoint": f"127.0.0.1:{grpc_port}"}}
    exporter = {"endpoint": receiver.url, "compression": "none", "sending_queue": {"enabled": False}}
    pipeline = {"receivers": ["otlp"], "exporters": ["otlp_http"]}
    config = {
        "receivers": {"otlp": {"protocols": protocols}},
        "exporters": {"otlp_http": exporter},
        "service": {
            "telemetry": {"metrics": {"level": "none"}, "logs": {"level": "error"}},
            "pipelines": {"metrics": pipeline, "logs": pipeline, "traces": pipeline},
        },
    }
    (folder / "collector.json").write_text(json.dumps(config))
    with subprocess.Popen([COLLECTOR, "--config", f"file:{folder}/collector.json"]) as process:
        try:
            wait_until(lambda: process.poll() is not None or (_is_open(http) and _is_open(grpc_port)))
            assert process.poll() is None
            yield {"http/protobuf": f"http://127.0.0.1:{http}", "grpc": f"http://127.0.0.1:{grpc_port}"}
        finally:
            process.terminate()


def _is_open(port: int) -> bool:
    import socket

    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except OSError:
        return False
    return True


def decoded(receiver: Receiver) -> list[Any]:
    """The messages that an HTTP receiver got."""
    return [REQUESTS[path].FromString(body) for path, _, body in receiver.requests]  # type: ignore[attr-defined]


def resources(messages: list[Any], signal: str) -> list[Any]:
    """ResourceMetrics, ResourceLogs or ResourceSpans of all messages."""
    return [part for message in messages for part in getattr(message, f"resource_{signal}", ())]


def points(messages: list[Any], name: str) -> list[Any]:
    """Data points of a metric, in the order of arrival."""
    return [
        point
        for resource in resources(messages, "metrics")
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == name
        for point in getattr(metric, metric.WhichOneof("data")).data_points
    ]


def log_records(messages: list[Any]) -> list[Any]:
    return [
        record
        for resource in resources(messages, "logs")
        for scope in resource.scope_logs
        for record in scope.log_records
    ]


def spans(messages: list[Any]) -> list[Any]:
    return [span for resource in resources(messages, "spans") for scope in resource.scope_spans for span in scope.spans]


def attributes(item: Any) -> dict[str, Any]:
    return {
        attribute.key: getattr(attribute.value, attribute.value.WhichOneof("value")) for attribute in item.attributes
    }

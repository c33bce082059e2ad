"""Metrics by OpenTelemetry's protocol, into the receiver of --observe and read by OpenTelemetry's own messages."""

from __future__ import annotations

import gzip
import os
import re
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from tests.outputs.receiver import receiving
from tests.outputs.sending import sent

from plimsoll.errors import UsageError
from plimsoll.experiment.ports import free_port
from plimsoll.observe.otlp_server import OtlpServer
from plimsoll.outputs.kinds import opened
from plimsoll.outputs.otlp.resource import resource_attributes
from plimsoll.outputs.output import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.command import Command, CountingTarget
    from tests.outputs.receiver import Receiver

    from plimsoll.outputs.output import OutputRun, OutputSecond


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("OTEL_"):
            monkeypatch.delenv(name)


def _messages(receiver: Receiver) -> list[dict[str, Any]]:
    """Metrics by name, of each message."""
    found = []
    for _, _, body in receiver.requests:
        message = ExportMetricsServiceRequest.FromString(body)
        ((scope,),) = (resource.scope_metrics for resource in message.resource_metrics)
        found.append({metric.name: metric for metric in scope.metrics})
    return found


def _attributes(point: Any) -> dict[str, str]:
    return {each.key: each.value.string_value for each in point.attributes}


def _quantile(point: Any, q: float) -> float:
    """By the specification: the upper end of the bucket with the value of this rank."""
    base, rank = 2 ** (2**-point.scale), q * point.count
    for index, count in enumerate(point.positive.bucket_counts):
        rank -= count
        if rank <= 0:
            return float(base ** (point.positive.offset + index + 1))
    raise AssertionError("the buckets have fewer values than the count")


def test_a_message_has_the_sums_since_the_start(
    output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    with receiving() as receiver:
        sent(f"otlp={receiver.url},interval=2", output_run, *map(make_second, range(3)))
    assert [path for path, _, _ in receiver.requests] == ["/v1/metrics", "/v1/metrics"]
    first, last = _messages(receiver)
    for metrics, seconds in ((first, 2), (last, 3)):
        duration = metrics["http.client.request.duration"]
        assert duration.unit == "s"
        assert duration.exponential_histogram.aggregation_temporality == 2
        points = {
            tuple(sorted(_attributes(point).items())): point for point in duration.exponential_histogram.data_points
        }
        server = (("server.address", "shop.example"), ("server.port", "80"))
        ok = points[(("http.request.method", "GET"), *server, ("url.template", "/"))]
        failed = points[(("error.type", "http"), ("http.request.method", "GET"), *server, ("url.template", "/"))]
        assert (ok.count, failed.count) == (3 * seconds, seconds)
        assert ok.start_time_unix_nano == round(output_run.started * 1e9)
        assert ok.time_unix_nano == round((output_run.started + seconds) * 1e9)
        assert _quantile(ok, 0.5) == pytest.approx(0.002, rel=0.03)
        assert (ok.min, ok.max) == (pytest.approx(0.001, rel=1e-3), pytest.approx(0.003, rel=1e-3))
    (users,) = last["plimsoll.users"].gauge.data_points
    assert users.as_double == 3


def test_with_deltas_each_message_has_its_own(
    monkeypatch: pytest.MonkeyPatch, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta")
    with receiving() as receiver:
        sent(f"otlp={receiver.url},interval=2", output_run, *map(make_second, range(4)))
    first, second = (metrics["plimsoll.requests"].sum for metrics in _messages(receiver))
    for found in (first, second):
        assert found.aggregation_temporality == 1
        assert sum(point.as_int for point in found.data_points) == 10
    assert first.data_points[0].time_unix_nano == second.data_points[0].start_time_unix_nano


def test_the_variables_of_sdks_count(
    monkeypatch: pytest.MonkeyPatch, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    with receiving() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"{receiver.url}/base/")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Basic%20abc,x-other=1")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
        monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=ci,service.name=no")
        monkeypatch.setenv("OTEL_SERVICE_NAME", "load")
        sent("otlp", output_run, make_second())
        assert resource_attributes(output_run) == resource_attributes(output_run) | {
            "deployment.environment.name": "ci", "service.name": "load", "plimsoll.run": output_run.id,
        }  # fmt: skip
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", f"{receiver.url}/mine")
        sent("otlp", output_run, make_second())
    (path, headers, body), (mine, _, _) = receiver.requests
    assert (path, mine) == ("/base/v1/metrics", "/mine")
    assert (headers["Authorization"], headers["x-other"]) == ("Basic abc", "1")
    assert ExportMetricsServiceRequest.FromString(body).resource_metrics
    assert gzip.compress(body)[:2] == b"\x1f\x8b"


def test_a_receiver_of_a_variable_that_is_away_is_named(monkeypatch: pytest.MonkeyPatch, output_run: OutputRun) -> None:
    url = f"http://ann:secret@127.0.0.1:{free_port()}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
    _, output = opened("otlp,protocol=grpc", has_page=False)
    with pytest.raises(OutputError, match=re.escape(f"refused ({url})")):
        output.open(output_run)
    output.close()


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", "the protocol is http/protobuf or grpc, not http/json"),
        ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "udp", "the protocol is http/protobuf or grpc, not udp"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "the compression is gzip or none, not zstd"),
        ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "collector", "a URL of the form"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "a URL of the form"),
    ],
)
def test_a_variable_that_cannot_be_is_refused(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, message: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(UsageError, match=message):
        opened("otlp", has_page=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("otlp=http://h:1,protocol=udp", "the protocol is http/protobuf or grpc, not udp"),
        (
            "otlp=http://h:1,signals=metrics+profiles",
            r"signals are metrics\+logs\+traces, or some of them, not profiles",
        ),
        ("otlp=http://h:1/v1/metrics,protocol=grpc", "without a path"),
        ("otlp=h,protocol=grpc", "HOST:PORT"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        opened(text, has_page=False)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("output", "metrics"):
        monkeypatch.delitem(sys.modules, f"plimsoll.outputs.otlp.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.metrics.v1.metrics_pb2", None)
    with pytest.raises(UsageError, match=r"pip install 'plimsoll-lab\[otlp\]'"):
        opened("otlp", has_page=False)


def test_grpc_needs_a_package_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "plimsoll.outputs.otlp.grpc_transport", raising=False)
    monkeypatch.setitem(sys.modules, "grpc", None)
    with pytest.raises(UsageError, match=r"install grpcio: pip install 'plimsoll-lab\[otlp\]'"):
        opened("otlp=http://h:1,protocol=grpc", has_page=False)


def test_our_own_receiver_gets_the_record_of_a_run(plimsoll: Command, target: CountingTarget) -> None:
    """The receiver of `--observe otlp:` is checked against OpenTelemetry's SDK elsewhere."""
    points: list[Any] = []
    refused: list[str] = []
    with OtlpServer(("127.0.0.1", 0), lambda sent: points.extend(sent.points), refused.append) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        done = plimsoll(
            "run", f"{target.url}/a", "-u", "2", "-t", "3", "--out", f"otlp=http://127.0.0.1:{server.server_port}",
        )  # fmt: skip
        server.shutdown()
    assert done.code == 0, done
    assert refused == []
    record = plimsoll.stored()
    assert record["run"]["notes"] == []
    total = record["total"]
    last = {point.name.partition("{")[0]: point for point in points}
    assert last["plimsoll.requests"].value == total["completed"]
    duration = last["http.client.request.duration"]
    assert duration.kind == "histogram"
    assert 'http.request.method="GET"' in duration.name
    assert last["plimsoll.lag"].name == "plimsoll.lag"
    assert duration.value == pytest.approx(total["service_ms"]["count"] * total["service_ms"]["mean"] / 1000, rel=1e-6)

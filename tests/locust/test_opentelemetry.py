"""`--otel` and Locust's names, into receivers of OpenTelemetry's messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.outputs.otlp.receivers import attributes, decoded, grpc_receiving, log_records, points, resources, spans
from tests.outputs.receiver import receiving

if TYPE_CHECKING:
    from tests.command import Command
    from tests.users.recording_server import RecordingServer

SCRIPT = """
import logging
from locust import HttpUser, FastHttpUser, constant, events, task
from opentelemetry import trace

@events.test_start.add_listener
def say(**_):
    logging.info("a word of the locustfile")

class First(HttpUser):
    wait_time = constant(0.05)

    @task
    def visit(self):
        self.client.get("/hello")
        self.client.get("/fail", name="/custom-name")

class Second(FastHttpUser):
    wait_time = constant(0.05)

    @task
    def visit(self):
        with trace.get_tracer("mine").start_as_current_span("checkout"):
            self.client.get("/fast")
"""


@pytest.fixture(autouse=True)
def _short_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "500")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "100000")


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_requests_of_both_user_classes_arrive_under_locusts_names(
    protocol: str, plimsoll: Command, target: RecordingServer
) -> None:
    pytest.importorskip(f"opentelemetry.exporter.otlp.proto.{'grpc' if protocol == 'grpc' else 'http'}.trace_exporter")
    plimsoll.write(SCRIPT)
    with receiving() as receiver, grpc_receiving() as grpc_receiver:
        plimsoll.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = grpc_receiver.url if protocol == "grpc" else receiver.url
        plimsoll.environment["OTEL_EXPORTER_OTLP_PROTOCOL"] = protocol
        done = plimsoll(
            "run", "-H", target.url, "--headless", "-u", "4", "-r", "4", "-t", "4", "--otel", "--profile", "nightly",
            "--exit-code-on-error", "0",
        )  # fmt: skip
        assert done.code == 0, done
        messages = grpc_receiver.messages if protocol == "grpc" else decoded(receiver)
    record = plimsoll.stored()
    counts = {row["name"]: (row["completed"], row["failures"]) for row in record["endpoints"]}
    found: dict[str, list[int]] = {name: [0, 0] for name in counts}
    for (name, error), count in _last(messages, "locust.client.duration").items():
        found[name][0] += count
        found[name][1] += count if error else 0
    assert {name: tuple(pair) for name, pair in found.items()} == counts
    users = [point.as_int for point in points(messages, "locust.users.count")
             if attributes(point) == {"user_class": "Second"}]  # fmt: skip
    assert max(users) == 2
    names = [span.name for span in spans(messages)]
    assert {name: names.count(f"GET {name}") for name in counts} == {name: count for name, (count, _) in counts.items()}
    # A span of the locustfile is the parent of the requests within it.
    own = {span.span_id for span in spans(messages) if span.name == "checkout"}
    assert {span.parent_span_id in own for span in spans(messages) if span.name == "GET /fast"} == {True}
    assert any(record.body.string_value == "a word of the locustfile" for record in log_records(messages))
    (about,) = {tuple(sorted(attributes(part.resource).items())) for part in resources(messages, "metrics")}
    assert {"service.name": "locust", "profile": "nightly"}.items() <= dict(about).items()
    assert dict(about)["filename"].endswith("locustfile.py")


def _last(messages: list[Any], metric: str) -> dict[tuple[str, str], int]:
    """Counts by name and kind of error, at the end."""
    return {
        (attributes(point)["name"], attributes(point).get("error.type", "")): point.count
        for point in points(messages, metric)
    }


def test_the_console_shows_it(plimsoll: Command, target: RecordingServer) -> None:
    plimsoll.write(SCRIPT)
    for signal in ("TRACES", "METRICS", "LOGS"):
        plimsoll.environment[f"OTEL_{signal}_EXPORTER"] = "console"
    done = plimsoll("run", "-H", target.url, "--headless", "-u", "2", "-r", "2", "-t", "1", "--otel",
                    "--exit-code-on-error", "0")  # fmt: skip
    assert done.code == 0, done
    for text in ("trace_id", "resource_metrics", "GET /custom-name", "locust.users.count"):
        assert text in done.out + done.err
    assert "OpenTelemetry enabled" in done.err


def test_exporters_that_are_none_export_nothing(plimsoll: Command, target: RecordingServer) -> None:
    plimsoll.write(SCRIPT)
    for signal in ("TRACES", "METRICS", "LOGS"):
        plimsoll.environment[f"OTEL_{signal}_EXPORTER"] = "none"
    done = plimsoll("run", "-H", target.url, "--headless", "-u", "1", "-t", "1", "--otel", "--exit-code-on-error", "0")
    assert done.code == 0, done
    assert "No OpenTelemetry exporters configured" in done.err
    assert "OpenTelemetry enabled" not in done.err


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "udp", "Unknown OpenTelemetry otlp exporter protocol 'udp'"),
        ("OTEL_TRACES_EXPORTER", "zipkin", "Unknown traces exporter 'zipkin'. Ignored"),
    ],
)
def test_what_is_unknown_is_said_and_the_run_goes_on(
    variable: str, value: str, message: str, plimsoll: Command, target: RecordingServer
) -> None:
    plimsoll.write(SCRIPT)
    plimsoll.environment |= {"OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none", variable: value}
    done = plimsoll("run", "-H", target.url, "--headless", "-u", "1", "-t", "1", "--otel", "--exit-code-on-error", "0")
    assert done.code == 0, done
    assert message in done.err


def test_native_users_have_no_use_for_it(plimsoll: Command, target: RecordingServer) -> None:
    done = plimsoll("run", target.url, "-u", "1", "-t", "1", "--otel")
    assert done.code == 2, done
    assert "--otel goes with a locustfile; --out otlp has the figures of all runs" in done.err

"""With the SDK of OpenTelemetry, and with what no SDK would send."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import time

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode

from plimsoll.observe import otlp, otlp_server, spans
from plimsoll.observe.otlp import Receiver

RESOURCE = Resource({"service.name": "shop"})


@pytest.fixture
def receiver(monkeypatch):
    monkeypatch.setattr(otlp, "LINGER_S", 0.0)
    made = Receiver("traces", "127.0.0.1", 0)
    made.read(0.0)
    yield made
    made.close()


def post(receiver, body, path="/v1/traces", kind="application/json", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", receiver.port, timeout=20)
    try:
        connection.request("POST", path, body, {"Content-Type": kind, **headers})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def span(name="GET /a", kind=2, ms=5, **more):
    now = time.time_ns()
    return {
        "traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "name": name, "kind": kind,
        "startTimeUnixNano": str(now - ms * 1_000_000), "endTimeUnixNano": str(now), **more,
    }  # fmt: skip


def traces(*spans):
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]})


@pytest.mark.parametrize("compression", [Compression.Gzip, Compression.NoCompression])
def test_an_sdk_sends_its_traces(receiver, compression) -> None:
    provider = TracerProvider(resource=RESOURCE)
    exporter = OTLPSpanExporter(f"http://127.0.0.1:{receiver.port}/v1/traces", compression=compression)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    for number in range(10):
        with tracer.start_as_current_span("GET /a", kind=SpanKind.SERVER) as request:
            request.set_attribute("code.function.name", "AView.list")
            if number == 0:
                request.set_status(Status(StatusCode.ERROR))
            for _ in range(3):
                with tracer.start_as_current_span("SELECT", kind=SpanKind.CLIENT) as query:
                    query.set_attribute("db.system.name", "postgresql")
            with tracer.start_as_current_span("inner"):
                pass
    provider.shutdown()
    facts = receiver.facts()
    assert facts.spans == 50
    (transaction,) = facts.transactions
    names = ("service", "name", "view", "calls", "failed")
    assert [getattr(transaction, name) for name in names] == ["shop", "GET /a", "AView.list", 10, 1]
    assert 0 < transaction.p50 <= transaction.p95 <= transaction.max
    (call,) = facts.calls
    assert [getattr(call, name) for name in names] == ["shop", "SELECT", "postgresql", 30, 0]
    figures = receiver.read(2.0)
    assert figures["shop AView.list"] == 5.0
    assert figures["shop AView.list mean"] == pytest.approx(transaction.ms / 10)
    assert [receiver.unit(each) for each in figures] == ["/s", "ms"]
    assert list(receiver.notes()) == []


def test_an_sdk_sends_its_metrics(receiver) -> None:
    exporter = OTLPMetricExporter(f"http://127.0.0.1:{receiver.port}/v1/metrics")
    reader = PeriodicExportingMetricReader(exporter, export_interval_millis=3_600_000)
    provider = MeterProvider([reader], resource=RESOURCE)
    meter = provider.get_meter("test")
    requests, busy = meter.create_counter("requests"), meter.create_up_down_counter("busy")
    times = meter.create_histogram("times", unit="s")
    meter.create_observable_gauge("heat", [lambda _: [_observation(42.0)]], unit="Cel")
    for amount in (1, 50):
        requests.add(amount, {"path": "/a"})
        busy.add(2)
        times.record(0.5)
        times.record(0.7)
        reader.collect()
        time.sleep(0.01)
    figures = receiver.read(1.0)
    assert {"busy", "heat", 'requests{path="/a"}', "times", "times mean"} == set(figures)
    assert (figures["busy"], figures["heat"]) == (4.0, 42.0)
    assert figures["times mean"] == pytest.approx(0.6)
    assert figures['requests{path="/a"}'] > 50, "fifty within less than a second"
    assert (receiver.unit("times mean"), receiver.unit('requests{path="/a"}')) == ("s", "/s")
    assert receiver.read(2.0) == {}, "only what is new"
    provider.shutdown()


def _observation(value):
    from opentelemetry.metrics import Observation

    return Observation(value)


def test_json_is_read_as_well_with_ids_in_hexadecimal(receiver) -> None:
    assert post(receiver, traces(span(), span("SELECT", 3))) == (200, b"{}")
    packed = gzip.compress(traces(span(ms=50)).encode())
    assert post(receiver, packed, **{"Content-Encoding": "gzip"}) == (200, b"{}")
    facts = receiver.facts()
    assert facts.transactions[0].calls == 2
    assert receiver.ms("5b8efff798038103d269b633813fc60c") == pytest.approx(50.0)
    assert post(receiver, json.dumps({"resourceLogs": []}), "/v1/logs") == (200, b"{}")


def test_a_trace_is_known_by_its_longest_transaction(receiver) -> None:
    trace = "5b8efff798038103d269b633813fc60c"
    assert receiver.ms(trace) is None
    assert post(receiver, traces(span(ms=5), span(ms=20), span(ms=10), span(kind=3, ms=90)))[0] == 200
    assert receiver.ms(trace) == pytest.approx(20.0)


def test_the_oldest_traces_are_forgotten(receiver, monkeypatch) -> None:
    monkeypatch.setattr(spans, "MOST_TRACES", 2)
    ids = [f"{number:032x}" for number in range(1, 4)]
    assert post(receiver, traces(*(span(ms=5, traceId=each) for each in ids)))[0] == 200
    assert [receiver.ms(each) is None for each in ids] == [True, False, False]


def test_what_ended_before_the_run_does_not_count(receiver) -> None:
    early = span()
    early["endTimeUnixNano"] = str(time.time_ns() - 60_000_000_000)
    assert post(receiver, traces(early))[0] == 200
    assert receiver.facts() is None


@pytest.mark.parametrize(
    ("body", "more", "status", "why"),
    [
        (b"\xff\xff\xff", {"kind": "application/x-protobuf"}, 400, "damaged"),
        (b"{", {}, 400, "damaged"),
        (b"[]", {}, 400, "damaged"),
        (b'{"resourceSpans": 5}', {}, 400, "damaged"),
        (traces(span(traceId="xyz")).encode(), {}, 400, "damaged"),
        (b"{" * 100_000, {}, 400, "damaged"),
        (b'{"a":' * 50_000, {}, 400, "damaged"),
        (b"no gzip", {"Content-Encoding": "gzip"}, 400, "damaged"),
        (b"{}", {"Content-Encoding": "br"}, 415, "neither gzip nor identity"),
        (b"{}", {"kind": "text/plain"}, 415, "neither application/x-protobuf nor application/json"),
        (b"{}", {"path": "/v2/traces"}, 404, "there are only /v1/traces"),
        (b"x" * 2000, {}, 413, "longer than"),
        (gzip.compress(b"x" * 200_000), {"Content-Encoding": "gzip"}, 413, "longer than"),
    ],
)
def test_what_cannot_be_taken_is_refused_and_said(receiver, monkeypatch, body, more, status, why) -> None:
    if status == 413:
        monkeypatch.setattr(otlp_server, "MOST_BYTES", 1000)
    assert post(receiver, body, **more)[0] == status
    assert post(receiver, traces(span())[:1000] if status != 413 else b"{}")[0] in (200, 400)
    assert any(f"1 requests were refused: {why}" in note for note in receiver.notes()), receiver.notes()


def test_a_flood_is_cut_off(receiver) -> None:
    """100 MB are announced, and none of them is read."""
    with socket.create_connection(("127.0.0.1", receiver.port)) as connection:
        head = (
            "POST /v1/traces HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100000000\r\n\r\n"
        )
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


HALF = b"POST /v1/traces HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"


def test_half_requests_block_nobody(receiver) -> None:
    held = [socket.create_connection(("127.0.0.1", receiver.port)) for _ in range(otlp_server.MOST_CONNECTIONS - 1)]
    for each in held:
        each.sendall(HALF)
    assert [post(receiver, traces(span()))[0] for _ in range(5)] == [200] * 5
    for each in held:
        each.close()


def test_a_request_has_a_deadline_however_it_arrives(receiver, monkeypatch) -> None:
    monkeypatch.setattr(otlp_server, "REQUEST_S", 0.5)
    with socket.create_connection(("127.0.0.1", receiver.port)) as connection:
        connection.settimeout(0.1)
        connection.sendall(HALF)
        for _ in range(300):
            try:
                connection.sendall(b" ")
                if connection.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        else:
            pytest.fail("a request of 300 pieces, one each 0.1 s, is still waited for")


def test_the_oldest_connection_is_closed_for_a_new_one(receiver) -> None:
    held = [socket.create_connection(("127.0.0.1", receiver.port)) for _ in range(otlp_server.MOST_CONNECTIONS)]
    assert post(receiver, traces(span()))[0] == 200
    assert held[0].recv(1) == b""
    for each in held:
        each.close()


def test_bodies_that_are_being_received_are_limited_together(receiver, monkeypatch) -> None:
    monkeypatch.setattr(otlp_server, "MOST_WAITING", 100)
    body = traces(span()).encode()
    assert len(body) > 100
    assert post(receiver, body)[0] == 429
    monkeypatch.setattr(otlp_server, "MOST_WAITING", len(body))
    assert [post(receiver, body)[0] for _ in range(3)] == [200] * 3, "they count only while they are received"


def test_reasons_of_refusals_are_limited(receiver) -> None:
    for number in range(otlp.MOST_REASONS + 30):
        receiver._refuse(f"damaged: {number}")
    assert len(receiver.notes()) == otlp.MOST_REASONS + 1
    assert receiver.notes()[-1] == "traces: 30 requests were refused: other reasons"


@pytest.mark.parametrize(
    "times",
    [
        {"endTimeUnixNano": str(2**64 - 1)},
        {"startTimeUnixNano": "0"},
        {"startTimeUnixNano": "0", "endTimeUnixNano": "1"},
        {"startTimeUnixNano": str(2**64 - 1)},
    ],
    ids=["ends in 2554", "begins in 1970", "all in 1970", "begins after it ends"],
)
def test_a_span_of_another_time_moves_nothing_and_is_counted(receiver, times) -> None:
    assert post(receiver, traces(span(), {**span(), **times}))[0] == 200
    facts = receiver.facts()
    assert facts.spans == 1
    assert facts.transactions[0].max < 60_000
    assert receiver.notes() == [
        "traces: 1 spans and points are left out: they begin after they end, or are more than a day from this "
        "machine's clock"
    ]


def test_names_are_limited(receiver, monkeypatch) -> None:
    monkeypatch.setattr("plimsoll.observe.spans.MOST_NAMES", 3)
    assert post(receiver, traces(*(span(f"GET /{number}") for number in range(10))))[0] == 200
    names = {work.name: work.calls for work in receiver.facts().transactions}
    assert names == {"GET /0": 1, "GET /1": 1, "GET /2": 1, "(others)": 7}


def test_a_clock_that_is_ahead_and_nothing_at_all_are_said(receiver) -> None:
    assert receiver.notes() == [f"traces: nothing was sent to port {receiver.port} during the run"]
    late = span()
    late["endTimeUnixNano"] = str(time.time_ns() + 60_000_000_000)
    assert post(receiver, traces(late))[0] == 200
    (note,) = receiver.notes()
    assert note.startswith("traces: the clock of the service is ")
    assert 59 < float(note.split()[7]) < 61

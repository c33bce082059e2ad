"""Events as log records, and slow requests as spans."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from tests.outputs.otlp.receivers import (
    attributes,
    collector,
    decoded,
    grpc_receiving,
    log_records,
    points,
    resources,
    spans,
)
from tests.outputs.receiver import receiving
from tests.outputs.sending import sent

from plimsoll.outputs.kinds import opened
from plimsoll.outputs.output import OutputEvent, Undelivered
from plimsoll.say.notices import undelivered_text
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.command import Command

    from plimsoll.outputs.output import OutputRun, OutputSecond


@pytest.fixture
def traced() -> Iterator[tuple[str, list[str]]]:
    """The URL of a target, and the headers `traceparent` that it got. /fail answers 500."""
    parents: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parents.append(self.headers["traceparent"])
            self.send_response(500 if self.path == "/fail" else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", parents
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("kind", "details", "severity"),
    [
        ("start", {}, "INFO"),
        ("worker_lost", {"worker": 1, "unused": ["a", "b"]}, "WARN"),
        ("threshold_broken", {"threshold": "p99 < 1ms", "value": 2.5}, "WARN"),
        ("finding", {"id": "SAT", "weight": "insight"}, "INFO"),
        ("finding", {"id": "NAMES", "weight": "warning"}, "WARN"),
        ("end", {"verdict": "passed", "response_ms": {"p50": 1.5, "p99": None}}, "INFO"),
        ("end", {"verdict": "failed"}, "ERROR"),
    ],
)
def test_an_event_is_a_log_record(kind: Any, details: dict[str, Any], severity: str, output_run: OutputRun) -> None:
    with receiving() as receiver:
        sent(f"otlp={receiver.url}", output_run, events=[OutputEvent(kind, 7.5, "It is so.", details)])
    ((path, _, _),) = receiver.requests
    (record,) = log_records(decoded(receiver))
    assert (path, record.body.string_value, record.severity_text) == ("/v1/logs", "It is so.", severity)
    assert (record.event_name, record.time_unix_nano) == (f"plimsoll.{kind}", 7_500_000_000)
    found = attributes(record)
    assert found.keys() == {f"plimsoll.{name}" for name in details}
    if "worker" in details:
        assert found["plimsoll.worker"] == 1
        assert [part.string_value for part in found["plimsoll.unused"].values] == ["a", "b"]


def test_signals_that_are_not_chosen_are_not_sent(
    output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    event = OutputEvent("start", 7.5, "It is so.")
    with receiving() as receiver:
        sent(f"otlp={receiver.url},signals=metrics", output_run, make_second(), events=[event])
        sent(f"otlp={receiver.url},signals=traces+logs", output_run, make_second(), events=[event])
    assert [path for path, _, _ in receiver.requests] == ["/v1/metrics", "/v1/logs"]


def _check(plimsoll: Command, parents: list[str], messages: list[Any]) -> None:
    """What arrived is the record of the run."""
    record = plimsoll.stored()
    assert record["run"]["notes"] == []
    total = record["total"]
    last: dict[tuple[str, ...], int] = {}
    for point in points(messages, "plimsoll.requests"):
        found = attributes(point)
        last[found["url.template"], found.get("error.type", "")] = point.as_int
    assert sum(last.values()) == total["completed"] == len(parents)
    assert sum(count for (_, error), count in last.items() if error) == total["failures"]
    kinds = [log.event_name for log in log_records(messages)]
    assert (kinds[0], kinds[-1]) == ("plimsoll.start", "plimsoll.end")
    known = {tuple(parent.split("-")[1:3]) for parent in parents}
    found_spans = spans(messages)
    assert {(span.trace_id.hex(), span.span_id.hex()) for span in found_spans} <= known
    # The slowest of the run is among them, with its times.
    with Store.open(str(plimsoll.store), create=False) as store:
        observed = store.run("last").facts.observed
    assert observed is not None
    ((slowest, *_),) = filter(None, [observed["traceparent"].slowest])
    (span,) = (span for span in found_spans if span.trace_id.hex() == slowest.trace)
    assert (span.end_time_unix_nano - span.start_time_unix_nano) / 1e6 == pytest.approx(slowest.service_ms, abs=0.01)
    assert attributes(span)["plimsoll.response.duration"] == pytest.approx(slowest.response_ms / 1000)
    assert {span.status.code == 2 for span in found_spans if attributes(span)["url.template"] == "/fail"} <= {True}
    ids = {attributes(part.resource)["plimsoll.run"] for part in resources(messages, "metrics")}
    assert ids == {record["run"]["id"]}


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_a_run_arrives_with_its_spans(protocol: str, plimsoll: Command, traced: tuple[str, list[str]]) -> None:
    url, parents = traced
    with receiving() as receiver, grpc_receiving() as grpc_receiver:
        to = receiver.url if protocol != "grpc" else grpc_receiver.url
        done = _run(plimsoll, url, to, protocol)
        messages = grpc_receiver.messages if protocol == "grpc" else decoded(receiver)
    assert done.code == 1, done
    _check(plimsoll, parents, messages)


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_a_run_goes_through_a_real_collector(
    protocol: str, plimsoll: Command, traced: tuple[str, list[str]], tmp_path: Path
) -> None:
    url, parents = traced
    with receiving() as receiver, collector(tmp_path, receiver) as urls:
        done = _run(plimsoll, url, urls[protocol], protocol)
        assert done.code == 1, done
        _check(plimsoll, parents, decoded(receiver))


TRACED = {
    "plan": (
        "plan.toml",
        '[[request]]\nget = "/"\nthink = "15ms"\n[[request]]\nget = "/fail"\nthink = "85ms"\n'
        '[[phase]]\nusers = 2\nduration = "3s"\n',
    ),
    "locustfile": (
        "users.py",
        "from locust import HttpUser, constant, task\n"
        "class Shopper(HttpUser):\n"
        "    wait_time = constant(0.1)\n"
        "    @task\n"
        "    def shop(self):\n"
        "        self.client.get('/')\n"
        "        self.client.get('/fail')\n",
    ),
}


@pytest.mark.parametrize("kind", TRACED)
def test_a_share_of_the_requests_and_all_that_fail_are_spans_with_the_flags_of_their_headers(
    kind: str, plimsoll: Command, traced: tuple[str, list[str]]
) -> None:
    url, parents = traced
    name, text = TRACED[kind]
    plimsoll.write(f'target = "{url}"\n{text}' if kind == "plan" else text, name)
    load = [] if kind == "plan" else ["-H", url, "-u", "2", "-r", "2", "-t", "3"]
    with receiving() as receiver:
        done = plimsoll(
            "run", *([] if kind == "plan" else ["-f"]), name, *load, "--headless", "--trace-share", "0.5",
            "--out", f"otlp={receiver.url}",
        )  # fmt: skip
        assert done.code == 1, done
        sent_spans = spans(decoded(receiver))
    record = plimsoll.stored()
    assert record["run"]["notes"] == []
    headers = {parent.split("-")[1]: parent for parent in parents}
    sampled = {trace for trace, parent in headers.items() if parent.endswith("-01")}
    assert 0 < len(sampled) < len(headers)
    for span in sent_spans:
        assert headers[span.trace_id.hex()] == f"00-{span.trace_id.hex()}-{span.span_id.hex()}-{span.flags:02x}"
    ids = [span.trace_id.hex() for span in sent_spans]
    assert len(ids) == len(set(ids))
    # Users that are cut off at the end have a request without a span.
    assert len(sampled - set(ids)) <= 2
    failed = [span for span in sent_spans if attributes(span).get("error.type") == "http"]
    assert len(failed) == record["total"]["failures"]
    assert {span.flags for span in failed} == {0, 1}


def test_requests_without_room_are_counted(output_run: OutputRun, make_second: Callable[..., OutputSecond]) -> None:
    with receiving() as receiver:
        _, output = opened(f"otlp={receiver.url}", has_page=False)
        output.open(output_run)
        output.second(make_second(0, spans_left_out=3))
        output.second(make_second(1, spans_left_out=4))
        assert output.flush(5.0) == Undelivered(0, "", 7)
        output.close()
        # Without spans there is nothing to say.
        sent(f"otlp={receiver.url},signals=metrics", output_run, make_second(0, spans_left_out=3))


def test_a_run_with_more_failures_than_have_a_span_says_so(plimsoll: Command, traced: tuple[str, list[str]]) -> None:
    plimsoll.write(
        '[[request]]\nget = "/fail"\n[stop]\niterations = 400\n[[phase]]\nusers = 4\nduration = "60s"\n', "plan.toml"
    )
    with receiving() as receiver:
        run = ("run", "plan.toml", "--headless", "--traceparent", "--out", f"otlp={receiver.url}")
        assert plimsoll(*run, "-H", traced[0]).code == 1
        known = len(spans(decoded(receiver)))
    record = plimsoll.stored()
    # On a slow machine no second has more failures than have a span.
    left_out = record["total"]["failures"] - known
    text = undelivered_text(0, "", left_out)
    assert record["run"]["notes"] == ([f"output otlp ({receiver.url}): {text}"] if left_out else [])


def _run(plimsoll: Command, url: str, to: str, protocol: str) -> Any:
    # Fewer failures in a second than have a span.
    plimsoll.write(f'target = "{url}"\nthink = "50ms"\n[[request]]\nget = "/"\n[[request]]\nget = "/fail"\n'
                   '[[phase]]\nusers = 2\nduration = "3s"\n', "plan.toml")  # fmt: skip
    return plimsoll("run", "plan.toml", "--headless", "--traceparent", "--out", f"otlp={to},protocol={protocol}")

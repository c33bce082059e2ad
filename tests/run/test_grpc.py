"""Runs with gRPC, from the command line to the report, against a server of grpcio."""

from __future__ import annotations

import json
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.grpc_server import PROTO, GrpcServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.command import Command

SAY = "echo.v1.Echo/Say"


def rows(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {f"{each['method']} {each['name']}": each for each in document["endpoints"]}


def run(plimsoll: Command, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = plimsoll("run", *arguments, "--headless", "--summary", "-")
    assert done.code == code, done
    found: dict[str, Any] = json.loads(done.out)
    return found


def outcomes(row: dict[str, Any]) -> dict[str, int]:
    return {name: each["count"] for name, each in row["outcomes"].items()}


@pytest.fixture
def http_server() -> Iterator[str]:
    """The place of a server that has HTTP/1.1 alone."""
    with HTTPServer(("127.0.0.1", 0), QuietHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


class QuietHandler(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def test_a_url_is_a_call_by_each_user(plimsoll: Command, grpc_server: GrpcServer) -> None:
    message = '{"text": "n${iteration}", "number": ${iteration}}'
    url = f"grpc://{grpc_server.place}/{SAY}"
    document = run(plimsoll, url, "--proto", str(PROTO), "-d", message, "-u", "3", "--iterations", "60")
    assert {name: each["requests"] for name, each in rows(document).items()} == {f"gRPC {SAY}": 60}
    assert (document["total"]["requests"], document["total"]["failures"]) == (60, 0)
    assert sorted(grpc_server.texts) == sorted(f"n{number}" for number in range(60))
    assert len(grpc_server.peers) == 3, "a connection for each user"
    assert rows(document)[f"gRPC {SAY}"]["service_ms"]["min"] > 0


def test_in_the_open_model_calls_come_at_their_rate(plimsoll: Command, grpc_server: GrpcServer) -> None:
    url = f"grpc://{grpc_server.place}/{SAY}"
    document = run(plimsoll, url, "--proto", str(PROTO), "--rate", "50/s", "-t", "2s")
    assert grpc_server.counts == {"Say": 100}
    assert rows(document)[f"gRPC {SAY}"]["requests"] == 100


PLAN = """
target = "grpc://{place}"
proto = "{proto}"
timeout = "20s"

[[flow]]
name = "all"

[[flow.step]]
name = "first"
grpc = "echo.v1.Echo/Say"
message = {{ text = "a${{user}}", number = "${{iteration}}" }}
headers = {{ x-a = "b" }}
compression = true
expect = {{ json = {{ "/kind" = "KIND_ECHO", "/metadata/0" = "x-a: b" }} }}
extract.word = {{ json = "/text" }}

[[flow.step]]
grpc = "echo.v1.Echo/Say"
message = '{{"text": "<${{word}}>", "code": 5}}'
expect = {{ status = ["OK", "NOT_FOUND"] }}

[[flow.step]]
grpc = "echo.v1.Echo/Collect"
message = [{{ text = "one" }}, {{ text = "two" }}]
expect.json = {{ "/text" = "one two" }}

[[flow.step]]
grpc = "echo.v1.Echo/List"
message = {{ text = "x", count = 3 }}
expect.json = {{ "/2/number" = 2 }}

[[flow.step]]
grpc = "echo.v1.Echo/Chat"
message = [{{ text = "p" }}, {{ text = "q" }}]
expect.json = {{ "/1/text" = "q" }}

[[phase]]
users = 2
[stop]
iterations = 4
"""


def test_a_plan_calls_all_kinds_of_methods(plimsoll: Command, grpc_server: GrpcServer) -> None:
    plan = plimsoll.write(PLAN.format(place=grpc_server.place, proto=PROTO), "plan.toml")
    document = run(plimsoll, str(plan))
    names = ("first", SAY, "echo.v1.Echo/Collect", "echo.v1.Echo/List", "echo.v1.Echo/Chat")
    assert {name: outcomes(each) for name, each in rows(document).items()} == {
        **{f"gRPC {name}": {"success": 4} for name in names},
        "first event echo.v1.Echo/List": {"success": 4}, "each event echo.v1.Echo/List": {"success": 12},
        "first event echo.v1.Echo/Chat": {"success": 4}, "each event echo.v1.Echo/Chat": {"success": 8},
    }  # fmt: skip
    assert document["total"]["requests"] == 20
    assert grpc_server.counts == {"Say": 8, "Collect": 8, "List": 4, "Chat": 8}
    assert {"a0", "<a0>"} <= set(grpc_server.texts)
    assert all(left is not None and left < 21 for left in grpc_server.deadlines)


def test_codes_are_failures_with_their_names(plimsoll: Command, grpc_server: GrpcServer) -> None:
    url = f"grpc://{grpc_server.place}/{SAY}"
    message = '{"text": "x", "code": 14}'
    arguments = (url, "--proto", str(PROTO), "-d", message, "--iterations", "5", "--headless")
    done = plimsoll("run", *arguments)
    assert done.code == 1
    assert "grpc UNAVAILABLE: requested: 100 % of x" in done.out
    document = run(plimsoll, *arguments[:-1], code=1)
    assert outcomes(rows(document)[f"gRPC {SAY}"]) == {"http": 5}


def test_a_deadline_is_told_to_the_server_and_is_a_timeout(plimsoll: Command, grpc_server: GrpcServer) -> None:
    plan = plimsoll.write(
        f"""
        target = "grpc://{grpc_server.place}"
        proto = "{PROTO}"
        request = {{ grpc = "{SAY}", message = {{ wait = 1.5 }}, timeout = "300ms" }}
        stop = {{ iterations = 2 }}
        """,
        "plan.toml",
    )
    document = run(plimsoll, str(plan), "-u", "1", code=1)
    assert outcomes(rows(document)[f"gRPC {SAY}"]) == {"timeout": 2}
    assert all(left is not None and left <= 0.3 for left in grpc_server.deadlines)


def test_over_tls(plimsoll: Command, certificate: tuple[str, str]) -> None:
    chain, key = (Path(each).read_bytes() for each in certificate)
    server = GrpcServer((key, chain))
    document = run(plimsoll, f"grpcs://{server.place}/{SAY}", "--proto", str(PROTO), "--iterations", "5", "-k")
    server.close()
    assert outcomes(rows(document)[f"gRPC {SAY}"]) == {"success": 5}
    assert server.counts == {"Say": 5}


def test_a_server_without_http2_is_one_clear_failure(plimsoll: Command, http_server: str) -> None:
    url = f"grpc://{http_server}/{SAY}"
    done = plimsoll("run", url, "--proto", str(PROTO), "--iterations", "1", "--headless")
    assert done.code == 1
    assert "the reply is not HTTP/2" in done.out and "--http2" not in done.out
    done = plimsoll("run", url, "--iterations", "1", "--headless")
    assert done.code == 2
    assert "for its schema: the reply is not HTTP/2" in done.err and "--http2" not in done.err


def test_a_target_that_is_not_there_is_named_as_it_was_given(plimsoll: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = f"127.0.0.1:{listener.getsockname()[1]}"
    done = plimsoll("run", f"grpc://{place}/{SAY}", "--proto", str(PROTO), "--iterations", "1", "--headless")
    assert done.code == 1
    assert f"Nothing answers at grpc://{place} (connection refused)." in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [f"grpc://127.0.0.1:9/{SAY}"],
            "cannot ask grpc://127.0.0.1:9 for its schema: Connection refused; name a file",
        ),
        ([f"grpc://127.0.0.1:9/{SAY}", "--proto-path", "x"], "--proto-path goes with --proto FILE"),
        (["grpc://127.0.0.1:9/Say"], 'URL: "Say" is not a method; valid is "package.Service/Method"'),
        ([f"grpc://127.0.0.1:9/{SAY}", "-d", "{"], "--body: "),
        (["grpc://127.0.0.1:9/", "--proto", "PROTO"], 'URL: "" is not a method; valid is "package.Service/Method"'),
        (["grpc://127.0.0.1:9/echo.v1.Echo/Sy", "--proto", "PROTO"], 'has no method "Sy"; did you mean "Say"?'),
        (["grpc://127.0.0.1:9/echo.Echo/Say", "--proto", "PROTO"], 'there is no service "echo.Echo"; did you mean'),
        ([f"grpc://127.0.0.1:9/{SAY}", "--proto", "none.proto"], "--proto: "),
        ([f"grpc://127.0.0.1:9/{SAY}", "--proto", "PROTO", "-d", '{"txt": 1}'], 'no field "txt"; did you mean "text"?'),
        ([f"grpc://127.0.0.1:9/{SAY}", "--proto", "PROTO", "-d", "{"], "--body: "),
        ([f"grpc://127.0.0.1:9/{SAY}", "--proto", "PROTO", "-d", '{"text": "${x}"}'], "--body: unknown variable ${x}"),
        ([f"grpc://127.0.0.1:9/{SAY}", "--proto", "PROTO", "--message", "x"], "--message goes with a WebSocket"),
        ([f"grpc://127.0.0.1:9/{SAY}", "--proto", "PROTO", "-X", "GET"], "--method goes with a request"),
        ([f"grpc://127.0.0.1:9/{SAY}", "--proto", "PROTO", "--header", "te: x"], "--header: te is set by the step"),
        (["http://127.0.0.1:9/", "--proto", "PROTO"], "--proto goes with a call of gRPC: plimsoll run grpc://…"),
        (["grpc://u@127.0.0.1:9/a.B/C", "--proto", "PROTO"], "has a user and a password"),
    ],
)
def test_mistakes_are_told_in_one_line(plimsoll: Command, arguments: list[str], message: str) -> None:
    given = [str(PROTO) if each == "PROTO" else each for each in arguments]
    done = plimsoll("run", *given, "--iterations", "1", "--headless")
    assert done.code == 2, done
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1


LOCUSTFILE = """
from plimsoll import HttpUser, task

class Caller(HttpUser):
    host = "grpc://{place}"
    proto = "echo.proto"

    @task
    def say(self):
        reply = self.grpc("echo.v1.Echo/Say", {{"text": "x", "number": 7}}, timeout=20)
        assert reply and reply.status == "OK" and reply.message["number"] == 7
        with self.grpc("echo.v1.Echo/Say", {{"code": 5}}, name="missing", catch_response=True) as reply:
            if reply.status == "NOT_FOUND":
                reply.success()
        self.grpc("echo.v1.Echo/Say", {{"code": 7}}, name="forbidden")
"""


def test_a_locustfile_calls_methods(plimsoll: Command, grpc_server: GrpcServer) -> None:
    plimsoll.write(PROTO.read_text(), "echo.proto")
    file = plimsoll.write(LOCUSTFILE.format(place=grpc_server.place), "locustfile.py")
    document = run(plimsoll, "-f", str(file), "-u", "2", "--iterations", "6", code=1)
    assert {name: outcomes(each) for name, each in rows(document).items()} == {
        f"gRPC {SAY}": {"success": 6}, "gRPC missing": {"success": 6}, "gRPC forbidden": {"http": 6},
    }  # fmt: skip
    assert grpc_server.counts == {"Say": 18}


WITH_GRPCIO = """
import time
import grpc
import grpc.experimental.gevent as grpc_gevent
from locust import User, task

grpc_gevent.init_gevent()

class Interceptor(grpc.UnaryUnaryClientInterceptor):
    def __init__(self, environment):
        self.environment = environment

    def intercept_unary_unary(self, continuation, details, request):
        started, exception, response = time.perf_counter(), None, None
        try:
            response = continuation(details, request)
            response.result()
        except grpc.RpcError as error:
            exception = error
        self.environment.events.request.fire(
            request_type="grpc", name=details.method, response_time=1000 * (time.perf_counter() - started),
            response_length=0, response=response, context=None, exception=exception,
        )
        return response

class Caller(User):
    host = "{place}"

    def on_start(self):
        channel = grpc.intercept_channel(grpc.insecure_channel(self.host), Interceptor(self.environment))
        plain = dict(request_serializer=bytes, response_deserializer=bytes)
        self.say = channel.unary_unary("/echo.v1.Echo/Say", **plain)

    @task
    def call(self):
        assert self.say(b"\\x0a\\x01x\\x21" + {wait!r}).startswith(b"\\x0a\\x01x")
"""


def test_a_locustfile_with_grpcio_and_gevent_keeps_working(plimsoll: Command, grpc_server: GrpcServer) -> None:
    half_a_second = struct.pack("<d", 0.5)
    text = WITH_GRPCIO.format(place=grpc_server.place, wait=half_a_second)
    file = plimsoll.write(text, "locustfile.py")
    document = run(plimsoll, "-f", str(file), "-u", "5", "-r", "5", "--iterations", "10")
    row = rows(document)[f"grpc /{SAY}"]
    assert outcomes(row) == {"success": 10}
    assert grpc_server.counts == {"Say": 10}
    # Ten calls of half a second by five users: users do not wait for each other.
    assert grpc_server.most_at_once > 1

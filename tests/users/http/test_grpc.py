"""`self.grpc` of Python users, against a server of grpcio."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING, Any

import gevent
import pytest
from gevent.queue import Queue
from tests.grpc_server import PROTO, GrpcServer

from plimsoll.users.exceptions import GrpcError, LocustError
from plimsoll.users.http.grpc import Grpc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.users.conftest import SessionBench

SAY = "echo.v1.Echo/Say"


def grpc_of(session_bench: SessionBench, host: str, **attributes: Any) -> Grpc:
    """`self.grpc` of a user of this host. attributes: of its class."""
    user = type("Caller", (), {"proto": str(PROTO), **attributes})()
    user.host, user.client = host, session_bench.http(host)
    return Grpc(user)


def test_a_dict_is_a_message_and_the_reply_is_one(session_bench: SessionBench, grpc_server: GrpcServer) -> None:
    call = grpc_of(session_bench, f"grpc://{grpc_server.place}")
    message = {"text": 'ä"', "number": 2**60}
    reply = call(SAY, message, metadata={"x-a": "b", "x-bin": b"\x00\xff"}, compression=True, timeout=20)
    assert reply and (reply.status, reply.details, reply.error) == ("OK", "", None)
    assert reply.message == {
        **message, "kind": "KIND_ECHO", "metadata": ["x-a: b", "x-bin: b'\\x00\\xff'"],
    }  # fmt: skip
    assert ("grpc-status", "0") in reply.metadata
    assert session_bench.counts == {("gRPC", SAY, "success"): 1}
    assert grpc_server.texts == ['ä"'] and (grpc_server.deadlines[0] or 0) < 21
    (row,) = session_bench.recorded
    assert 0 < row.service_sum <= row.response_sum


def test_messages_of_generated_code_need_no_schema(session_bench: SessionBench, grpc_server: GrpcServer) -> None:
    call = grpc_of(session_bench, f"grpc://{grpc_server.place}", proto=())
    reply = call(f"/{SAY}", grpc_server.request(text="x"))
    assert grpc_server.reply.FromString(reply.message).text == "x"
    with pytest.raises(LocustError, match="a message as a dict needs a schema"):
        call(SAY, {"text": "x"})
    assert grpc_server.counts == {"Say": 1}


class EchoStub:
    """As grpcio-tools generates it."""

    def __init__(self, channel: Any, server: GrpcServer) -> None:
        own = {
            "request_serializer": server.request.SerializeToString,
            "response_deserializer": server.reply.FromString,
            "_registered_method": True,
        }
        self.Say = channel.unary_unary("/echo.v1.Echo/Say", **own)
        self.Collect = channel.stream_unary("/echo.v1.Echo/Collect", **own)
        self.List = channel.unary_stream("/echo.v1.Echo/List", **own)
        self.Chat = channel.stream_stream("/echo.v1.Echo/Chat", **own)


def test_stubs_of_generated_code_take_it_for_a_channel(session_bench: SessionBench, grpc_server: GrpcServer) -> None:
    stub = EchoStub(grpc_of(session_bench, f"grpc://{grpc_server.place}", proto=()), grpc_server)
    request = grpc_server.request
    assert stub.Say(request(text="a"), timeout=20, metadata=(("x-a", "b"),)).metadata == ["x-a: b"]
    assert stub.Collect(iter([request(text="a"), request(text="b")])).text == "a b"
    assert [each.number for each in stub.List(request(count=3))] == [0, 1, 2]
    with pytest.raises(GrpcError, match="grpc ABORTED"):
        list(stub.List(request(code=10)))
    assert [each.text for each in stub.Chat([request(text="c"), request(text="d")])] == ["c", "d"]
    with pytest.raises(GrpcError, match="grpc NOT_FOUND: requested: 100 % of e"):
        stub.Say(request(text="e", code=5))
    assert session_bench.counts == {
        ("gRPC", SAY, "success"): 1, ("gRPC", SAY, "http"): 1, ("gRPC", "echo.v1.Echo/List", "http"): 1,
        **{("gRPC", f"echo.v1.Echo/{name}", "success"): 1 for name in ("Collect", "List", "Chat")},
        ("first event", "echo.v1.Echo/List", "success"): 1, ("each event", "echo.v1.Echo/List", "success"): 3,
        ("first event", "echo.v1.Echo/Chat", "success"): 1, ("each event", "echo.v1.Echo/Chat", "success"): 2,
    }  # fmt: skip


def test_each_message_of_a_generator_is_sent_when_it_comes(
    session_bench: SessionBench, grpc_server: GrpcServer
) -> None:
    stub = EchoStub(grpc_of(session_bench, f"grpc://{grpc_server.place}", proto=()), grpc_server)
    request, lines, chat = grpc_server.request, Queue[Any](), "echo.v1.Echo/Chat"
    lines.put(request(text="1"))
    heard = []
    for reply in stub.Chat(iter(lines.get, None)):
        heard.append(reply.text)
        lines.put(request(text=reply.text + "1") if len(heard) < 20 else None)
    assert heard == ["1" * (count + 1) for count in range(20)]
    assert session_bench.counts[("gRPC", chat, "success")] == 1
    assert session_bench.counts[("each event", chat, "success")] == 20

    def slowly() -> Iterator[Any]:
        for text in "abc":
            gevent.sleep(0.05)
            assert len(grpc_server.texts) == count + "abc".index(text), "those before it are there"
            yield request(text=text)

    count = len(grpc_server.texts)
    assert stub.Collect(slowly()).text == "a b c"
    count = len(grpc_server.texts)
    with pytest.raises(gevent.Timeout), gevent.Timeout(0.07):
        stub.Collect(slowly())
    assert session_bench.counts[("gRPC", "echo.v1.Echo/Collect", "unanswered")] == 1


def test_a_generator_waits_while_the_server_takes_no_more(session_bench: SessionBench, grpc_server: GrpcServer) -> None:
    stub = EchoStub(grpc_of(session_bench, f"grpc://{grpc_server.place}", proto=()), grpc_server)
    made = 0

    def endless() -> Iterator[Any]:
        nonlocal made
        yield grpc_server.request(text="x", wait=1)
        for _ in range(10_000):
            made += 1
            yield grpc_server.request(text="x" * 100_000)

    with pytest.raises(gevent.Timeout), gevent.Timeout(0.5):
        stub.Collect(endless())
    assert 0 < made < 1000, "100 MB were made for a server that sleeps"


def test_an_error_of_a_generator_is_one_of_the_task(session_bench: SessionBench, grpc_server: GrpcServer) -> None:
    stub = EchoStub(grpc_of(session_bench, f"grpc://{grpc_server.place}", proto=()), grpc_server)
    closed = []

    def failing(waits: bool) -> Iterator[Any]:
        try:
            yield grpc_server.request(text="a")
            if waits:
                gevent.sleep(0.05)
            raise KeyError("mine")
        finally:
            closed.append(waits)

    for call in (stub.Chat, stub.Collect):
        for waits in (False, True):
            with pytest.raises(KeyError, match="mine"):
                list(call(failing(waits)))
    assert closed == [False, True] * 2
    assert {outcome for _, _, outcome in session_bench.counts} <= {"unanswered", "success"}
    # The connection is fine.
    assert [each.text for each in stub.Chat(iter([grpc_server.request(text="b")]))] == ["b"]


def test_a_generator_is_closed_with_its_call(session_bench: SessionBench, grpc_server: GrpcServer) -> None:
    call = grpc_of(session_bench, f"grpc://{grpc_server.place}")
    closed = []

    def waiting(**message: Any) -> Iterator[Any]:
        try:
            yield message
            gevent.sleep(3600)
        finally:
            closed.append(message)

    for _ in call.stream("echo.v1.Echo/Chat", waiting(text="left")):
        break
    refused = call.stream("echo.v1.Echo/Chat", waiting(text="refused", code=5))
    assert (list(refused), refused.status) == ([], "NOT_FOUND")
    assert call("echo.v1.Echo/Collect", waiting(text="one", code=5)).status == "NOT_FOUND"
    gevent.sleep(0)
    assert [each["text"] for each in closed] == ["left", "refused", "one"]


def test_streams_are_lists(session_bench: SessionBench, grpc_server: GrpcServer) -> None:
    call = grpc_of(session_bench, f"grpc://{grpc_server.place}")
    assert call("echo.v1.Echo/Collect", [{"text": "a"}, {"text": "b"}]).message["text"] == "a b"
    assert [each["number"] for each in call("echo.v1.Echo/List", {"count": 2}).messages] == [0, 1]
    assert call("echo.v1.Echo/List", {}).message is None


def test_replies_of_a_stream_come_one_by_one_and_have_rows(
    session_bench: SessionBench, grpc_server: GrpcServer
) -> None:
    call = grpc_of(session_bench, f"grpc://{grpc_server.place}")
    method = "echo.v1.Echo/List"
    stream = call.stream(method, {"text": "x", "count": 5}, timeout=20)
    assert [each["number"] for each in stream] == list(range(5))
    assert (bool(stream), stream.status, list(stream)) == (True, "OK", [])
    failed = call.stream(method, {"text": "x", "code": 9}, name="failed")
    assert (list(failed), failed.status, str(failed.error)) == (
        [],
        "FAILED_PRECONDITION",
        "grpc FAILED_PRECONDITION: requested: 100 % of x",
    )
    left = call.stream(method, {"count": 100_000}, name="left")
    for each in left:
        if each["number"] == 3:
            break
    assert left.status == "CANCELLED"
    late = call.stream(method, {"wait": 1.5}, name="late", timeout=0.2)
    assert list(late) == [] and late.error is not None
    assert not list(grpc_of(session_bench, "grpc://127.0.0.1:1").stream(method, {}, name="nobody"))
    counts = session_bench.counts
    assert counts["each event", method, "success"] == 5 and counts["first event", method, "success"] == 1
    assert counts["each event", "left", "success"] >= 4
    ends = {name: outcome for kind, name, outcome in counts if kind == "gRPC"}
    assert ends == {method: "success", "failed": "http", "left": "success", "late": "timeout", "nobody": "connect"}


def test_a_code_is_a_failure_unless_the_block_says_so(session_bench: SessionBench, grpc_server: GrpcServer) -> None:
    call = grpc_of(session_bench, f"grpc://{grpc_server.place}")
    reply = call(SAY, {"code": 14, "text": "x"}, name="down")
    assert not reply and (reply.status, reply.details) == ("UNAVAILABLE", "requested: 100 % of x")
    assert reply.message is None
    with call(SAY, {"code": 5}, name="missing", catch_response=True) as reply:
        assert reply.status == "NOT_FOUND"
        reply.success()
    with call(SAY, {}, name="empty", catch_response=True) as reply:
        reply.failure("no text")
    assert session_bench.counts == {
        ("gRPC", "down", "http"): 1, ("gRPC", "missing", "success"): 1, ("gRPC", "empty", "assertion"): 1,
    }  # fmt: skip
    assert ("http", "grpc UNAVAILABLE: requested: 100 % of x") in session_bench.failures


def test_a_deadline_is_a_timeout(session_bench: SessionBench, grpc_server: GrpcServer) -> None:
    call = grpc_of(session_bench, f"grpc://{grpc_server.place}")
    assert call(SAY, {"wait": 1.5}, timeout=0.2).error is not None
    assert call(SAY, {"code": 4}).status == "DEADLINE_EXCEEDED"
    assert session_bench.counts == {("gRPC", SAY, "timeout"): 2}


def test_listeners_get_the_reply(session_bench: SessionBench, grpc_server: GrpcServer) -> None:
    heard: list[dict[str, Any]] = []
    session_bench.event.add_listener(lambda **fields: heard.append(fields))
    call = grpc_of(session_bench, f"grpc://{grpc_server.place}")
    call(SAY, {"text": "x"}, context={"a": 1})
    (fields,) = heard
    assert (fields["request_type"], fields["name"], fields["context"]) == ("gRPC", SAY, {"a": 1})
    assert (fields["response"].message["text"], fields["exception"]) == ("x", None)
    assert fields["url"] == f"http://{grpc_server.place}/{SAY}"
    assert session_bench.counts == {("gRPC", SAY, "success"): 1}


def test_a_server_of_another_kind_is_a_failure(session_bench: SessionBench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_answer_in_http1, args=[listener], daemon=True).start()
        reply = grpc_of(session_bench, f"grpc://127.0.0.1:{listener.getsockname()[1]}")(SAY, {})
    assert (reply.status, reply.status_code, bool(reply)) == ("", 0, False)
    assert str(reply.error) == "the server answers in HTTP/1: it has no HTTP/2 here"
    ((method, name, outcome),) = session_bench.counts
    assert (method, name, outcome) == ("gRPC", SAY, "protocol")
    assert not grpc_of(session_bench, "grpc://127.0.0.1:1")(SAY, {})
    assert ("connect", "Connection refused") in session_bench.failures


def _answer_in_http1(listener: socket.socket) -> None:
    with listener.accept()[0] as connection:
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")


def test_mistakes_are_raised_before_anything_is_sent(session_bench: SessionBench, grpc_server: GrpcServer) -> None:
    call = grpc_of(session_bench, f"grpc://{grpc_server.place}")
    with pytest.raises(LocustError, match=r'has no method "Sya"; did you mean "Say"\?'):
        call("echo.v1.Echo/Sya", {})
    with pytest.raises(ValueError, match="unrecognized field name 'txt'"):
        call(SAY, {"txt": 1})
    with pytest.raises(LocustError, match=r"proto: .*none\.proto"):
        grpc_of(session_bench, "grpc://127.0.0.1:1", proto="none.proto")(SAY, {})
    assert session_bench.counts == {} and not grpc_server.counts

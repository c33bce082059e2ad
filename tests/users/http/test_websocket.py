"""WebSockets of a session: what is sent and received, how it is counted, and how it ends."""

from __future__ import annotations

import base64
import hashlib
import re
import socket
import threading
from typing import TYPE_CHECKING, Any

import gevent
import pytest
from tests.socket_server import EchoServer
from tests.users.recording_server import answer

from plimsoll.record import Health
from plimsoll.users import hub as hubs
from plimsoll.users.http import websocket

if TYPE_CHECKING:
    from tests.users.conftest import SessionBench
    from tests.users.recording_server import RecordingServer

SOON_S = 20.0


def test_messages_are_counted_and_a_reply_is_timed_from_its_message(
    session_bench: SessionBench, echo: EchoServer
) -> None:
    session = session_bench.http(f"http://{echo.place}")
    with session.websocket("/chat") as ws:
        assert ws and ws.close_code is None
        assert ws.send("text") and ws.receive(SOON_S) == "text"
        assert ws.send(b"\x00\xff") and ws.receive(SOON_S) == b"\x00\xff"
    assert (bool(ws), ws.close_code, echo.received) == (False, 1000, ["text", b"\x00\xff"])
    assert session_bench.counts == {
        ("WS", "/chat", "success"): 1,
        ("WS receive", "/chat", "success"): 2,
        ("message out", "/chat", "success"): 2,
        ("message in", "/chat", "success"): 2,
        ("WS close", "/chat", "success"): 1,
    }
    assert session_bench.recorder.total()[0] == 3, "messages and ends are no requests"
    (received,) = (each for each in session_bench.recorded if each.method == "WS receive")
    assert 0 < received.service_sum <= received.response_sum


def test_arrivals_of_messages_have_the_kernels_stamps(session_bench: SessionBench, echo: EchoServer) -> None:
    ws = session_bench.http(f"http://{echo.place}").websocket("/")
    for _ in range(5):
        ws.send("x")
        ws.receive(SOON_S)
    _, health, _ = session_bench.recorder.take()
    assert sum(Health.from_tuple(0, row).user_stamps for row in health) == 0
    ws.close()


def test_a_whole_url_a_name_headers_and_a_subprotocol(session_bench: SessionBench) -> None:
    server = EchoServer(subprotocols=["v2"], compression="deflate")
    session = session_bench.http("http://127.0.0.1:1")
    options: dict[str, Any] = {"headers": {"X-A": "b"}, "subprotocols": ["v1", "v2"], "compression": True}
    ws = session.websocket(f"ws://{server.place}/chat?room=1", name="chat", **options)
    ws.send("long " * 1000)
    assert (ws.receive(SOON_S), ws.subprotocol) == ("long " * 1000, "v2")
    ws.close()
    server.close()
    assert ("WS receive", "chat", "success") in session_bench.counts


def test_a_timeout_is_an_outcome_and_the_message_still_comes(session_bench: SessionBench, echo: EchoServer) -> None:
    ws = session_bench.http(f"http://{echo.place}").websocket("/")
    assert ws.receive(0.05) is None
    assert ws.send("late") and ws.receive(SOON_S) == "late"
    assert session_bench.counts["WS receive", "/", "timeout"] == 1
    assert ("timeout", "no message within 0.05 s") in session_bench.failures
    ws.close()


def test_the_code_of_the_server_is_the_outcome(session_bench: SessionBench, echo: EchoServer) -> None:
    ws = session_bench.http(f"http://{echo.place}").websocket("/busy")
    for _ in range(3):
        ws.send("x")
    received = [ws.receive(SOON_S) for _ in range(3)]
    assert received == ["x", "x", None]
    assert (ws.close_code, ws.error) == (1013, "the server closed the connection with code 1013: later")
    assert (ws.receive(), ws.send("y")) == (None, False)
    counts = session_bench.counts
    assert (counts["WS receive", "/busy", "reset"], counts["WS close", "/busy", "reset"]) == (1, 1)


def test_iteration_and_a_callback_take_what_comes(session_bench: SessionBench) -> None:
    server = EchoServer(["one", "two"])
    session = session_bench.http(f"http://{server.place}")
    ws = session.websocket("/busy")
    ws.send("a"), ws.send("b"), ws.send("c")
    assert list(ws) == ["one", "two", "a", "b"]
    heard: list[object] = []
    other = session.websocket("/")
    other.on_message(heard.append)
    other.send("three")
    with gevent.Timeout(SOON_S):
        while len(heard) < 3:
            gevent.sleep(0.01)
    other.close()
    server.close()
    assert heard == ["one", "two", "three"]
    assert not any(method == "WS receive" for method, *_ in session_bench.counts)


def test_a_user_that_only_sends_keeps_few_times_of_it(
    session_bench: SessionBench, echo: EchoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "MOST_UNREAD", 3)
    ws = session_bench.http(f"http://{echo.place}").websocket("/")
    for _ in range(8):
        ws.send("é")
    assert len(ws._sends) == 3
    assert ws.receive(SOON_S) == "é"
    ws.close()
    counts = session_bench.counts
    assert (counts["message out", "/", "success"], counts["WS receive", "/", "success"]) == (8, 1)


def test_unread_messages_are_discarded_by_their_bytes_and_the_newest_is_kept(
    session_bench: SessionBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "MOST_UNREAD_BYTES", 100)
    server = EchoServer(["a" * 60, "b" * 60, "c" * 40, "d" * 200])
    ws = session_bench.http(f"http://{server.place}").websocket("/")
    kept = [[(each[0][0], len(each[0])) for each in ws._unread]]
    with gevent.Timeout(SOON_S):
        while not kept[-1] or kept[-1][-1][0] != "d":
            gevent.sleep(0.001)
            kept.append([(each[0][0], len(each[0])) for each in ws._unread])
    assert kept[-1] == [("d", 200)]
    assert all(sum(size for _, size in each) <= 100 for each in kept[:-1])
    assert (ws.receive(SOON_S), ws._unread_bytes) == ("d" * 200, 0)
    ws.close()
    server.close()


def test_the_failure_of_a_refused_websocket_quotes_the_beginning_of_the_body(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    target.answers["/no"] = answer(403, b'{"error":\n"missing subprotocol"}\x1b[2J')
    target.answers["/long"] = answer(503, b"x" * 100_000)
    target.answers["/empty"] = answer(400, b"")
    session = session_bench.http(target.url)
    ended = "the server does not open a WebSocket: status"
    reason = '{"error": "missing subprotocol"}\ufffd[2J'
    assert session.websocket("/no").error == f"{ended} 403, not 101: {reason}"
    assert session.websocket("/long").error == f"{ended} 503, not 101: {'x' * 200}…"
    assert session.websocket("/empty").error == f"{ended} 400, not 101"
    texts = {text for outcome, text in session_bench.failures if outcome == "http"}
    assert texts == {
        f"HTTPError('403 Client Error: Reason for url: /no: {reason}')",
        f"HTTPError('503 Server Error: Reason for url: /long: {'x' * 200}…')",
        "HTTPError('400 Client Error: Reason for url: /empty')",
    }


def test_a_body_that_does_not_come_is_not_waited_for(
    session_bench: SessionBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "BODY_WAIT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with listener.accept()[0] as connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 99\r\n\r\nfirst")
                connection.recv(1)

        threading.Thread(target=serve, daemon=True).start()
        with gevent.Timeout(SOON_S):
            ws = session_bench.http(f"http://127.0.0.1:{listener.getsockname()[1]}").websocket("/")
    assert ws.error == "the server does not open a WebSocket: status 400, not 101: first"
    assert session_bench.counts == {("WS", "/", "http"): 1}


def test_a_user_whose_websocket_is_refused_waits_before_the_next(
    session_bench: SessionBench, target: RecordingServer, echo: EchoServer
) -> None:
    target.answers["/no"] = answer(403, b"")
    session = session_bench.http(target.url)
    hub = hubs.current()
    before = hub.all_backed_off

    def waited(attempts: int) -> float:
        start = hub.all_backed_off
        for _ in range(attempts):
            assert not session.websocket("/no")
        return (hub.all_backed_off - start) / 1e6

    assert waited(1) == 0
    # After the first refusal 5 to 10 ms, then 10 to 20, 20 to 40 and 40 to 80.
    assert 60 < waited(4) < 250
    # Another server did not refuse it.
    others = hub.all_backed_off
    assert session.websocket(f"ws://{echo.place}/")
    assert hub.all_backed_off == others
    hub.backs_off = False
    try:
        assert waited(3) == 0
    finally:
        hub.backs_off = True
    assert hub.all_backed_off > before


def test_a_server_that_opens_no_websocket_is_a_failure_and_no_exception(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    ws = session_bench.http(target.url).websocket("/plain")
    assert not ws
    assert ws.error == "the server does not open a WebSocket: status 200, not 101"
    assert (ws.send("x"), ws.receive(), list(ws)) == (False, None, [])
    ws.close()
    target.answers["/moved"] = answer(301, b"", (("Location", "/there"),))
    moved = session_bench.http(target.url).websocket("/moved")
    assert moved.error == "the server does not open a WebSocket: status 301, not 101; it redirects to /there"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        refusing = listener.getsockname()[1]
    refused = session_bench.http(f"http://127.0.0.1:{refusing}").websocket("/")
    assert not refused and "refused" in str(refused.error)
    assert session_bench.counts == {
        ("WS", "/plain", "protocol"): 1, ("WS", "/moved", "protocol"): 1, ("WS", "/", "connect"): 1,
    }  # fmt: skip


def test_a_close_code_that_cannot_be_sent_is_a_mistake_of_the_code(
    session_bench: SessionBench, echo: EchoServer
) -> None:
    ws = session_bench.http(f"http://{echo.place}").websocket("/")
    with pytest.raises(ValueError, match="1006 is no code that can be sent"):
        ws.close(1006)
    ws.close(4000, "bye")
    assert ws.close_code == 4000


def test_pings_are_answered_while_the_user_does_something_else(session_bench: SessionBench) -> None:
    server = EchoServer(ping_interval=0.05, ping_timeout=0.2)
    ws = session_bench.http(f"http://{server.place}").websocket("/")
    gevent.sleep(1.0)
    assert ws.send("still there") and ws.receive(SOON_S) == "still there"
    ws.close()
    server.close()


def _read_late(listener: socket.socket, go: threading.Event, read: list[int]) -> None:
    """Open a WebSocket, wait, and read all that comes."""
    connection, _ = listener.accept()
    with connection:
        head = connection.recv(4096).decode()
        key = re.search(r"Sec-WebSocket-Key: (\S+)", head)
        assert key is not None
        digest = hashlib.sha1(f"{key[1]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()
        lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
        lines += [f"Sec-WebSocket-Accept: {base64.b64encode(digest).decode()}", "", ""]
        connection.sendall("\r\n".join(lines).encode())
        go.wait()
        while data := connection.recv(1 << 20):
            read.append(len(data))
            if sum(read) >= LONG:
                connection.sendall(b"\x88\x02\x03\xe8")


LONG = 20_000_000


def test_a_send_waits_for_a_server_that_reads_slowly(session_bench: SessionBench) -> None:
    go, read = threading.Event(), list[int]()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=_read_late, args=(listener, go, read), daemon=True)
        server.start()
        ws = session_bench.http(f"http://127.0.0.1:{listener.getsockname()[1]}").websocket("/")
        sender = gevent.spawn(ws.send, "x" * LONG)
        gevent.sleep(0.1)
        assert not sender.ready()
        assert ("message out", "/", "success") not in session_bench.counts
        go.set()
        assert sender.get(timeout=SOON_S)
        assert ws.receive(SOON_S) is None
        server.join(SOON_S)
    assert (ws.close_code, sum(read)) == (1000, LONG + 14 + 8), "the message, and the answer to the close frame"
    assert session_bench.counts["message out", "/", "success"] == 1


def test_listeners_of_requests_see_messages(session_bench: SessionBench, echo: EchoServer) -> None:
    seen: list[dict[str, Any]] = []
    session_bench.event.add_listener(lambda **fields: seen.append(fields))
    ws = session_bench.http(f"http://{echo.place}").websocket("/chat", context={"who": "me"})
    ws.send("x")
    ws.receive(SOON_S)
    assert [each["request_type"] for each in seen] == ["WS", "WS receive"]
    assert (seen[1]["response"].content, seen[1]["response_length"], seen[1]["context"]) == ("x", 1, {"who": "me"})
    assert session_bench.counts["WS receive", "/chat", "success"] == 1
    ws.close()

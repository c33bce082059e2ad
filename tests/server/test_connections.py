"""Visitors who are slow, many or broken do not cost the run."""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from http.client import HTTPResponse

import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from tests.server.page_server import serve_page, wait_until

from plimsoll.server import connections
from plimsoll.server.connections import OncePerMinute


def _connect(page) -> socket.socket:
    host, port = page.url.split("/")[2].rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=30)


def _ask(connection: socket.socket) -> int:
    """Make a request, read all of its answer; the status."""
    connection.sendall(b"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    answer = HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc",
    ],
)
def test_a_request_that_does_not_end_is_cut_off(monkeypatch, beginning):
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_S", 0.3)
    with serve_page() as page, _connect(page) as slow:
        slow.sendall(beginning)
        with pytest.raises(ConnectionResetError):
            while slow.recv(4096):
                pass
            raise ConnectionResetError  # closed without a reset is as good
        assert page.json("api/state")["mode"] == "serve"


def test_dripping_bytes_do_not_prolong_it(monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_S", 0.3)
    with serve_page() as page, _connect(page) as slow:
        began = time.monotonic()
        with pytest.raises(OSError):
            while time.monotonic() - began < 30:
                slow.sendall(b"G")
                time.sleep(0.02)


def test_a_connection_that_is_used_again_and_again_goes_on(monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_S", 0.5)
    with serve_page() as page, _connect(page) as kept:
        for _ in range(4):
            assert _ask(kept) == 200
            time.sleep(0.3)


def _ask_and_read_nothing(page) -> socket.socket:
    """Requests whose answers are more than the system buffers."""
    held = _connect(page)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    held.settimeout(0.2)
    with contextlib.suppress(TimeoutError):
        for _ in range(100):
            held.sendall(b"GET /big HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    held.settimeout(30)
    return held


def _add_big_answer(page) -> None:
    page.server._app.router.routes.insert(0, Route("/big", lambda _: PlainTextResponse("x" * 30_000_000)))


def test_connections_that_read_nothing_make_room(monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 3)
    monkeypatch.setattr(connections, "TAKEN_TIMEOUT_S", 0.3)
    with serve_page() as page:
        _add_big_answer(page)
        held = [_ask_and_read_nothing(page) for _ in range(3)]

        def has_room() -> bool:
            with _connect(page) as again:
                return _ask(again) == 200

        wait_until(has_room)
        for each in held:
            each.close()


def test_a_slow_reader_gets_the_whole_answer(monkeypatch):
    monkeypatch.setattr(connections, "TAKEN_TIMEOUT_S", 0.3)
    monkeypatch.setattr(connections, "TAKEN_BYTES", 1)
    with serve_page() as page, _connect(page) as slow:
        _add_big_answer(page)
        slow.sendall(b"GET /big HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        answer = HTTPResponse(slow)
        answer.begin()
        taken = 0
        while piece := answer.read(2_000_000):
            taken += len(piece)
            time.sleep(0.06)
        assert taken == 30_000_000


def test_one_connection_too_many_is_refused_and_there_is_room_again(monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 3)
    with serve_page() as page:
        several = [_connect(page) for _ in range(3)]
        for each in several:
            assert _ask(each) == 200
        with _connect(page) as refused:
            assert refused.recv(4096).startswith(b"HTTP/1.1 503")
            assert refused.recv(4096) == b""
        for each in several:
            each.close()

        def has_room() -> bool:
            with _connect(page) as again:
                return _ask(again) == 200

        wait_until(has_room)


def test_a_message_of_one_kind_is_logged_once_a_minute(caplog):
    seconds = [0.0]
    logger = logging.getLogger("plimsoll.test.once")
    logger.addFilter(OncePerMinute(lambda: seconds[0]))
    with caplog.at_level(logging.WARNING, logger.name):
        for second in range(0, 130, 10):
            seconds[0] = float(second)
            logger.warning("broken %d", second)
            logger.error("worse")
    assert [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING] == [
        "broken 0",
        "broken 60 (and 5 more in the meantime)",
        "broken 120 (and 5 more in the meantime)",
    ]
    assert sum(each.levelno == logging.ERROR for each in caplog.records) == 3


def test_another_exception_is_another_kind(caplog):
    logger = logging.getLogger("plimsoll.test.exceptions")
    logger.addFilter(OncePerMinute(lambda: 0.0))
    for each in ("one", "other", "one"):
        logger.error("failed", exc_info=ValueError(each))
    assert [str(each.exc_info[1]) for each in caplog.records if each.exc_info] == ["one", "other"]


def test_bad_requests_are_one_line_of_the_log(caplog):
    for each in logging.getLogger("uvicorn.error").filters:
        logging.getLogger("uvicorn.error").removeFilter(each)
    with serve_page() as page, caplog.at_level(logging.WARNING, "uvicorn.error"):
        for _ in range(5):
            with _connect(page) as broken:
                broken.sendall(b"\x00\x01\r\n\r\n")
                assert broken.recv(4096).startswith(b"HTTP/1.1 400")
    assert [each.getMessage() for each in caplog.records] == ["Invalid HTTP request received."]

"""What failed exchanges are called."""

from __future__ import annotations

import http.client
import socket
import ssl
import time
import zlib
from typing import TYPE_CHECKING, Any

import gevent
import pytest
import requests
from tests.users.recording_server import ClosingAnswer, RecordingServer, answer
from urllib3 import Timeout
from urllib3.exceptions import ProtocolError

from plimsoll._engine import held_bodies, limit_bodies
from plimsoll.users.exceptions import CatchResponseError
from plimsoll.users.failure import LocustBadStatusCode, message_of, outcome_of, root_of
from plimsoll.users.http import url
from plimsoll.users.http.session import HttpSession
from plimsoll.users.hub import current

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.users.conftest import SessionBench

errors = requests.exceptions

HALF = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"


def _closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def test_a_refused_connection(session_bench: SessionBench) -> None:
    port = _closed_port()
    response = session_bench.http(f"http://127.0.0.1:{port}").get("/x?a=1")
    assert type(response.error) is errors.ConnectionError
    assert type(root_of(response.error)) is ConnectionRefusedError
    assert session_bench.failures == [("connect", "ConnectionRefusedError(111, 'Connection refused')")]
    pool = f"HTTPConnectionPool(host='127.0.0.1', port={port})"
    refused = f"HTTPConnection(host='127.0.0.1', port={port}): Failed to establish a new connection: "
    refused += "[Errno 111] Connection refused"
    expected = f'{pool}: Max retries exceeded with url: /x?a=1 (Caused by NewConnectionError("{refused}"))'
    assert str(response.error) == expected


def test_a_host_that_nobody_knows(session_bench: SessionBench) -> None:
    response = session_bench.http("http://nowhere.invalid").get("/x")
    assert type(response.error) is errors.ConnectionError
    root = root_of(response.error)
    assert isinstance(root, socket.gaierror)
    # Which of the two depends on whether there is a network.
    assert root.errno in (socket.EAI_NONAME, socket.EAI_AGAIN)
    assert session_bench.failures == [("connect", repr(root))]
    assert f"Failed to resolve 'nowhere.invalid' ({root})" in str(response.error)
    assert isinstance(session_bench.fast("http://nowhere.invalid").get("/x").error, socket.gaierror)


@pytest.mark.parametrize(
    ("bytes_sent", "root", "outcome"),
    [
        (None, http.client.RemoteDisconnected, "reset"),
        (b"nonsense\r\n\r\n", http.client.BadStatusLine, "protocol"),
    ],
)
def test_a_response_that_is_none(
    bytes_sent: bytes | None, root: type[Exception], outcome: str, session_bench: SessionBench
) -> None:
    with RecordingServer({"/x": bytes_sent}) as target:
        response = session_bench.http(target.url).get("/x")
    assert type(response.error) is errors.ConnectionError
    assert type(root_of(response.error)) is root
    assert [kind for kind, _ in session_bench.failures] == [outcome]


def test_a_connection_closed_instead_of_a_response(session_bench: SessionBench) -> None:
    with RecordingServer({"/x": None}) as target:
        response = session_bench.http(target.url).get("/x")
    said = "RemoteDisconnected('Remote end closed connection without response')"
    assert session_bench.failures == [("reset", said)]
    assert repr(response.error) == f"ConnectionError(ProtocolError('Connection aborted.', {said}))"


def test_a_response_that_ends_too_early(session_bench: SessionBench) -> None:
    with RecordingServer({"/x": ClosingAnswer(HALF)}) as target:
        response = session_bench.http(target.url).get("/x")
    assert type(response.error) is errors.ChunkedEncodingError
    assert session_bench.counts == {("GET", "/x", "reset"): 1}


@pytest.mark.parametrize("arguments", [{}, {"cookies": {"a": "1"}}])
@pytest.mark.parametrize("sent", [b"", HALF])
def test_a_read_timeout(sent: bytes, arguments: dict[str, Any], session_bench: SessionBench) -> None:
    with RecordingServer({"/x": sent}) as target:
        response = session_bench.http(target.url).get("/x", timeout=(5, 0.05), **arguments)
    assert type(response.error) is errors.ReadTimeout
    inner = f"HTTPConnectionPool(host='127.0.0.1', port={target.port}): Read timed out. (read timeout=0.05)"
    assert session_bench.failures == [("timeout", f'ReadTimeout(ReadTimeoutError("{inner}"))')]
    # What was waited for in vain counts with the limit.
    assert [each.response_min >= 50_000_000 for each in session_bench.recorded] == [True]


LARGE = 1 << 20


@pytest.fixture
def small_limits() -> Iterator[None]:
    """2 MiB for a body, 64 KiB once it is decoded, 1.5 MiB for all together; those of the engine afterwards."""
    current().engine.limit(max_body=2 * LARGE, max_decoded=64 << 10)
    limit_bodies(3 * LARGE // 2)
    yield
    current().engine.limit(max_body=1 << 30, max_decoded=64 << 20)
    limit_bodies(1 << 30)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.usefixtures("small_limits")
def test_a_body_over_a_limit_is_a_failure(fast: bool, session_bench: SessionBench) -> None:
    bomb = answer(200, zlib.compress(bytes(LARGE)), (("Content-Encoding", "deflate"),))
    answers = {"/long": answer(200, bytes(2 * LARGE + 1)), "/bomb": bomb, "/fine": answer(200, bytes(LARGE))}
    with RecordingServer(answers) as target:
        session = session_bench.fast(target.url) if fast else session_bench.http(target.url)
        for path in ("/long", "/bomb", "/fine"):
            session.get(path)
    counts = {("GET", "/long", "protocol"): 1, ("GET", "/bomb", "protocol"): 1, ("GET", "/fine", "success"): 1}
    assert session_bench.counts == counts
    said = " ".join(message for _, message in session_bench.failures)
    assert "the response body is over the limit of 2097152 bytes" in said
    assert "the decoded body is over the limit of 65536 bytes" in said


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.usefixtures("small_limits")
def test_bodies_that_are_held_are_counted_together(fast: bool, session_bench: SessionBench) -> None:
    with RecordingServer({"/x": answer(200, bytes(LARGE))}) as target:
        session = session_bench.fast(target.url) if fast else session_bench.http(target.url)
        held = session.get("/x")
        refused = session.get("/x")
        assert "over the limit of 1572864 bytes for all users of a worker" in str(refused.error)
        assert session_bench.counts == {("GET", "/x", "success"): 1, ("GET", "/x", "protocol"): 1}
        assert len(held.content) == LARGE
        # The copy that Python has is counted, too.
        assert held_bodies() >= 2 * LARGE
        del held, refused
        assert held_bodies() == 0
        assert session.get("/x").status_code == 200


@pytest.mark.usefixtures("small_limits")
def test_a_decoded_body_needs_memory_as_well(session_bench: SessionBench) -> None:
    current().engine.limit(max_body=2 * LARGE, max_decoded=4 * LARGE)
    packed = answer(200, zlib.compress(bytes(LARGE)), (("Content-Encoding", "deflate"),))
    with RecordingServer({"/x": packed}) as target:
        session = session_bench.http(target.url)
        held = session.get("/x")
        assert "1572864 bytes for all users of a worker" in str(session.get("/x").error)
        assert held.content == bytes(LARGE)
    assert session_bench.counts == {("GET", "/x", "success"): 1, ("GET", "/x", "protocol"): 1}


def _drip(_: Any) -> Iterator[bytes]:
    """Far more bytes than anybody waits for, one at a time."""
    yield b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
    while True:
        yield b"x"
        time.sleep(0.002)


@pytest.mark.parametrize("arguments", [{}, {"cookies": {"a": "1"}}])
@pytest.mark.parametrize("timeout", [0.2, Timeout(total=0.2, read=5)])
def test_a_timeout_is_the_limit_of_the_whole_request(
    timeout: Any, arguments: dict[str, Any], session_bench: SessionBench
) -> None:
    with RecordingServer({"/x": _drip}) as target:
        response = session_bench.http(target.url).get("/x", timeout=timeout, **arguments)
    assert type(response.error) is errors.ReadTimeout
    assert response.reply.error == "no complete response within 0.2 s"
    assert response.reply.service == 200_000_000
    assert session_bench.counts == {("GET", "/x", "timeout"): 1}


def test_the_limit_of_a_request_is_that_of_all_its_redirects(session_bench: SessionBench) -> None:
    def redirect(_: Any) -> bytes:
        time.sleep(0.05)
        return answer(302, b"", (("Location", "/x"),))

    with RecordingServer({"/x": redirect}) as target:
        for session in (session_bench.http(target.url), session_bench.fast(target.url, timeout=0.2, max_redirects=30)):
            response = session.get("/x", **({"timeout": 0.2} if isinstance(session, HttpSession) else {}))
            assert response.reply.error == "no complete response within 0.2 s"
            # A redirect may come just as the time is over.
            assert response.reply.service >= 200_000_000
    assert session_bench.counts == {("GET", "/x", "timeout"): 2}


def test_a_connect_timeout(session_bench: SessionBench) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        full_port = full.getsockname()[1]
        url = f"http://127.0.0.1:{full_port}"
        # The queue takes one more than it should.
        queued = [socket.socket() for _ in range(3)]
        for each in queued:
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        response = session_bench.http(url).get("/x", timeout=(0.05, 5))
        for each in queued:
            each.close()
    assert type(response.error) is errors.ConnectTimeout
    # Without the address of the connection, which Locust masks as well.
    peer = f"<HTTPConnection(host='127.0.0.1', port={full_port}) at 0x....>"
    message = f"ConnectTimeoutError({peer}, 'Connection to 127.0.0.1 timed out. (connect timeout=0.05)')"
    assert session_bench.failures == [("timeout", message)]
    assert f"Max retries exceeded with url: /x (Caused by {message})" in str(response.error)


def test_a_certificate_that_nobody_trusts(session_bench: SessionBench, certificate: tuple[str, str]) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with RecordingServer({"/x": answer(200, b"in")}, context=context) as target:
        session = session_bench.http(target.url)
        response = session.get("/x")
        assert type(response.error) is errors.SSLError
        assert isinstance(root_of(response.error), ssl.SSLError)
        assert session.get("/x", verify=False).text == "in"
        assert session.get("/x", verify=certificate[0]).text == "in"
        session.verify = False
        assert session.get("/x").text == "in"
        assert session_bench.fast(target.url).get("/x").text == "in"
        assert isinstance(session_bench.fast(target.url, insecure=False).get("/x").error, ssl.SSLError)
    assert session_bench.counts == {("GET", "/x", "tls"): 2, ("GET", "/x", "success"): 4}


def test_a_certificate_file_that_is_not_there_is_an_exception(session_bench: SessionBench) -> None:
    session = session_bench.http("https://127.0.0.1:1")
    with pytest.raises(OSError, match="invalid path: /nowhere"):
        session.get("/x", verify="/nowhere")
    with pytest.raises(OSError, match="invalid path: /nowhere"):
        session.get("/x", cert=("/nowhere", "/nowhere"))


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (CatchResponseError("bare"), "bare"),
        (CatchResponseError(7), "7"),
        ("text", "text"),
        (ValueError("x"), "ValueError('x')"),
        (LocustBadStatusCode("http://x", 503), "LocustBadStatusCode(code=503)"),
        (ValueError("<a.B object at 0x7fd0>, <C at 0xAB>"), "ValueError('<a.B object at 0x....>, <C at 0x....>')"),
    ],
)
def test_a_failure_is_filed_under(error: BaseException | str, message: str) -> None:
    assert message_of(error) == message


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (errors.HTTPError("500"), "http"),
        (LocustBadStatusCode("http://x", 500), "http"),
        (errors.ConnectTimeout(), "timeout"),
        (gevent.Timeout(1), "timeout"),
        (errors.SSLError(), "tls"),
        (ssl.SSLError(), "tls"),
        (socket.gaierror(-2, "unknown"), "connect"),
        (ConnectionResetError(), "reset"),
        (errors.ConnectionError(), "assertion"),
        (ProtocolError("odd"), "protocol"),
        (KeyError("a"), "assertion"),
    ],
)
def test_an_exception_of_a_custom_client_is_of_the_kind(error: BaseException, outcome: str) -> None:
    assert outcome_of(error) == outcome


def test_a_wrapped_exception_is_of_the_kind_of_its_root() -> None:
    wrapped = errors.ConnectionError("outer")
    wrapped.__context__ = ConnectionRefusedError(111, "refused")
    assert outcome_of(wrapped) == "connect"


def test_every_certificate_is_accepted_once_that_is_asked_for(
    session_bench: SessionBench, certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(url, "_accepts_any_certificate", False)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with RecordingServer({"/x": answer(200, b"in")}, context=context) as target:
        assert "self-signed certificate: --insecure accepts it" in str(session_bench.http(target.url).get("/x").error)
        url.accept_any_certificate()
        assert session_bench.http(target.url).get("/x").text == "in"

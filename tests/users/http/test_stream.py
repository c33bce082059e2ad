"""Streamed responses: the same through both clients, and what requests would say of them."""

from __future__ import annotations

import contextlib
import gzip
import threading
import zlib
from typing import TYPE_CHECKING, Any

import gevent
import pytest
import requests
from requests import exceptions as errors
from tests.users.recording_server import ClosingAnswer, answer

from plimsoll.users.http.stream import STREAK, sliced
from plimsoll.users.hub import current

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.users.conftest import SessionBench
    from tests.users.recording_server import ReceivedRequest, RecordingServer

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
LIMIT = 10.0


def chunk(text: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(text), text)


class Steps:
    """An answer whose parts are sent one by one, when the test says so."""

    def __init__(self, *parts: bytes) -> None:
        self._parts = parts
        self._go = threading.Semaphore(0)

    def __call__(self, _: ReceivedRequest) -> Iterator[bytes]:
        for part in self._parts:
            assert self._go.acquire(timeout=LIMIT)
            yield part

    def step(self, count: int = 1) -> None:
        self._go.release(count)


@pytest.fixture(params=["http", "fast"])
def session(request: pytest.FixtureRequest, session_bench: SessionBench, target: RecordingServer) -> Any:
    return getattr(session_bench, request.param)(target.url)


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    """A wait that never ends fails its test."""
    with gevent.Timeout(LIMIT):
        yield


def connections(target: RecordingServer) -> int:
    return len({got.connection for got in target.got})


def test_a_response_is_there_with_its_head_and_its_body_as_it_comes(
    target: RecordingServer, session: Any, session_bench: SessionBench
) -> None:
    steps = Steps(CHUNKED + b"\r\n", chunk(b"one"), chunk(b"two"), b"0\r\n\r\n")
    target.answers["/x"] = steps
    steps.step()
    response = session.get("/x", stream=True)
    assert (response.status_code, response.ok) == (200, True)
    assert session_bench.counts == {("GET", "/x", "success"): 1}
    pieces = requests.Response.iter_content(response, 512)
    for text in (b"one", b"two"):
        steps.step()
        assert next(pieces) == text
    steps.step()
    assert list(pieces) == []
    session.get("/y")
    assert connections(target) == 1


def test_lines_of_an_event_stream_come_one_by_one(target: RecordingServer, session_bench: SessionBench) -> None:
    steps = Steps(CHUNKED + b"\r\n", chunk(b"data: 1\n\n"), chunk(b"data: 2\n"), chunk(b"\n"), b"0\r\n\r\n")
    target.answers["/events"] = steps
    steps.step(2)
    lines = session_bench.http(target.url).get("/events", stream=True).iter_lines()
    assert [next(lines), next(lines)] == [b"data: 1", b""]
    steps.step()
    assert next(lines) == b"data: 2"
    steps.step(2)
    assert list(lines) == [b""]


def test_the_lines_of_the_fast_client(target: RecordingServer, session_bench: SessionBench) -> None:
    head = CHUNKED.replace(b"200 OK", b"200 OK\r\nContent-Type: text/plain") + b"\r\n"
    steps = Steps(head, chunk("ä".encode()[:1]), chunk("ä".encode()[1:] + b"\nrest"), b"0\r\n\r\n")
    target.answers["/x"] = steps
    steps.step(3)
    lines = session_bench.fast(target.url).iter_lines("/x")
    assert next(lines) == "ä"
    steps.step()
    assert list(lines) == ["rest"]
    with pytest.raises(Exception, match="code=500"):
        target.answers["/bad"] = answer(500)
        next(session_bench.fast(target.url).iter_lines("/bad"))


def test_time_and_length_of_an_exchange_are_those_of_its_head(
    target: RecordingServer, session: Any, session_bench: SessionBench
) -> None:
    events: list[dict[str, Any]] = []
    session_bench.event.add_listener(lambda **event: events.append(event))
    steps = Steps(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", b"body")
    target.answers["/x"] = steps
    steps.step()
    response = session.get("/x", stream=True)
    (event,) = events
    assert (event["response_length"], event["exception"]) == (4, None)
    assert event["response_time"] == pytest.approx((response.reply.first_byte - response.reply.due) / 1e6)
    steps.step()
    assert response.content == b"body"
    assert len(events) == 1
    assert sum(each.bytes_body for each in session_bench.recorded) == 4


def test_without_a_length_the_recorded_length_is_nothing(
    target: RecordingServer, session: Any, session_bench: SessionBench
) -> None:
    target.answers["/x"] = CHUNKED + b"\r\n" + chunk(b"text") + b"0\r\n\r\n"
    assert session.get("/x", stream=True).content == b"text"
    assert sum(each.bytes_body for each in session_bench.recorded) == 0


def test_a_verdict_after_reading_decides(target: RecordingServer, session: Any, session_bench: SessionBench) -> None:
    steps = Steps(CHUNKED + b"\r\n", chunk(b"wrong"), b"0\r\n\r\n")
    target.answers["/x"] = steps
    steps.step()
    with session.get("/x", stream=True, catch_response=True) as response:
        assert session_bench.counts == {}
        steps.step(2)
        if response.content != b"right":
            response.failure("not right")
    assert session_bench.failures == [("assertion", "not right")]


@pytest.mark.parametrize("leave", ["block", "close", "forget"])
def test_a_connection_with_an_unread_body_is_closed_and_never_used_again(
    target: RecordingServer, session: Any, leave: str
) -> None:
    target.answers["/x"] = lambda _: [CHUNKED + b"\r\n", chunk(b"one")]
    response = session.get("/x", stream=True, catch_response=leave == "block")
    if leave == "block":
        with response:
            pass
    elif leave == "close":
        response.close()
    # Nothing is waited for.
    assert leave == "forget" or list(requests.Response.iter_content(response, 10)) == []
    if leave == "forget":
        del response
    engine = current().engine
    session.get("/y")
    assert connections(target) == 2
    assert engine.in_flight == 0


@pytest.mark.parametrize(
    ("coding", "coded"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("identity", bytes)],
)
def test_content_codings_are_undone_while_the_body_comes(
    target: RecordingServer, session: Any, coding: str, coded: Callable[[bytes], bytes]
) -> None:
    body = coded(b"plain text")
    head = CHUNKED + f"Content-Encoding: {coding}\r\n\r\n".encode()
    target.answers["/x"] = lambda _: [head, *(chunk(body[at : at + 1]) for at in range(len(body))), b"0\r\n\r\n"]
    assert session.get("/x", stream=True).content == b"plain text"
    pieces = requests.Response.iter_content(session.get("/x", stream=True), 4)
    assert b"".join(pieces) == b"plain text"


def test_flushed_text_comes_out_before_the_rest_of_its_coding(target: RecordingServer, session: Any) -> None:
    packer = zlib.compressobj(wbits=31)
    first = packer.compress(b"one") + packer.flush(zlib.Z_SYNC_FLUSH)
    steps = Steps(CHUNKED + b"Content-Encoding: gzip\r\n\r\n", chunk(first), chunk(packer.flush()) + b"0\r\n\r\n")
    target.answers["/x"] = steps
    steps.step(2)
    pieces = requests.Response.iter_content(session.get("/x", stream=True), 100)
    assert next(pieces) == b"one"
    steps.step()
    assert list(pieces) == []


def _consume(response: Any) -> bytes:
    return b"".join(requests.Response.iter_content(response, 10))


OUTCOMES = {"in a chunk": "reset", "before its length": "reset", "nonsense": "protocol", "a damaged coding": "protocol"}
BROKEN: dict[str, tuple[list[bytes], type[Exception]]] = {
    "in a chunk": ([CHUNKED + b"\r\n", chunk(b"one"), ClosingAnswer(b"5\r\ntw")], errors.ChunkedEncodingError),
    "before its length": (
        [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", ClosingAnswer(b"one")],
        errors.ChunkedEncodingError,
    ),
    "nonsense": ([CHUNKED + b"\r\n", b"zz\r\n"], errors.ChunkedEncodingError),
    "a damaged coding": (
        [CHUNKED + b"Content-Encoding: gzip\r\n\r\n", chunk(b"no gzip") + b"0\r\n\r\n"],
        errors.ContentDecodingError,
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_body_that_breaks_raises_what_requests_raises_and_the_exchange_stays_what_it_was(
    target: RecordingServer, session: Any, session_bench: SessionBench, name: str
) -> None:
    parts, expected = BROKEN[name]
    target.answers["/x"] = lambda _: parts
    with pytest.raises(expected), requests.get(f"{target.url}/x", stream=True, timeout=LIMIT) as original:
        _consume(original)
    with pytest.raises(expected):
        _consume(session.get("/x", stream=True))
    with pytest.raises(expected):
        _ = session.get("/x", stream=True).content
    assert session_bench.counts == {("GET", "/x", "success"): 2}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("is_caught", [True, False])
@pytest.mark.parametrize("is_success", [True, False])
def test_a_body_that_breaks_fails_the_exchange_of_a_block_that_does_not_decide(
    target: RecordingServer, session: Any, session_bench: SessionBench, name: str, is_caught: bool, is_success: bool
) -> None:
    parts, expected = BROKEN[name]
    target.answers["/x"] = lambda _: parts
    inside = contextlib.suppress(expected) if is_caught else contextlib.nullcontext()
    outside = contextlib.nullcontext() if is_caught else pytest.raises(expected)
    with outside, session.get("/x", stream=True, catch_response=True) as response, inside:
        if is_success:
            response.success()
        _consume(response)
    outcome = "success" if is_success else OUTCOMES[name]
    assert session_bench.counts == {("GET", "/x", outcome): 1}


def test_silence_within_the_body_is_a_timeout_as_with_requests(
    target: RecordingServer, session_bench: SessionBench
) -> None:
    target.answers["/x"] = lambda _: [CHUNKED + b"\r\n", chunk(b"one")]
    with pytest.raises(errors.ConnectionError, match="timed out"):
        _consume(requests.get(f"{target.url}/x", stream=True, timeout=0.1))
    response = session_bench.http(target.url).get("/x", stream=True, timeout=0.1)
    with pytest.raises(errors.ConnectionError, match="timed out"):
        _consume(response)
    assert list(response.raw.stream(10)) == []


def test_a_timeout_of_the_users_own_code_leaves_the_body_to_be_read_later(
    target: RecordingServer, session: Any
) -> None:
    steps = Steps(CHUNKED + b"\r\n", chunk(b"one"), b"0\r\n\r\n")
    target.answers["/x"] = steps
    steps.step()
    response = session.get("/x", stream=True)
    with pytest.raises(gevent.Timeout), gevent.Timeout(0.05):
        response.raw.read(1)
    steps.step(2)
    # What comes now must not wake whoever has ceased to wait for it.
    gevent.sleep(0.05)
    assert response.raw.read() == b"one"


def test_a_user_who_is_stopped_while_it_reads_lets_go_of_the_connection(target: RecordingServer, session: Any) -> None:
    target.answers["/x"] = lambda _: [CHUNKED + b"\r\n"]
    reading = gevent.event.Event()

    def read() -> None:
        response = session.get("/x", stream=True)
        reading.set()
        _ = response.content

    user = gevent.spawn(read)
    reading.wait()
    gevent.sleep(0)
    before = current().engine.connections
    user.kill()
    session.get("/y")
    assert current().engine.connections == before


def test_others_get_their_turn_however_fast_a_body_comes(target: RecordingServer, session: Any) -> None:
    body = bytes(STREAK * 4 << 16)
    target.answers["/x"] = answer(200, body)
    response = session.get("/x", stream=True)
    turns: list[int] = []
    sizes: list[int] = []
    gevent.spawn(lambda: [turns.append(len(sizes)) or gevent.sleep(0) for _ in range(1000)])
    sizes.extend(map(len, response.raw.stream(1 << 20)))
    assert sum(sizes) == len(body)
    assert turns


READ: dict[str, Callable[[Any], Any]] = {
    "content": lambda r: r.content,
    "text": lambda r: r.text,
    "content twice": lambda r: r.content + r.content,
    "pieces": lambda r: list(r.iter_content(3)),
    "pieces of the content": lambda r: [r.content, *r.iter_content(3)],
    "pieces as text": lambda r: list(r.iter_content(3, decode_unicode=True)),
    "lines": lambda r: list(r.iter_lines()),
    "a delimiter": lambda r: list(r.iter_lines(delimiter=b" ")),
    "raw": lambda r: r.raw.read(),
    "raw in parts": lambda r: [r.raw.read(3), r.raw.read(100), r.raw.read(1)],
    "raw stream": lambda r: list(r.raw.stream(4)),
    "raw and then the rest": lambda r: [r.raw.read(2), r.content],
    "closed": lambda r: [r.close(), r.content],
    "iterated": lambda r: b"".join(r),
}


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("split", [False, True])
def test_every_way_to_read_gives_what_requests_gives(
    target: RecordingServer, session_bench: SessionBench, name: str, split: bool
) -> None:
    head, body = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 14\r\n\r\n",
        b"one two\nthree\n",
    )
    parts: Iterable[bytes] = [head + body] if not split else [head, body[:5], body[5:]]
    target.answers["/x"] = lambda _: parts
    expected = READ[name](requests.get(f"{target.url}/x", stream=True, timeout=LIMIT))
    assert READ[name](session_bench.http(target.url).get("/x", stream=True)) == expected


def test_what_was_read_piece_by_piece_is_not_there_to_be_read_again(
    target: RecordingServer, session_bench: SessionBench
) -> None:
    target.answers["/x"] = answer(200, b"body")
    response = session_bench.http(target.url).get("/x", stream=True)
    assert list(response.iter_content(4)) == [b"body"]
    with pytest.raises(RuntimeError, match="already consumed"):
        _ = response.content
    with pytest.raises(errors.StreamConsumedError):
        list(response.iter_content(4))


def test_redirects_are_followed_to_a_stream_on_the_same_connection(
    target: RecordingServer, session: Any, session_bench: SessionBench
) -> None:
    target.answers["/x"] = lambda _: [answer(302, b"elsewhere", (("Location", "/y"),))]
    steps = Steps(CHUNKED + b"\r\n", chunk(b"one"), b"0\r\n\r\n")
    target.answers["/y"] = steps
    steps.step()
    response = session.get("/x", stream=True)
    assert [each.status_code for each in response.history] == [302]
    steps.step(2)
    assert response.content == b"one"
    assert (connections(target), session_bench.counts) == (1, {("GET", "/x", "success"): 1})


def test_a_session_that_streams_everything_streams(target: RecordingServer, session_bench: SessionBench) -> None:
    steps = Steps(CHUNKED + b"\r\n", chunk(b"one"), b"0\r\n\r\n")
    target.answers["/x"] = steps
    session = session_bench.http(target.url)
    session.stream = True
    steps.step()
    response = session.get("/x")
    steps.step(2)
    assert response.content == b"one"


def test_the_fast_clients_stream_is_a_file(target: RecordingServer, session_bench: SessionBench) -> None:
    steps = Steps(CHUNKED + b"\r\n", chunk(b"one\ntw"), chunk(b"o"), b"0\r\n\r\n")
    target.answers["/x"] = steps
    steps.step(2)
    response = session_bench.fast(target.url).get("/x", stream=True)
    assert response.stream.readline() == b"one\n"
    steps.step(2)
    assert response.stream.read() == b"two"


def test_a_connection_that_is_refused_is_no_stream(session_bench: SessionBench) -> None:
    for session in (session_bench.http("http://127.0.0.1:1"), session_bench.fast("http://127.0.0.1:1")):
        response = session.get("/x", stream=True)
        assert (response.status_code, response.content) == (0, None)


@pytest.mark.parametrize(
    ("pieces", "size", "fill", "expected"),
    [
        ([b"abcde", b"f"], 2, False, [b"ab", b"cd", b"e", b"f"]),
        ([b"abcde", b"f"], 2, True, [b"ab", b"cd", b"ef"]),
        ([b"a", b"b", b"c"], 2, True, [b"ab", b"c"]),
        ([], 2, True, []),
    ],
)
def test_slices(pieces: list[bytes], size: int, fill: bool, expected: list[bytes]) -> None:
    assert list(sliced(iter(pieces), size, fill)) == expected

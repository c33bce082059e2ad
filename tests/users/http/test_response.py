"""A response says what that of requests says about the same bytes."""

from __future__ import annotations

import gzip
import json
import pickle
import zlib
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
import requests
from tests.users.recording_server import RecordingServer, answer, json_answer

from plimsoll.users.http.response import Timings

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.users.conftest import SessionBench

TEXT = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. " * 20


def _typed(content_type: str, body: bytes) -> bytes:
    return answer(200, body, (("Content-Type", content_type),))


def _coded(coding: str, body: bytes) -> bytes:
    return answer(200, body, (("Content-Encoding", coding), ("Content-Type", "text/plain; charset=utf-8")))


ANSWERS: dict[str, bytes] = {
    "nothing": answer(204),
    "no type": answer(200, TEXT.encode()),
    "plain ASCII without a type": answer(200, b"abc"),
    "text without a charset": _typed("text/html", TEXT.encode("latin-1")),
    "text in UTF-8": _typed("text/html; charset=UTF-8", TEXT.encode()),
    "text in a charset nobody knows": _typed("text/plain; charset=nonsense", b"abc"),
    "text in the wrong charset": _typed("text/plain; charset=utf-8", TEXT.encode("latin-1")),
    "JSON": json_answer({"a": ["ä", 1]}),
    "JSON without a type": answer(200, b'{"a": 1}'),
    "JSON in UTF-16": _typed("application/octet-stream", '{"a": 1}'.encode("utf-16")),
    "JSON in Latin-1 by name": _typed("application/json; charset=latin-1", '"ä"'.encode("latin-1")),
    "JSON in broken UTF-8": _typed("application/json", b'"\xff"'),
    "broken JSON": _typed("application/json", b'{"a": '),
    "JSON with a mark": _typed("application/json", b"\xef\xbb\xbf1"),
    "gzip": _coded("gzip", gzip.compress(TEXT.encode())),
    "deflate": _coded("deflate", zlib.compress(TEXT.encode())),
    "several lines of one name": answer(200, b"", (("X-A", "1"), ("x-a", "2"), ("Link", '<u?p=2>; rel="next"'))),
    "cookies": answer(200, b"", (("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", 'b="2 3"; HttpOnly'))),
    "a reason in UTF-8": answer(200, b"", reason="Schön".encode().decode("latin-1")),
    "not found": answer(404, b"no", reason="Not Found"),
    "unavailable": answer(503, b"later", reason="Service Unavailable"),
    "a status of one's own": answer(799, b""),
    "a redirect to be looked at": answer(301, b"", (("Location", "/x"),)),
    "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
    "lines": answer(200, b"one\r\ntwo\nthree\n\nfive"),
}


def _raised(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "status": lambda r: (r.status_code, r.reason, r.ok, bool(r), repr(r)),
    "headers": lambda r: sorted((name.lower(), value) for name, value in r.headers.items()),
    "content": lambda r: r.content,
    "encoding": lambda r: (r.encoding, r.apparent_encoding),
    "text": lambda r: r.text,
    "json": lambda r: _raised(r.json),
    "json with an option": lambda r: _raised(lambda: r.json(parse_int=str)),
    "links": lambda r: r.links,
    "cookies": lambda r: sorted(r.cookies.items()),
    "redirect": lambda r: (r.is_redirect, r.is_permanent_redirect, r.history),
    "raise_for_status": lambda r: _raised(r.raise_for_status),
    "iter_content": lambda r: list(r.iter_content(7)),
    "iter_lines": lambda r: list(r.iter_lines()),
    "iter": lambda r: list(r),
    "request": lambda r: (r.request.method, r.request.path_url, sorted(r.request.headers.items()), r.request.body),
    "url": lambda r: r.url,
}


@pytest.mark.parametrize("name", ANSWERS)
def test_it_says_what_requests_says(name: str, session_bench: SessionBench) -> None:
    with RecordingServer({"/x": ANSWERS[name]}) as target, requests.Session() as session:
        session.trust_env = False
        session.headers["Accept-Encoding"] = "gzip, deflate, br"
        expected = session.get(f"{target.url}/x", params={"a": 1}, allow_redirects=False)
        given = session_bench.http(target.url).get("/x", params={"a": 1}, allow_redirects=False)
    assert {what: ask(given) for what, ask in QUESTIONS.items()} == {
        what: ask(expected) for what, ask in QUESTIONS.items()
    }


def test_the_raw_body_reads_like_a_file(session_bench: SessionBench) -> None:
    coded = gzip.compress(b"plain")
    with RecordingServer({"/x": _coded("gzip", coded)}) as target:
        session = session_bench.http(target.url)
        assert session.get("/x", stream=True).raw.read() == coded
        assert session.get("/x", stream=True).raw.read(decode_content=True) == b"plain"
        assert session.get("/x", stream=True).raw.headers["content-encoding"] == "gzip"


@pytest.mark.parametrize("client", ["http", "fast"])
@pytest.mark.parametrize(
    "settings", [{}, {"headers": {"A": "b"}}, {"files": {"a": b"b"}}], ids=["bare", "plain", "prepared"]
)
def test_a_damaged_coding_is_a_failure(session_bench: SessionBench, client: str, settings: dict[str, Any]) -> None:
    with RecordingServer({"/x": _coded("gzip", b"not gzip")}) as target:
        response = getattr(session_bench, client)(target.url).get("/x", **settings)
    assert (response.status_code, response.content) == (0, None)
    assert isinstance(response.error, requests.exceptions.ContentDecodingError)
    assert "content-encoding: gzip" in str(response.error)
    ((_, _, outcome, message, _, _, count, _, _),) = session_bench.recorder.take()[2]
    assert (outcome, count) == ("protocol", 1)
    assert message.startswith(
        "ContentDecodingError(DecodeError('Received response with content-encoding: gzip, but failed"
    )


def test_what_was_assigned_is_what_is_read(session_bench: SessionBench) -> None:
    with RecordingServer({"/x": _typed("text/plain", "ä".encode())}) as target:
        response = session_bench.http(target.url).get("/x")
    assert response.text == "Ã¤"
    response.encoding = "utf-8"
    assert response.text == "ä"


def test_elapsed_is_the_time_to_the_head(session_bench: SessionBench, target: RecordingServer) -> None:
    response = session_bench.http(target.url).get("/x")
    assert timedelta(0) < response.elapsed <= timedelta(microseconds=response.reply.service / 1000)


def test_timings_are_the_stamps_of_the_exchange_in_milliseconds(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    session = session_bench.http(target.url)
    first, second = session.get("/x").timings, session.get("/x").timings
    assert first is not None and second is not None
    assert 0 < first.connect < first.first_byte <= first.total
    assert (first.dns, first.tls, second.connect) == (0, 0, 0)
    reply = session.get("/x").reply
    assert Timings.of(reply).total == reply.service / 1e6
    assert Timings.of(reply).first_byte == (reply.first_byte - reply.sent) / 1e6


def test_timings_of_what_failed_have_no_first_byte(session_bench: SessionBench) -> None:
    timings = session_bench.http("http://127.0.0.1:1").get("/x").timings
    assert timings is not None
    assert (timings.first_byte, timings.total > 0) == (0, True)


def test_elapsed_is_of_the_last_hop(session_bench: SessionBench) -> None:
    with RecordingServer({"/x": answer(302, b"", (("Location", "/y"),))}) as target:
        response = session_bench.http(target.url).get("/x")
    assert response.reply.hops == 1
    total = timedelta(microseconds=response.reply.service / 1000)
    assert response.history[0].elapsed + response.elapsed <= total


def test_without_a_response_there_is_nothing_but_an_error(session_bench: SessionBench) -> None:
    with RecordingServer({"/x": None}) as target:
        response = session_bench.http(target.url).get("/x")
    assert isinstance(response, requests.Response)
    assert (response.status_code, response.content, response.text, response.url) == (0, None, "", None)
    assert (response.headers, response.history, list(response.cookies)) == ({}, [], [])
    assert (response.reason, response.raw, response.elapsed) == (None, None, timedelta(0))
    assert response.request.path_url == "/x"
    assert response.is_redirect is False
    for ask in (response.raise_for_status, lambda: response.ok, lambda: bool(response)):
        with pytest.raises(requests.exceptions.ConnectionError) as raised:
            ask()
        assert raised.value is response.error


def test_it_can_be_pickled_as_that_of_requests_can(session_bench: SessionBench) -> None:
    with RecordingServer({"/x": json_answer({"a": 1})}) as target:
        response = session_bench.http(target.url).get("/x")
        plain = requests.Response()
        plain.__setstate__(response.__getstate__())
    assert json.loads(pickle.loads(pickle.dumps(plain)).content) == {"a": 1}


def test_it_is_a_context_manager_that_has_nothing_to_close(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    response = session_bench.http(target.url).get("/x", stream=True)
    response.close()
    assert response.content == b""

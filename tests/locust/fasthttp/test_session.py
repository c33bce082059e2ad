"""Where FastHttpSession differs from HttpSession; the expectations were observed on Locust's own."""

from __future__ import annotations

import base64
import io
import json
import time
from typing import TYPE_CHECKING, Any

import pytest
import requests
from tests.users.recording_server import RecordingServer, answer, json_answer

from plimsoll.locust.fasthttp.response import ErrorResponse, FastResponse
from plimsoll.locust.fasthttp.session import FastHttpSession
from plimsoll.users.failure import LocustBadStatusCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.users.conftest import SessionBench

AGENT = ("User-Agent", "python/gevent-http-client-2.6.1")
CODINGS = ("Accept-Encoding", "gzip, deflate, br")
FORM = "application/x-www-form-urlencoded; charset=utf-8"
JSON = "application/json"
BASIC = f"Basic {base64.b64encode(b'me:pass').decode()}"

CALLS: dict[str, tuple[Callable[[FastHttpSession], Any], str, set[tuple[str, str]], bytes]] = {
    "get": (lambda s: s.get("/x"), "GET /x", set(), b""),
    "params": (lambda s: s.get("/x?a=1", params={"b": [2, 3]}), "GET /x?a=1&b=2&b=3", set(), b""),
    "unknown arguments become parameters": (
        lambda s: s.get("/x", params={"a": 1}, timeout=3, verify=False),
        "GET /x?a=1&timeout=3&verify=False",
        set(),
        b"",
    ),
    "unknown arguments of a put become parameters": (
        lambda s: s.put("/x", "t", a=1),
        "PUT /x?a=1",
        {
            ("content-type", "text/plain; charset=utf-8"),
            ("content-length", "1"),
        },
        b"t",
    ),
    "unknown arguments of a post become fields": (
        lambda s: s.post("/x", a=1),
        "POST /x",
        {
            ("content-type", FORM),
            ("content-length", "3"),
        },
        b"a=1",
    ),
    "unknown arguments join the fields of a post": (
        lambda s: s.post("/x", {"b": 2}, a=1),
        "POST /x",
        {
            ("content-type", FORM),
            ("content-length", "7"),
        },
        b"b=2&a=1",
    ),
    "unknown arguments leave the JSON of a post alone": (
        lambda s: s.post("/x", json={"a": 1}, timeout=5, verify=False, proxies={}),
        "POST /x",
        {("Content-Type", JSON), ("Accept", JSON), ("Content-Length", "8")},
        b'{"a": 1}',
    ),
    "unknown arguments are lost on a post of text": (
        lambda s: s.post("/x", b"b", a=1),
        "POST /x",
        {
            ("Content-Length", "1"),
            ("content-type", "application/octet-stream"),
        },
        b"b",
    ),
    "a list is a field like any other": (
        lambda s: s.post("/x", {"a": [1, 2]}),
        "POST /x",
        {
            ("content-type", FORM),
            ("content-length", "14"),
        },
        b"a=%5B1%2C+2%5D",
    ),
    "text": (
        lambda s: s.post("/x", "äx"),
        "POST /x",
        {
            ("content-type", "text/plain; charset=utf-8"),
            ("content-length", "3"),
        },
        "äx".encode(),
    ),
    "text of a type": (
        lambda s: s.post("/x", "x", headers={"content-type": "a/b"}),
        "POST /x",
        {
            ("Content-Length", "1"),
            ("content-type", "a/b"),
        },
        b"x",
    ),
    "a file without a size": (
        lambda s: s.post("/x", io.BytesIO(b"file")),
        "POST /x",
        {
            ("Transfer-Encoding", "chunked"),
            ("content-type", "application/octet-stream"),
        },
        b"4\r\nfile\r\n0\r\n\r\n",
    ),
    "json asks for json": (
        lambda s: s.post("/x", json={"a": 1}),
        "POST /x",
        {
            ("Content-Length", "8"),
            ("Content-Type", JSON),
            ("Accept", JSON),
        },
        b'{"a": 1}',
    ),
    "json that asks for something else": (
        lambda s: s.post("/x", json=1, headers={"accept": "a/b"}),
        "POST /x",
        {
            ("Content-Length", "1"),
            ("Content-Type", JSON),
            ("accept", "a/b"),
        },
        b"1",
    ),
    "data before json": (
        lambda s: s.post("/x", "t", json=1),
        "POST /x",
        {
            ("content-type", "text/plain; charset=utf-8"),
            ("content-length", "1"),
        },
        b"t",
    ),
    "a put without a body": (lambda s: s.put("/x"), "PUT /x", {("Content-Length", "0")}, b""),
    "a delete without a body": (lambda s: s.delete("/x"), "DELETE /x", set(), b""),
    "authentication": (lambda s: s.get("/x", auth=("me", "pass")), "GET /x", {("Authorization", BASIC)}, b""),
    "headers": (lambda s: s.get("/x", headers={"X": "1"}), "GET /x", {("X", "1")}, b""),
}


def test_a_body_is_never_called_payload(session_bench: SessionBench, target: RecordingServer) -> None:
    with pytest.raises(TypeError, match="the body is data= or json="):
        session_bench.fast(target.url).post("/x", payload="text")
    assert not target.got


def test_absolute_urls_need_no_host(session_bench: SessionBench, target: RecordingServer) -> None:
    for session in (session_bench.fast(""), FastHttpSession(None, session_bench.event, None)):
        assert session.get(f"{target.url}/x").status_code == 200
        with pytest.raises(requests.exceptions.MissingSchema):
            session.get("/x")
    assert [got.target for got in target.got] == ["/x", "/x"]


@pytest.mark.parametrize("name", CALLS)
def test_the_wire_carries_what_locust_would_send(
    name: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    call, line, headers, body = CALLS[name]
    call(session_bench.fast(target.url))
    (got,) = target.got
    assert f"{got.method} {got.target}" == line
    assert {each for each in got.headers if each[0] != "Host"} == {AGENT, CODINGS, *headers}
    assert got.body == body


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda s: s.get("/x"), "User-Agent X-Default Authorization Accept-Encoding Host"),
        (
            lambda s: s.get("/x", headers={"X": "1"}),
            "User-Agent X-Default X Authorization Accept-Encoding Host",
        ),
        (
            lambda s: s.post("/x", "t"),
            "User-Agent X-Default Authorization Accept-Encoding content-type content-length Host",
        ),
        (
            lambda s: s.post("/x", b"t"),
            "User-Agent X-Default Authorization Accept-Encoding content-type Host Content-Length",
        ),
        (
            lambda s: s.post("/x", json=1),
            "User-Agent X-Default Authorization Accept-Encoding Content-Type Accept Host Content-Length",
        ),
        (lambda s: s.get("/x", headers={"Host": "h"}), "User-Agent X-Default Host Authorization Accept-Encoding"),
    ],
)
def test_header_lines_come_in_the_order_of_locusts_client(
    call: Callable[[FastHttpSession], Any], names: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    session = session_bench.fast(target.url.replace("//", "//me:pass@"), headers={"X-Default": "1"})
    call(session)
    assert [name for name, _ in target.got[0].headers] == names.split()


def test_the_cookie_stands_in_front_of_the_host(session_bench: SessionBench) -> None:
    with RecordingServer({"/x": answer(200, b"", (("Set-Cookie", "a=1"),))}) as target:
        session = session_bench.fast(target.url)
        session.get("/x")
        session.post("/y", {"a": 1})
        names = [name for name, _ in target.got[1].headers]
    assert names[-4:] == ["content-type", "content-length", "Cookie", "Host"]


def test_the_host_is_that_of_each_hop_unless_the_user_says_another(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    with RecordingServer({"/x": answer(302, b"", (("Location", f"{target.url}/end"),))}) as first:
        session_bench.fast(first.url).get("/x")
        session_bench.fast(first.url, headers={"host": "mine"}).get("/x")
        session_bench.fast(first.url, headers={"host": "mine"}).get("/x", headers={"X": "1"})
        hosts = [got.header("host") for got in first.got]
    assert hosts == [f"127.0.0.1:{first.port}", "mine", "mine"]
    assert [got.header("host") for got in target.got] == [f"127.0.0.1:{target.port}", "mine", "mine"]


def test_files_are_sent_as_a_form(session_bench: SessionBench, target: RecordingServer) -> None:
    session_bench.fast(target.url).post("/x", files={"f": ("a.txt", b"text")}, data={"a": "1"})
    got = target.got[0]
    assert (got.header("content-type") or "").startswith("multipart/form-data; boundary=")
    assert b'filename="a.txt"' in got.body
    assert b'name="a"' in got.body


def test_header_values_are_sent_as_python_prints_them(session_bench: SessionBench, target: RecordingServer) -> None:
    given = {"X-Call": 2.5, "X-Bytes": b"b", "X-None": None}
    session_bench.fast(target.url, headers={"X-Default": 1}).get("/x", headers=given)
    names = ("X-Default", "X-Call", "X-Bytes", "X-None")
    assert [target.got[0].header(name) for name in names] == ["1", "2.5", "b'b'", "None"]


def test_another_spelling_of_a_header_gives_way_to_the_default(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    session_bench.fast(target.url).post("/x", json=1, headers={"ACCEPT": "a/b", "X": "1", "content-type": "own"})
    lines = [line for line in target.got[0].headers if line[0] not in ("User-Agent", "Host")]
    assert lines == [("Accept", JSON), ("X", "1"), ("content-type", "own"), CODINGS, ("Content-Length", "1")]


def test_a_list_is_a_name_and_a_password_too(session_bench: SessionBench, target: RecordingServer) -> None:
    session_bench.fast(target.url).get("/x", auth=["me", "pass"])
    assert target.got[0].header("Authorization") == BASIC


def test_a_proxy_gets_the_whole_url(session_bench: SessionBench, target: RecordingServer) -> None:
    session = session_bench.fast("http://example.test:81", proxy_host="127.0.0.1", proxy_port=target.port)
    session.get("/x?a=1")
    session.post("/y", json={})
    seen = [(got.method, got.target, got.header("Host")) for got in target.got]
    assert seen == [
        ("GET", "http://example.test:81/x?a=1", "example.test:81"),
        ("POST", "http://example.test:81/y", "example.test:81"),
    ]


def test_default_headers_are_sent_unless_the_call_says_otherwise(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    session = session_bench.fast(target.url, headers={"user-agent": "me", "X": "1"})
    session.get("/x")
    session.get("/x", headers={"x": "2"})
    assert [got.header("user-agent") for got in target.got] == ["me", "me"]
    assert [got.header("x") for got in target.got] == ["1", "2"]


def test_credentials_in_the_base_url_become_basic_authentication(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    session = session_bench.fast(target.url.replace("//", "//me:pass@"))
    session.get("/x")
    session.get("/x", name="n")
    assert [got.header("authorization") for got in target.got] == [BASIC, BASIC]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda s: s.get("/a b?c"), "/a b?c"),
        (lambda s: s.get("/a", params={"b": 1}), "/a"),
        (lambda s: s.get("/a", name="n"), "n"),
        (lambda s: s.get(f"{s.base_url}/a"), "{url}/a"),
        (lambda s: s.get("/away"), "/away"),
    ],
)
def test_an_exchange_is_counted_under_the_url_as_it_was_given(
    call: Callable[[FastHttpSession], Any], name: str, session_bench: SessionBench
) -> None:
    with RecordingServer({"/away": answer(302, b"", (("Location", "/x"),))}) as target:
        call(session_bench.fast(target.url))
    assert session_bench.counts == {("GET", name.format(url=target.url), "success"): 1}


@pytest.mark.parametrize("status", [200, 208, 226, 304])
def test_statuses_that_are_successes(status: int, session_bench: SessionBench) -> None:
    with RecordingServer({"/x": answer(status)}) as target:
        response = session_bench.fast(target.url).get("/x")
    assert response.error is None
    assert session_bench.counts == {("GET", "/x", "success"): 1}


@pytest.mark.parametrize("status", [209, 300, 305, 400, 404, 500, 599])
def test_all_others_are_failures(status: int, session_bench: SessionBench) -> None:
    with RecordingServer({"/x": answer(status, b"why")}) as target:
        response = session_bench.fast(target.url).get("/x")
    assert isinstance(response.error, LocustBadStatusCode)
    assert (response.status_code, response.text) == (status, "why")
    assert session_bench.failures == [("http", f"LocustBadStatusCode(code={status})")]


def test_cookies_are_kept_and_sent_where_they_belong(session_bench: SessionBench) -> None:
    cookies = (
        ("Set-Cookie", "a=1; Path=/"),
        ("Set-Cookie", "deep=2; Path=/deep"),
        ("Set-Cookie", "safe=3; Secure; Path=/"),
    )
    with RecordingServer({"/login": answer(200, b"", cookies)}) as target:
        session = session_bench.fast(target.url)
        for path in ("/login", "/x", "/deep/x"):
            session.get(path)
        session.get("/x", headers={"Cookie": "own=1"})
        assert {cookie.name for cookie in session.cookiejar} == {"a", "deep", "safe"}
        session.cookiejar.clear()
        session.get("/x")
        sent = [got.header("cookie") for got in target.got]
    assert sent == [None, "a=1", "deep=2; a=1", "own=1", None]


def test_a_response_without_one_stands_for_it(session_bench: SessionBench) -> None:
    with RecordingServer({"/x": None}) as target:
        response = session_bench.fast(target.url).get("/x")
    assert isinstance(response, ErrorResponse)
    assert isinstance(response, FastResponse)
    assert (response.status_code, response.content, response.text, response.headers) == (0, None, None, None)
    assert response.url == f"{target.url}/x"
    assert response.ok
    with pytest.raises(AttributeError, match="no response"):
        bool(response)
    assert session_bench.counts == {("GET", "/x", "reset"): 1}


def test_in_an_if_a_response_is_as_good_as_its_body_is_long(session_bench: SessionBench) -> None:
    with RecordingServer({"/x": answer(404, b"none"), "/e": answer(200)}) as target:
        session = session_bench.fast(target.url)
        assert [bool(session.get(path)) for path in ("/x", "/e")] == [True, False]
        assert (session.get("/x").ok, session.get("/e").ok) == (False, True)


def test_the_parts_of_a_response(session_bench: SessionBench) -> None:
    with RecordingServer({"/x": json_answer({"a": ["ä"]}), "/t": answer(200, "zwölf\nelf".encode())}) as target:
        session = session_bench.fast(target.url)
        response = session.get("/x")
        assert (response.json(), response.encoding, response.request.body) == ({"a": ["ä"]}, "utf-8", None)
        assert response.stream.read() == response.content
        with pytest.raises(json.JSONDecodeError):
            session.get("/t").json()
        assert "".join(session.get("/x").iter_content(1000)) == response.text
        assert b"".join(session.get("/t").iter_content(2, decode_content=False)) == "zwölf\nelf".encode()
        assert list(session.iter_lines("/t")) == ["zwölf", "elf"]


def test_what_http_forbids_is_an_exception(session_bench: SessionBench, target: RecordingServer) -> None:
    with pytest.raises(ValueError, match="header"):
        session_bench.fast(target.url).get("/x", headers={"X": "a\nb"})
    assert not target.got


def test_scripts_close_connections_by_way_of_the_client(session_bench: SessionBench, target: RecordingServer) -> None:
    session = session_bench.fast(target.url)
    session.get("/x")
    session.client.clientpool.close()
    session.get("/x")
    assert [got.connection for got in target.got] == [1, 2]


def test_a_new_base_url_counts_at_once(session_bench: SessionBench, target: RecordingServer) -> None:
    with RecordingServer() as other:
        session = session_bench.fast(target.url)
        session.get("/x")
        session.base_url = other.url
        session.get("/y")
        assert [got.target for got in other.got] == ["/y"]


def test_a_session_may_have_a_limit_for_whole_requests(session_bench: SessionBench) -> None:
    def drip(_: Any) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
        while True:
            yield b"x"
            time.sleep(0.002)

    with RecordingServer({"/x": drip}) as target:
        response = session_bench.fast(target.url, timeout=0.2).get("/x")
    assert response.reply is not None
    assert response.reply.service == 200_000_000
    assert repr(response.error) == f"RetriesExceeded('{target.url}/x', 0, original=timed out)"
    assert session_bench.counts == {("GET", "/x", "timeout"): 1}


def test_both_timeouts_are_those_of_the_session(session_bench: SessionBench) -> None:
    with RecordingServer({"/x": b""}) as target:
        response = session_bench.fast(target.url, network_timeout=0.05).get("/x")
    assert repr(response.error) == f"RetriesExceeded('{target.url}/x', 0, original=timed out)"
    assert str(response.error) == f"URL {target.url}/x: 0, original=timed out"
    assert session_bench.counts == {("GET", "/x", "timeout"): 1}

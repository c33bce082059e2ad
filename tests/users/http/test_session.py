"""What HttpSession puts on the wire is what requests puts there, and its responses are those of requests."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import pytest
import requests
from requests.auth import HTTPBasicAuth
from requests.cookies import cookiejar_from_dict, create_cookie
from tests.users.http.oracle import oracle
from tests.users.recording_server import RecordingServer, answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.users.conftest import SessionBench


def _prepare(**settings: Any) -> Callable[[Any, str], Any]:
    def call(session: Any, url: str) -> Any:
        for name, value in settings.items():
            setattr(session, name, value)
        return session.post(f"{url}/x", json={"a": 1})

    return call


def _prepare_proxy(session: Any, url: str) -> None:
    session.proxies["http"] = url
    session.get("http://example.test/x")
    session.get("http://example.test/y", data=b"body", proxies={"http://other.test": "http://127.0.0.1:1"})


def _headers_of_session(session: Any, url: str) -> None:
    session.headers["X-Session"] = "1"
    session.headers.update({"user-agent": "me", "Authorization": "Bearer x"})
    session.get(f"{url}/x", headers={"X-Session": "2", "X-Call": b"3"})
    del session.headers["X-Session"]
    session.get(f"{url}/x", headers={"Accept": None})


def _cookies_of_session(session: Any, url: str) -> None:
    session.cookies.set("a", "1")
    session.get(f"{url}/x")
    session.cookies.set("b", "2", path="/deep")
    session.get(f"{url}/x")
    session.get(f"{url}/deep/x")
    session.cookies.set("c", "3", domain="example.org")
    session.cookies.clear(domain="", path="/deep", name="b")
    session.post(f"{url}/x", data="body")


def _cookie_that_expires(session: Any, url: str) -> None:
    session.cookies.set_cookie(create_cookie("old", "1", expires=1))
    session.cookies.set_cookie(create_cookie("new", "1", expires=2**31))
    session.get(f"{url}/x")


def _params_of_session(session: Any, url: str) -> None:
    session.params = {"s": "1"}
    session.get(f"{url}/x", params={"c": "2"})
    session.params["t"] = None
    session.get(f"{url}/x")
    session.params = {}
    session.get(f"{url}/x")


def _prepared(session: Any, url: str) -> None:
    request = requests.Request("PUT", f"{url}/x", data=b"body", headers={"X": "1"})
    session.send(session.prepare_request(request))


def _generator() -> Any:
    yield b"one"
    yield "two"
    yield b""
    yield b"three"


CALLS: dict[str, Callable[[Any, str], Any]] = {
    "get": lambda s, u: s.get(f"{u}/x"),
    "options": lambda s, u: s.options(f"{u}/x"),
    "head": lambda s, u: s.head(f"{u}/x"),
    "post without a body": lambda s, u: s.post(f"{u}/x"),
    "put without a body": lambda s, u: s.put(f"{u}/x"),
    "patch without a body": lambda s, u: s.patch(f"{u}/x"),
    "delete": lambda s, u: s.delete(f"{u}/x"),
    "a method of one's own, in lower case": lambda s, u: s.request("purge", f"{u}/x"),
    "no path": lambda s, u: s.get(u),
    "only a query": lambda s, u: s.get(f"{u}?a=1"),
    "an empty query": lambda s, u: s.get(f"{u}/x?"),
    "a query with odd characters": lambda s, u: s.get(f"{u}/x?a=b c&d=é&e=[1]&f=\"'<>|&g=a%20b%7e%zz"),
    "a path with odd characters": lambda s, u: s.get(f"{u}/a b/é/[1]/%7Euser/%2f/;p=1/'\"<>|^`{{}}"),
    "dot segments": lambda s, u: s.get(f"{u}/a/./b/../c"),
    "a hidden file": lambda s, u: s.get(f"{u}/.well-known/x"),
    "two slashes": lambda s, u: s.get(f"{u}//x//y"),
    "a fragment": lambda s, u: s.get(f"{u}/x?a=1#part"),
    "a fragment and params": lambda s, u: s.get(f"{u}/x#part", params={"a": 1}),
    "an upper-case scheme": lambda s, u: s.get(f"HTTP{u[4:]}/x"),
    "credentials in the URL": lambda s, u: s.get(f"http://me:p%40ss@{u[7:]}/x"),
    "params": lambda s, u: s.get(f"{u}/x", params={"a": "1 é&", "b": [1, 2], "c": None, "d": "~[]"}),
    "params as pairs": lambda s, u: s.get(f"{u}/x?z=0", params=[("a", 1), ("a", 2)]),
    "params as text": lambda s, u: s.get(f"{u}/x", params="a=1&b=[2] é"),
    "params as bytes": lambda s, u: s.get(f"{u}/x", params=b"a=1"),
    "params that come to nothing": lambda s, u: s.get(f"{u}/x", params={"a": None}),
    "json": lambda s, u: s.post(f"{u}/x", json={"a": [1, 2.5, None, True, "é"]}),
    "json that is empty": lambda s, u: s.post(f"{u}/x", json={}),
    "json with a get": lambda s, u: s.get(f"{u}/x", json=[1]),
    "json and a content type": lambda s, u: s.post(f"{u}/x", json=1, headers={"content-type": "application/x"}),
    "data as a dict": lambda s, u: s.post(f"{u}/x", data={"a": "1 é&", "b": [1, 2], "c": None}),
    "data as pairs": lambda s, u: s.post(f"{u}/x", data=[("a", 1), ("a", 2)]),
    "data as text": lambda s, u: s.put(f"{u}/x", data="täxt"),
    "data as bytes": lambda s, u: s.patch(f"{u}/x", data=b"\x00\xff"),
    "data that is empty": lambda s, u: s.post(f"{u}/x", data=""),
    "data of nothing but None": lambda s, u: s.post(f"{u}/x", data={"a": None}),
    "data before json": lambda s, u: s.post(f"{u}/x", data="x", json={"a": 1}),
    "data of a generator": lambda s, u: s.post(f"{u}/x", data=_generator()),
    "data of a file": lambda s, u: s.post(f"{u}/x", data=io.BytesIO(b"file" * 9000)),
    "data of a bytearray": lambda s, u: s.post(f"{u}/x", data=bytearray(b"abc")),
    "files": lambda s, u: s.post(f"{u}/x", files={"f": ("a.txt", b"text", "text/plain", {"X": "1"})}),
    "files and data": lambda s, u: s.post(f"{u}/x", files={"f": io.BytesIO(b"x")}, data={"a": ["1", "2"]}),
    "headers": lambda s, u: s.get(f"{u}/x", headers={"X-A": "1", "user-agent": "me", "x-b": b"2"}),
    "headers taken away": lambda s, u: s.get(f"{u}/x", headers={"User-Agent": None, "Accept": None}),
    "headers that are no mapping": lambda s, u: (s.get(f"{u}/x", headers=""), s.post(f"{u}/x", json=1, headers=[])),
    "headers in Latin-1": lambda s, u: s.get(f"{u}/x", headers={"X": "é"}),
    "a host of one's own": lambda s, u: s.get(f"{u}/x", headers={"Host": "example.org"}),
    "a content length of one's own": lambda s, u: s.post(f"{u}/x", data="abc", headers={"content-length": "3"}),
    "a cookie header": lambda s, u: s.get(f"{u}/x", headers={"Cookie": "a=1"}),
    "cookies": lambda s, u: s.get(f"{u}/x", cookies={"a": "1", "b": "2"}),
    "cookies and a body": lambda s, u: s.post(f"{u}/x", cookies={"a": "1"}, json={}),
    "basic authentication": lambda s, u: s.get(f"{u}/x", auth=("me", "päss")),
    "basic authentication and a body": lambda s, u: s.post(f"{u}/x", auth=("me", "pass"), json={}, headers={"X": "1"}),
    "basic authentication without a body": lambda s, u: s.post(f"{u}/x", auth=HTTPBasicAuth("me", "pass")),
    "basic authentication over a header": lambda s, u: s.get(f"{u}/x", auth=("a", "b"), headers={"authorization": "x"}),
    "headers of the session": _headers_of_session,
    "headers assigned": _prepare(headers={"X": "1", "Content-Type": "x/y"}),
    "authentication of the session": _prepare(auth=("me", "pass")),
    "authentication and content type of the session": _prepare(headers={"content-type": "x/y"}, auth=("me", "pass")),
    "cookies of the session": _cookies_of_session,
    "cookies assigned": _prepare(cookies=cookiejar_from_dict({"a": "1"}), auth=("me", "pass")),
    "a cookie that expires": _cookie_that_expires,
    "cookies of session and call": lambda s, u: (s.cookies.set("a", "1"), s.get(f"{u}/x", cookies={"b": "2"})),
    "a cookie header over a cookie": lambda s, u: (s.cookies.set("a", "1"), s.get(f"{u}/x", headers={"cookie": "b=2"})),
    "params of the session": _params_of_session,
    "a request prepared by hand": _prepared,
    "a timeout": lambda s, u: s.get(f"{u}/x", timeout=(5, 5)),
    "a stream": lambda s, u: s.get(f"{u}/x", stream=True).content,
    "a proxy": lambda s, u: s.get("http://example.test:80/x?a=1#part", proxies={"http": u}),
    "a proxy that wants a password": lambda s, u: s.post(
        "http://example.test:81/x", json={}, proxies={"http": u.replace("//", "//me:p%40ss@")}
    ),
    "a proxy without its scheme": lambda s, u: s.get("http://example.test/x", proxies={"http": u[7:]}),
    "a proxy and a host of one's own": lambda s, u: s.get(
        "http://example.test/x", headers={"Host": "other", "Accept": None}, proxies={"all": u}
    ),
    "a proxy of the session": _prepare_proxy,
}


def sent_by(session: Any, call: Callable[[Any, str], Any], answers: dict[str, Any]) -> list[tuple[Any, ...]]:
    with RecordingServer(answers) as target, session:
        call(session, target.url)
        authority = f"127.0.0.1:{target.port}"
        # The two targets have different ports, which shall not count.
        return [
            (
                got.method,
                got.target,
                [(name, value.replace(authority, "TARGET")) for name, value in got.headers],
                got.body,
            )
            for got in target.got
        ]


@pytest.mark.parametrize(
    "arguments",
    [{}, {"data": "text"}, {"data": b"bytes"}, {"data": {"a": 1}}, {"data": ""}, {"json": {"a": 1}}],
    ids=str,
)
def test_the_body_of_the_request_is_of_the_kind_that_requests_gives_it(
    arguments: dict[str, Any], session_bench: SessionBench, target: RecordingServer
) -> None:
    mine, other = (
        each.post(f"{target.url}/x", **arguments).request.body for each in (session_bench.http(target.url), oracle())
    )
    assert (type(mine), mine) == (type(other), other)


@pytest.mark.parametrize("name", CALLS)
def test_the_wire_carries_what_requests_would_send(
    name: str, session_bench: SessionBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urllib3.filepost.choose_boundary", lambda: "boundary")
    expected = sent_by(oracle(), CALLS[name], {})
    assert expected, "the oracle sent nothing"
    assert sent_by(session_bench.http("http://unused"), CALLS[name], {}) == expected


def test_a_path_is_put_behind_the_base_url_as_it_is(session_bench: SessionBench, target: RecordingServer) -> None:
    session_bench.http(f"{target.url}/base").get("/x")
    session_bench.http(f"{target.url}/base/").get("x?y=1")
    assert [got.target for got in target.got] == ["/base/x", "/base/x?y=1"]


def test_credentials_in_the_base_url_become_basic_authentication(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    session = session_bench.http(target.url.replace("//", "//me:p%40ss@"))
    session.get("/x")
    assert session.base_url == target.url
    assert target.got[0].header("authorization") == f"Basic {base64.b64encode(b'me:p@ss').decode()}"


def test_connections_are_kept_until_the_session_is_closed(session_bench: SessionBench, target: RecordingServer) -> None:
    session, other = session_bench.http(target.url), session_bench.http(target.url)
    for each in (session, session, other):
        each.get("/x")
    session.close()
    session.get("/x")
    assert [got.connection for got in target.got] == [1, 1, 2, 3]


NAMES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "path and query": (lambda s: s.get("/a b?c=d"), "/a%20b?c=d"),
    "params too": (lambda s: s.get("/a", params={"c": 1}), "/a?c=1"),
    "the name": (lambda s: s.get("/a", name="n"), "n"),
    "no path": (lambda s: s.get(""), "/"),
    "the first of a chain": (lambda s: s.get("/302"), "/302"),
    "a prepared one": (lambda s: s.get("/a", cookies={"a": "1"}, params={"c": 1}), "/a?c=1"),
    "no fragment": (lambda s: s.get("/a#b"), "/a"),
}


@pytest.mark.parametrize("case", NAMES)
def test_an_exchange_is_counted_under(case: str, session_bench: SessionBench) -> None:
    call, name = NAMES[case]
    answers = {"/302": answer(302, b"", (("Location", "/end"),))}
    with RecordingServer(answers) as target:
        call(session_bench.http(target.url))
    assert session_bench.counts == {("GET", name, "success"): 1}


def test_rename_request_names_what_has_no_name(session_bench: SessionBench, target: RecordingServer) -> None:
    session = session_bench.http(target.url)
    with session.rename_request("group"):
        session.get("/a")
        session.post("/b")
        session.get("/c", name="own")
    session.get("/d")
    assert [name for _, name, _ in sorted(session_bench.counts)] == ["/d", "group", "own", "group"]


def test_the_method_is_counted_as_it_was_given(session_bench: SessionBench, target: RecordingServer) -> None:
    session_bench.http(target.url).request("get", "/a")
    assert target.got[0].method == "GET"
    assert session_bench.counts == {("get", "/a", "success"): 1}


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("", requests.exceptions.MissingSchema),
        ("http://", requests.exceptions.InvalidURL),
        ("ftp://127.0.0.1", requests.exceptions.InvalidSchema),
        ("http://127.0.0.1:99999", requests.exceptions.InvalidURL),
    ],
)
def test_a_url_that_makes_no_sense_is_an_exception(
    url: str, error: type[Exception], session_bench: SessionBench
) -> None:
    for call in ({}, {"name": "n"}, {"cookies": {"a": "1"}}):
        with pytest.raises(error):
            session_bench.http(url).get("/x", **call)
    assert session_bench.counts == {}


def test_what_cannot_be_sent_is_a_failure_of_the_users_own(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    session = session_bench.http(target.url)
    for headers in ({"X": "a\r\nb"}, {"X": 1}, {"X ": "1"}):
        response = session.get("/x", headers=headers, name="n")
        assert isinstance(response.error, requests.exceptions.InvalidHeader)
        assert response.status_code == 0
    response = session.post("/x", json={"a": float("nan")}, name="n")
    assert isinstance(response.error, requests.exceptions.InvalidJSONError)
    assert target.got == []
    counts = session_bench.counts
    assert counts == {("GET", "n", "assertion"): 3, ("POST", "n", "assertion"): 1}
    assert all(each.untimed == each.count for each in session_bench.recorded)


def test_a_bad_header_of_the_session_fails_every_request(session_bench: SessionBench, target: RecordingServer) -> None:
    session = session_bench.http(target.url)
    session.headers["X"] = "a\nb"
    assert isinstance(session.get("/x").error, requests.exceptions.InvalidHeader)
    del session.headers["X"]
    assert session.get("/x").ok


def test_arguments_of_the_wrong_kind_are_exceptions(session_bench: SessionBench, target: RecordingServer) -> None:
    session = session_bench.http(target.url)
    for arguments in ({"timeout": (1, 2, 3)}, {"timeout": 0}, {"data": ["no pair"]}):
        with pytest.raises(ValueError, match=r"."):
            session.post("/x", **arguments)
    with pytest.raises(TypeError):
        session.get("/x", unknown=1)


def test_hooks_see_the_response(session_bench: SessionBench, target: RecordingServer) -> None:
    seen: list[int] = []
    session = session_bench.http(target.url)
    session.get("/x", hooks={"response": lambda response, **_: seen.append(response.status_code)})
    session.hooks["response"].append(lambda response, **_: seen.append(-1))
    session.get("/x")
    session.hooks["response"].clear()
    session.get("/x")
    assert seen == [200, -1]


class SourceAdapter(requests.adapters.HTTPAdapter):
    """Connects in a way of its own."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs, source_address=("127.0.0.1", 0))  # type: ignore[no-untyped-call]


def test_an_adapter_that_is_of_no_use_says_so(
    session_bench: SessionBench, target: RecordingServer, caplog: pytest.LogCaptureFixture
) -> None:
    session = session_bench.http(target.url)
    session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=5))
    assert not caplog.messages
    session.mount("http://", SourceAdapter())
    assert "SourceAdapter mounted on http:// has no effect" in caplog.text
    assert session.get("/x").ok


def test_the_environment_counts_only_if_it_is_trusted(
    session_bench: SessionBench, target: RecordingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RecordingServer() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        session = session_bench.http(target.url)
        session.get("/x")
        assert len(target.got) == 1
        assert not proxy.got
        session.trust_env = True
        session.get("/x")
        assert len(target.got) == 1
        assert proxy.got


def test_it_is_a_session_of_requests_for_who_asks(session_bench: SessionBench) -> None:
    session = session_bench.http("http://127.0.0.1")
    assert isinstance(session, requests.Session)
    assert session.headers["accept-encoding"] == "gzip, deflate, br"
    assert (session.verify, session.cert, session.auth, session.max_redirects) == (True, None, None, 30)
    assert session.get_adapter("https://x") is session.adapters["https://"]

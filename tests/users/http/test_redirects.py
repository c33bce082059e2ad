"""HttpSession follows redirects, and keeps cookies on the way, as requests does."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import pytest
import requests
from requests.auth import HTTPDigestAuth
from tests.users.http.oracle import oracle
from tests.users.recording_server import NOWHERE, ReceivedRequest, RecordingServer, answer, json_answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.users.conftest import SessionBench


def _redirect(location: str, status: int = 302, *cookies: str) -> bytes:
    return answer(status, b"gone", (("Location", location), *(("Set-Cookie", cookie) for cookie in cookies)))


def _echo_method(got: ReceivedRequest) -> bytes:
    return json_answer({"method": got.method, "body": got.body.decode(), "cookie": got.header("cookie")})


def _digest(got: ReceivedRequest) -> bytes:
    if got.header("authorization") is None:
        challenge = ("WWW-Authenticate", 'Digest realm="r", nonce="n", qop="auth"')
        return answer(401, b"who?", (challenge, ("Set-Cookie", "n=1")))
    return answer(200, b"in")


ANSWERS: dict[str, Any] = {
    "/301": _redirect("/end", 301),
    "/302": _redirect("/end", 302),
    "/303": _redirect("/end", 303),
    "/307": _redirect("/end", 307),
    "/308": _redirect("/end", 308),
    "/300": _redirect("/end", 300),
    "/nowhere": answer(302),
    "/chain": _redirect("/chain/2", 302, "one=1; Path=/", "deep=1; Path=/chain"),
    "/chain/2": _redirect("3?q=a b#part", 302, "two=2", "one=; Max-Age=0; Path=/"),
    "/chain/3": _redirect("//127.0.0.1:{port}/end", 302),
    "/loop": _redirect("/loop"),
    "/end": _echo_method,
    "/digest": _digest,
}

METHODS, REDIRECTS = ("GET", "POST", "PUT", "HEAD"), (300, 301, 302, 303, 307, 308)
JOURNEYS: dict[str, Callable[[Any, str], Any]] = {
    **{
        f"{method} {status}": lambda s, u, m=method, c=status: s.request(m, f"{u}/{c}", data="body", headers={"X": "1"})
        for method in METHODS
        for status in REDIRECTS
    },
    "head, which stays where it is": lambda s, u: s.head(f"{u}/302"),
    "redirects not wanted": lambda s, u: s.get(f"{u}/302", allow_redirects=False),
    "a redirect to nowhere": lambda s, u: s.get(f"{u}/nowhere"),
    "a chain with cookies": lambda s, u: (s.get(f"{u}/chain"), s.get(f"{u}/chain/none"))[0],
    "a chain with a fragment": lambda s, u: s.get(f"{u}/chain#top"),
    "a chain with authentication": lambda s, u: s.get(f"{u}/chain", auth=("me", "pass")),
    "a chain after files": lambda s, u: s.post(f"{u}/307", files={"f": ("a", b"x")}),
    "a chain after a file": lambda s, u: s.post(f"{u}/308", data=io.BytesIO(b"some file")),
    "a chain with params": lambda s, u: s.get(f"{u}/302", params={"a": 1}),
    "a chain with cookies of the call": lambda s, u: s.get(f"{u}/302", cookies={"call": "1"}),
    "digest authentication": lambda s, u: s.get(f"{u}/digest", auth=HTTPDigestAuth("me", "pass")),
}


def _facts(response: Any, target: RecordingServer) -> dict[str, Any]:
    """What the user's code can see of a response, except for what differs between two runs."""

    def same(text: str) -> str:
        return text.replace(str(target.port), "PORT")

    return {
        "url": same(response.url),
        "status": response.status_code,
        "content": response.content,
        "history": [_facts(each, target) for each in response.history],
        "cookies": sorted(response.cookies.items()),
        "sent": (response.request.method, same(response.request.url), response.is_redirect),
    }


def _travel(session: Any, call: Callable[[Any, str], Any]) -> tuple[Any, ...]:
    with RecordingServer(dict(ANSWERS)) as target, session:
        target.answers["/chain/3"] = _redirect(f"//127.0.0.1:{target.port}/end")
        response = call(session, target.url)
        facts = _facts(response, target), response.next and response.next.url.replace(str(target.port), "PORT")
        # The port is in one, a random number in the other.
        left_out = ("Host", "Authorization")
        sent = [
            (got.method, got.target, [line for line in got.headers if line[0] not in left_out], got.body)
            for got in target.got
        ]
        jar = sorted((cookie.name, cookie.value, cookie.path) for cookie in session.cookies)
    return facts, sent, jar


@pytest.mark.parametrize("name", JOURNEYS)
def test_redirects_and_cookies_are_followed_as_requests_follows_them(
    name: str, session_bench: SessionBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urllib3.filepost.choose_boundary", lambda: "boundary")
    expected = _travel(oracle(), JOURNEYS[name])
    assert _travel(session_bench.http("http://unused"), JOURNEYS[name]) == expected
    # Every request that the target got is in the books: as an exchange, or as a hop of one.
    assert sum(each.count + each.hops for each in session_bench.recorded) == len(expected[1])


def test_redirects_that_end_in_an_error_are_named_after_their_last_request(session_bench: SessionBench) -> None:
    with RecordingServer({"/x": _redirect("/y"), "/y": None}) as target:
        session_bench.http(target.url).get("/x")
        session_bench.http(target.url).get("/x", name="mine")
    assert session_bench.counts == {("GET", "/y", "reset"): 1, ("GET", "mine", "reset"): 1}


@pytest.mark.parametrize("arguments", [{}, {"name": "/x"}, {"cookies": {"a": "1"}}])
@pytest.mark.parametrize("location", NOWHERE)
def test_a_redirect_that_leads_nowhere_is_a_failure(
    location: str, arguments: dict[str, Any], session_bench: SessionBench
) -> None:
    with RecordingServer({"/x": _redirect(location)}) as target:
        response = session_bench.http(target.url).get("/x", **arguments)
    assert isinstance(response.error, NOWHERE[location])
    assert response.status_code == 0
    assert session_bench.counts == {("GET", "/x", "http"): 1}


@pytest.mark.parametrize(("location", "followed"), [("/caf\xe9", "/caf%E9"), ("/caf\xc3\xa9?\xff", "/caf%C3%A9?%FF")])
def test_a_redirect_that_is_not_ascii_is_followed_as_browsers_do(
    location: str, followed: str, session_bench: SessionBench
) -> None:
    with RecordingServer({"/x": _redirect(location), followed: answer(200)}) as target:
        assert session_bench.http(target.url).get("/x").status_code == 200
        assert session_bench.fast(target.url).get("/x").status_code == 200
        assert [got.target for got in target.got] == ["/x", followed] * 2


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "http://127.0.0.1:99999/"])
def test_a_url_of_the_users_code_that_makes_no_sense_is_an_exception(url: str, session_bench: SessionBench) -> None:
    session = session_bench.http("")
    with pytest.raises((requests.exceptions.InvalidSchema, requests.exceptions.InvalidURL)):
        session.get(url)
    assert session_bench.counts == {}


@pytest.mark.parametrize("arguments", [{}, {"params": {"a": "1"}}, {"cookies": {"a": "1"}}])
def test_the_credentials_of_the_base_url_are_for_its_host_alone(
    arguments: dict[str, Any], session_bench: SessionBench, target: RecordingServer
) -> None:
    with RecordingServer({"/redirect": _redirect(f"{target.url}/end")}) as first:
        session = session_bench.http(first.url.replace("//", "//me:pass@"))
        session.get("/x", **arguments)
        session.get(f"{target.url}/x", **arguments)
        session.get("/redirect", **arguments)
        session.get(f"{first.url}/absolute", **arguments)
    basic = "Basic " + base64.b64encode(b"me:pass").decode()
    assert [each.header("authorization") for each in first.got] == [basic] * 3
    assert [each.header("authorization") for each in target.got] == [None] * 2


@pytest.mark.parametrize("arguments", [{}, {"name": "/loop"}, {"cookies": {"a": "1"}}])
def test_too_many_redirects_are_a_failure(arguments: dict[str, Any], session_bench: SessionBench) -> None:
    with RecordingServer(ANSWERS) as target:
        session = session_bench.http(target.url)
        session.max_redirects = 3
        response = session.get("/loop", **arguments)
        assert len(target.got) == 4
    assert response.status_code == 0
    assert isinstance(response.error, requests.exceptions.TooManyRedirects)
    assert session_bench.counts == {("GET", "/loop", "http"): 1}
    assert session_bench.failures == [("http", "TooManyRedirects('Exceeded 3 redirects.')")]

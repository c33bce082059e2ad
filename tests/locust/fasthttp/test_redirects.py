"""Redirects of FastHttpSession; the expectations were observed on Locust's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.users.recording_server import NOWHERE, RecordingServer, answer, json_answer

from plimsoll.locust.fasthttp.response import ErrorResponse

if TYPE_CHECKING:
    from tests.users.conftest import SessionBench


def _echo(got: Any) -> bytes:
    return json_answer([got.method, got.body.decode(), dict(got.headers)])


@pytest.mark.parametrize(
    ("method", "status", "then"),
    [
        ("GET", 301, "GET"),
        ("HEAD", 302, "HEAD"),
        ("POST", 301, "GET"),
        ("PUT", 302, "GET"),
        ("POST", 303, "GET"),
        ("POST", 307, "POST"),
        ("PUT", 308, "PUT"),
    ],
)
def test_redirects_are_followed(method: str, status: int, then: str, session_bench: SessionBench) -> None:
    with RecordingServer({"/x": answer(status, b"", (("Location", "end?a=b c"),)), "/end": _echo}) as target:
        body = {"data": "body"} if method != "GET" else {}
        response = session_bench.fast(target.url).request(
            method, "/x", headers={"X": "1", "Authorization": "a"}, **body
        )
        first, second = target.got
    assert (second.method, second.target) == (then, "/end?a=b%20c")
    keeps_body = then == method and method != "GET" and method != "HEAD"
    assert second.body == (b"body" if keeps_body else b"")
    assert (second.header("content-type") is not None) == keeps_body
    assert (second.header("x"), second.header("authorization")) == ("1", "a")
    assert response.url == f"{target.url}/end?a=b%20c"
    assert [each.status_code for each in response.history] == [status]
    assert [(each.count, each.hops) for each in session_bench.recorded] == [(1, 1)]
    assert first.connection == second.connection


def test_authentication_does_not_follow_to_another_host(session_bench: SessionBench, target: RecordingServer) -> None:
    with RecordingServer({"/x": answer(302, b"", (("Location", f"{target.url}/end"),))}) as first:
        session_bench.fast(first.url).get("/x", auth=("me", "pass"))
    assert target.got[0].header("authorization") is None


def test_secrets_among_the_headers_do_not_follow_to_another_host(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    secrets = {"authorization": "a", "Proxy-Authorization": "b"}
    with RecordingServer({"/x": answer(307, b"", (("Location", f"{target.url}/end"),))}) as first:
        session_bench.fast(first.url).get("/x", headers={**secrets, "X": "1"})
        session_bench.fast(first.url, headers={**secrets, "X": "1"}).get("/x")
    for each in first.got:
        assert (each.header("authorization"), each.header("proxy-authorization")) == ("a", "b")
    for each in target.got:
        assert (each.header("authorization"), each.header("proxy-authorization"), each.header("x")) == (None, None, "1")
    assert (len(first.got), len(target.got)) == (2, 2)


def test_the_credentials_of_the_base_url_are_for_its_host_alone(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    with RecordingServer({"/redirect": answer(302, b"", (("Location", f"{target.url}/end"),))}) as first:
        session = session_bench.fast(first.url.replace("//", "//me:pass@"))
        for url in ("/x", f"{target.url}/x", "/redirect", f"{first.url}/absolute"):
            session.get(url)
        session.get(f"{target.url}/x", auth=("me", "pass"))
        session.auth_header = "Bearer x"
        session.get(f"{target.url}/x")
    basic = "Basic bWU6cGFzcw=="
    assert [each.header("authorization") for each in first.got] == [basic] * 3
    assert [each.header("authorization") for each in target.got] == [None, None, basic, "Bearer x"]


def test_a_redirect_that_ends_in_an_error_has_the_first_url(session_bench: SessionBench) -> None:
    with RecordingServer({"/x": answer(302, b"", (("Location", "/y"),)), "/y": None}) as target:
        response = session_bench.fast(target.url).get("/x")
    assert repr(response.error) == "HTTPConnectionClosed('connection closed.')"
    assert (response.url, response.request_meta["url"]) == (f"{target.url}/x", f"{target.url}/x")
    assert session_bench.counts == {("GET", "/x", "reset"): 1}


@pytest.mark.parametrize("arguments", [{}, {"name": "/loop"}])
def test_too_many_redirects_are_a_failure(arguments: dict[str, Any], session_bench: SessionBench) -> None:
    with RecordingServer({"/loop": answer(302, b"", (("Location", "/loop"),))}) as target:
        response = session_bench.fast(target.url, max_redirects=5).get("/loop", **arguments)
        assert len(target.got) == 6
    assert isinstance(response, ErrorResponse)
    assert repr(response.error) == f"RetriesExceeded('{target.url}/loop', 'Redirection limit reached (5)')"
    assert (response.status_code, response.content, response.text) == (0, None, None)
    assert session_bench.counts == {("GET", "/loop", "http"): 1}


def test_a_redirect_that_is_not_followed_is_a_success(session_bench: SessionBench) -> None:
    with RecordingServer({"/x": answer(302, b"", (("Location", "/y"),)), "/z": answer(302)}) as target:
        session = session_bench.fast(target.url)
        assert session.get("/x", allow_redirects=False).status_code == 302
        assert session.get("/x", max_redirects=0).status_code == 302
        assert session.get("/z").status_code == 302
    assert session_bench.counts == {("GET", "/x", "success"): 2, ("GET", "/z", "success"): 1}


@pytest.mark.parametrize("location", NOWHERE)
def test_a_redirect_that_leads_nowhere_is_a_failure(location: str, session_bench: SessionBench) -> None:
    with RecordingServer({"/x": answer(302, b"", (("Location", location),))}) as target:
        response = session_bench.fast(target.url).get("/x")
    assert isinstance(response.error, NOWHERE[location])
    assert session_bench.counts == {("GET", "/x", "http"): 1}

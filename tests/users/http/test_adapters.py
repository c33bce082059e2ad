"""Adapters with a send or add_headers of their own, mounted on a session."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
import requests
from gevent.pool import Pool
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.auth import HTTPDigestAuth
from tests.users.recording_server import ReceivedRequest, RecordingServer, answer
from urllib3 import Retry

if TYPE_CHECKING:
    from tests.users.conftest import SessionBench


class Signing(HTTPAdapter):
    def send(self, request: Any, **kwargs: Any) -> Any:
        request.headers["X-Signed"] = request.path_url
        response = super().send(request, **kwargs)
        response.headers["X-Seen"] = "yes"
        return response


class SigningByPosition(HTTPAdapter):
    def send(
        self,
        request: Any,
        stream: Any = False,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Any = None,
    ) -> Any:
        request.headers["X-Signed"] = request.path_url
        return super().send(request, stream, timeout, verify, cert, proxies)


class Twice(HTTPAdapter):
    def send(self, request: Any, **kwargs: Any) -> Any:
        super().send(request, **kwargs)
        return super().send(request, **kwargs)


class Adding(HTTPAdapter):
    def add_headers(self, request: Any, **kwargs: Any) -> None:
        request.headers["X-Signed"] = request.path_url


class Mock(BaseAdapter):
    def send(self, request: Any, **kwargs: Any) -> requests.Response:
        response = requests.Response()
        response.status_code, response.reason, response.url = 404, "Nowhere", request.url
        response.raw = io.BytesIO(b"made up")
        response.request = request
        return response

    def close(self) -> None:
        pass


@pytest.mark.parametrize("kind", [Signing, Adding])
def test_it_is_asked_for_every_request(
    kind: type[HTTPAdapter], session_bench: SessionBench, caplog: pytest.LogCaptureFixture
) -> None:
    with RecordingServer({"/r": answer(302, b"", (("Location", "/end"),))}) as target:
        session = session_bench.http(target.url)
        session.get("/before")
        session.mount("http://", kind())
        session.get("/x?a=1")
        session.post("/y", json={})
        assert session.get("/r").history[0].status_code == 302
        signed = [(got.target, got.header("X-Signed")) for got in target.got]
    assert signed == [("/before", None), *((path, path) for path in ("/x?a=1", "/y", "/r", "/end"))]
    assert session_bench.counts == {
        ("GET", "/before", "success"): 1,
        ("GET", "/x?a=1", "success"): 1,
        ("POST", "/y", "success"): 1,
        ("GET", "/r", "success"): 1,
    }
    assert not caplog.messages


def test_what_it_does_to_the_response_is_seen(session_bench: SessionBench, target: RecordingServer) -> None:
    session = session_bench.http(target.url)
    adapter = Signing()
    session.mount("http://", adapter)
    assert session.get("/x").headers["X-Seen"] == "yes"
    assert isinstance(adapter, Signing)
    assert session.get_adapter(target.url) is adapter


def test_arguments_may_be_given_by_position(session_bench: SessionBench, target: RecordingServer) -> None:
    session = session_bench.http(target.url)
    session.mount("http://", SigningByPosition())
    target.answers["/hang"] = b""
    assert type(session.get("/hang", timeout=0.05).error) is requests.exceptions.ReadTimeout
    assert target.got[0].header("X-Signed") == "/hang"


def test_only_urls_with_its_prefix_are_its_business(session_bench: SessionBench, target: RecordingServer) -> None:
    session = session_bench.http(target.url)
    session.mount(f"{target.url}/signed", Signing())
    session.get("/plain")
    session.get("/signed/x")
    assert [got.header("X-Signed") for got in target.got] == [None, "/signed/x"]


def test_one_may_serve_several_sessions(session_bench: SessionBench, target: RecordingServer) -> None:
    adapter = Signing()
    with RecordingServer() as other:
        for url in (target.url, other.url, target.url):
            session = session_bench.http(url)
            session.mount("http://", adapter)
            session.get("/x")
        assert (len(target.got), len(other.got)) == (2, 1)
    assert session_bench.counts == {("GET", "/x", "success"): 3}


def test_greenlets_that_ask_it_at_the_same_time_keep_apart(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    adapter = Twice()
    with RecordingServer() as other:
        sessions = [session_bench.http(url) for url in (target.url, other.url)]
        for session in sessions:
            session.mount("http://", adapter)
        Pool().map(lambda session: session.get("/x"), sessions)
        assert (len(target.got), len(other.got)) == (2, 2)
    assert session_bench.counts == {("GET", "/x", "success"): 2}


def test_a_failure_goes_through_it(session_bench: SessionBench) -> None:
    session = session_bench.http("http://127.0.0.1:1")
    session.mount("http://", Signing())
    session.get("/x")
    assert session_bench.failures == [("connect", "ConnectionRefusedError(111, 'Connection refused')")]


def test_it_sees_what_authentication_sends_again(session_bench: SessionBench) -> None:
    def digest(got: ReceivedRequest) -> bytes:
        if got.header("Authorization") is None:
            return answer(401, b"", (("WWW-Authenticate", 'Digest realm="r", nonce="n", qop="auth"'),))
        return answer(200, (got.header("X-Signed") or "").encode())

    with RecordingServer({"/x": digest}) as target:
        session = session_bench.http(target.url)
        session.mount("http://", Signing())
        assert session.get("/x", auth=HTTPDigestAuth("me", "pass")).text == "/x"
    assert session_bench.counts == {("GET", "/x", "success"): 1}


def test_a_response_that_it_made_itself_is_judged_like_any_other(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    session = session_bench.http(target.url)
    session.mount("http://", Mock())
    response = session.get("/x")
    assert (response.status_code, response.text, response.url) == (404, "made up", f"{target.url}/x")
    assert not target.got
    assert session_bench.failures == [("http", "HTTPError('404 Client Error: Nowhere for url: /x')")]
    assert [each.timed for each in session_bench.recorded] == [0]


def _failing_first(times: int) -> RecordingServer:
    """Answers 503 so many times, then 200."""
    left = iter(range(times))
    return RecordingServer({"/x": lambda _: answer(503) if next(left, None) is not None else answer(200, b"yes")})


@pytest.mark.parametrize("client", ["mounted", "both"])
def test_an_adapter_repeats_what_its_retries_say(session_bench: SessionBench, client: str) -> None:
    with _failing_first(2) as target:
        session = session_bench.http(target.url)
        kind = Signing if client == "both" else HTTPAdapter
        session.mount("http://", kind(max_retries=Retry(total=3, status_forcelist=[503])))
        response = session.get("/x")
    assert (response.status_code, response.text, len(target.got)) == (200, "yes", 3)
    assert session_bench.counts == {("GET", "/x", "success"): 1}


def test_retries_that_are_used_up_are_a_failure_in_the_words_of_requests(session_bench: SessionBench) -> None:
    with _failing_first(9) as target:
        session = session_bench.http(target.url)
        session.mount("http://", HTTPAdapter(max_retries=Retry(total=1, status_forcelist=[503])))
        response = session.get("/x")
    assert (response.status_code, len(target.got)) == (0, 2)
    assert isinstance(response.error, requests.exceptions.RetryError)
    assert "too many 503 error responses" in str(response.error)
    assert "HTTPConnectionPool(host='127.0.0.1'" in str(response.error)


def test_without_raise_on_status_the_last_response_counts(session_bench: SessionBench) -> None:
    retries = Retry(total=1, status_forcelist=[503], raise_on_status=False)
    with _failing_first(9) as target:
        session = session_bench.http(target.url)
        session.mount("http://", HTTPAdapter(max_retries=retries))
        assert session.get("/x").status_code == 503
    assert len(target.got) == 2


def test_a_method_that_may_not_be_repeated_is_not(session_bench: SessionBench) -> None:
    with _failing_first(9) as target:
        session = session_bench.http(target.url)
        session.mount("http://", HTTPAdapter(max_retries=Retry(total=3, status_forcelist=[503])))
        assert session.post("/x").status_code == 503
    assert len(target.got) == 1


def test_a_refused_connection_is_reported_once_as_it_was(session_bench: SessionBench) -> None:
    session = session_bench.http("http://127.0.0.1:1")
    session.mount("http://", HTTPAdapter(max_retries=2))
    response = session.get("/x")
    assert isinstance(response.error, requests.exceptions.ConnectionError)
    assert session_bench.counts == {("GET", "/x", "connect"): 1}


def test_a_connection_that_breaks_is_tried_again(session_bench: SessionBench) -> None:
    left = iter([None])
    with RecordingServer({"/x": lambda _: next(left, answer(200, b"yes"))}) as target:
        session = session_bench.http(target.url)
        session.mount("http://", HTTPAdapter(max_retries=Retry(total=2)))
        assert session.get("/x", headers={"Connection": "close"}).text == "yes"
        assert len(target.got) == 2
    assert session_bench.counts == {("GET", "/x", "success"): 1}

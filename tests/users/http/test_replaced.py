from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import requests
from requests.adapters import HTTPAdapter
from tests.users.recording_server import RecordingServer, answer
from urllib3.connectionpool import HTTPConnectionPool

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.users.conftest import SessionBench

REPLACED = [(requests.Session, "request"), (requests.Session, "send"), (HTTPAdapter, "send")]


def _signing(original: Callable[..., Any], calls: list[tuple[Any, ...]]) -> Callable[..., Any]:
    """Calls the original, and marks its response."""

    def signed(self: Any, *arguments: Any, **named: Any) -> Any:
        calls.append((arguments, named))
        response = original(self, *arguments, **named)
        response.headers["X-Seen"] = "yes"
        return response

    return signed


@pytest.mark.parametrize(("owner", "name"), REPLACED)
def test_a_replaced_function_of_requests_is_called_and_the_engine_sends(
    owner: type, name: str, session_bench: SessionBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(owner, name, _signing(getattr(owner, name), calls))
    with RecordingServer({"/": answer(200)}) as target:
        client = session_bench.http(target.url)
        for _ in range(2):
            response = client.get("/", name="root", params={"a": "b"})
            assert (response.status_code, response.headers["X-Seen"]) == (200, "yes")
            assert response.reply is not None, "the engine has sent it, and has its times"
        assert len(target.got) == 2
    assert len(calls) == 2
    assert session_bench.counts == {("GET", "root", "success"): 2}


def test_the_replacement_of_session_request_gets_what_locust_gives_it(
    session_bench: SessionBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(requests.Session, "request", _signing(requests.Session.request, calls))
    with RecordingServer({"/": answer(200)}) as target:
        session_bench.http(target.url).post("/", json={"a": 1}, headers={"X-A": "b"})
        (received,) = target.got
        assert (received.body, dict(received.headers)["X-A"]) == (b'{"a": 1}', "b")
    ((arguments, named),) = calls
    assert arguments == ("POST", f"{target.url}/")
    assert named == {"data": None, "json": {"a": 1}, "headers": {"X-A": "b"}}


def test_a_replacement_of_session_send_sees_each_redirect(
    session_bench: SessionBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(requests.Session, "send", _signing(requests.Session.send, calls))
    with RecordingServer({"/": answer(302, headers=(("Location", "/end"),)), "/end": answer(200)}) as target:
        response = session_bench.http(target.url).get("/")
        assert [each.status_code for each in response.history] == [302]
    assert [(arguments[0].path_url, named["allow_redirects"]) for arguments, named in calls] == [
        ("/", True),
        ("/end", False),
    ]
    assert session_bench.counts == {("GET", "/", "success"): 1}


def test_a_response_that_a_replacement_makes_is_counted(
    session_bench: SessionBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(self: Any, request: Any, **_: Any) -> requests.Response:
        response = requests.Response()
        response.status_code, response.url, response.request = 404, request.url, request
        response._content = b"made"
        return response

    monkeypatch.setattr(HTTPAdapter, "send", made)
    response = session_bench.http("http://127.0.0.1:9").get("/")
    assert (response.status_code, response.text) == (404, "made")
    assert [key[:2] for key in session_bench.counts] == [("GET", "/")]


def test_other_sessions_are_requests_own() -> None:
    with RecordingServer({"/": answer(200)}) as target:
        with requests.Session() as session:
            assert session.get(target.url, timeout=5).status_code == 200
        assert len(target.got) == 1


def test_a_replaced_function_that_connects_is_said_once_with_its_line(
    session_bench: SessionBench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def urlopen(*_: Any, **__: Any) -> None: ...

    monkeypatch.setattr(HTTPConnectionPool, "urlopen", urlopen)
    with RecordingServer({"/": answer(200)}) as target:
        for _ in range(2):
            assert session_bench.http(target.url).get("/").ok
    (said,) = [each.getMessage() for each in caplog.records if "is replaced" in each.getMessage()]
    line = urlopen.__code__.co_firstlineno
    assert said.startswith(f"urllib3's HTTPConnectionPool.urlopen is replaced ({__file__}:{line}); this has no effect")


def test_nothing_is_said_of_requests_as_it_is(session_bench: SessionBench, caplog: pytest.LogCaptureFixture) -> None:
    client = session_bench.http("http://127.0.0.1:9")
    assert "is replaced" not in caplog.text
    assert not client._has_own_steps

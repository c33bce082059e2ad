"""The shortcut of FastHttpSession: what it sends, returns and counts is the same as without it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.users.http.test_quick import ANSWERS, JSON, VALUES, outcome, parts_or_error
from tests.users.http.test_quick_calls import VALUES_OF_HEADERS, assert_same

from plimsoll.locust.fasthttp.session import FastHttpSession

if TYPE_CHECKING:
    from tests.users.conftest import SessionBench
    from tests.users.recording_server import RecordingServer

ARGUMENTS: dict[str, dict[str, Any]] = {
    "none": {},
    "name": {"name": "/x/[id]"},
    "an empty name": {"name": ""},
    "headers": {"headers": {"Authorization": "Bearer 1", "Accept": "text/html", "X-Id": "2"}},
    "accept in another spelling": {"headers": {"ACCEPT": "text/html"}},
    "accept in lower case": {"headers": {"accept": "text/html"}},
    "a user agent": {"headers": {"user-agent": "me"}},
    "a host": {"headers": {"Host": "example.org"}},
    "a content type": {"headers": {"content-type": "text/plain"}},
    "a coding": {"headers": {"Accept-Encoding": "gzip"}},
    "a number": {"headers": {"X": 1}},
    "a header twice": {"headers": {"X": "1", "x": "2"}},
    "no headers": {"headers": {}},
    "json": {"json": JSON, "name": "json"},
    "json with headers": {"json": JSON, "headers": {"Accept": "text/html", "X": "1"}},
    "json and another accept": {"json": JSON, "headers": {"ACCEPT": "text/html"}},
    "empty json": {"json": {}},
    "data": {"data": "text"},
    "a form": {"data": {"a": 1}},
    "data before json": {"data": "text", "json": JSON},
    "an unknown argument": {"color": "red"},
    "authentication": {"auth": ("a", "b")},
}
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "headers": {"headers": {"X-Own": "1"}},
    "host": {"headers": {"Host": "a"}},
}


def compare(bench: SessionBench, target: RecordingServer, call: Any, **settings: Any) -> None:
    quick, full = (bench.fast(f"http://127.0.0.1:{target.port}", **settings) for _ in range(2))
    full._is_special = True
    assert outcome(quick, bench, target, call) == outcome(full, bench, target, call)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_a_call_is_the_same_as_without_the_shortcut(
    arguments: str, method: str, settings: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    given, own = ARGUMENTS[arguments], SETTINGS[settings]
    compare(session_bench, target, lambda session: getattr(session, method)("/x?q=1", **given), **own)


@pytest.mark.parametrize("value", VALUES)
def test_a_json_body_has_the_bytes_of_json_dumps(
    value: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    compare(session_bench, target, lambda session: session.post("/x", json=VALUES[value]))
    session = session_bench.fast(f"http://127.0.0.1:{target.port}")
    first = len(target.got)
    ours = parts_or_error(lambda it: it.post("/x", json=VALUES[value]), session)
    try:
        body = json.dumps(VALUES[value]).encode()
    except Exception as error:
        assert ours[1:] == [type(error), str(error)]
        assert len(target.got) == first
        return
    assert target.got[-1].body == body
    assert target.got[-1].header("Content-Type") == "application/json"


def test_a_request_method_that_the_script_puts_into_the_class_gets_the_calls(
    monkeypatch: pytest.MonkeyPatch, session_bench: SessionBench, target: RecordingServer
) -> None:
    session = session_bench.fast(f"http://127.0.0.1:{target.port}")
    original, seen = FastHttpSession.request, []

    def request(self: Any, method: str, url: str, **kwargs: Any) -> Any:
        seen.append((method, url))
        return original(self, method, url, **kwargs)

    session.get("/first")
    monkeypatch.setattr(FastHttpSession, "request", request)
    session.get("/a")
    session.post("/b", json=1)
    assert seen == [("GET", "/a"), ("POST", "/b")]


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("name", [{}, {"name": "n"}], ids=str)
@pytest.mark.parametrize("path", ANSWERS)
def test_a_response_is_the_same_as_without_the_shortcut(
    path: str, name: dict[str, str], method: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    target.answers |= ANSWERS
    compare(session_bench, target, lambda session: getattr(session, method)(path, **name))


@pytest.mark.parametrize("path", ANSWERS)
@pytest.mark.parametrize("decision", ["none", "success", "failure"])
def test_a_with_block_is_the_same_as_without_the_shortcut(
    path: str, decision: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    target.answers |= ANSWERS

    def call(session: Any) -> Any:
        with session.post(path, json=JSON, catch_response=True) as response:
            if decision == "success":
                response.success()
            elif decision == "failure":
                response.failure("wrong")
        return response

    compare(session_bench, target, call)


def test_a_header_of_every_request_is_sent_with_common_calls(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    session = session_bench.fast(f"http://127.0.0.1:{target.port}")
    session.get("/a", name="n")
    session.auth_header = "Bearer 1"
    for call in (lambda: session.get("/b"), lambda: session.get("/b", name="n"), lambda: session.post("/b", json=1)):
        call()
        assert target.got[-1].header("Authorization") == "Bearer 1"


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("method", ["get", "post", "delete"])
@pytest.mark.parametrize("body", [{}, {"json": JSON}], ids=str)
def test_values_of_headers_are_the_same_as_without_the_shortcut_in_call_after_call(
    body: dict[str, Any], method: str, settings: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    url, own = f"http://127.0.0.1:{target.port}", SETTINGS[settings]
    quick, full = (session_bench.fast(url, **own) for _ in range(2))
    full._is_special = True
    for headers in VALUES_OF_HEADERS:
        # The second has other objects as names, and the third other names.
        others = {"".join(list(name)): value for name, value in headers.items()}
        for each in (headers, others, {name.lower(): value for name, value in headers.items()}, {}, None):
            assert_same((quick, full), session_bench, target, method, headers=each, **body)

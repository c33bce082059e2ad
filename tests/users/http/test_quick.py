"""The shortcut for common calls: what it sends, returns and counts is the same as without it."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pytest
from tests.users.recording_server import ReceivedRequest, answer, json_answer

from plimsoll.users.events import EventHook
from plimsoll.users.http.quick import _are_common

if TYPE_CHECKING:
    from tests.users.conftest import SessionBench
    from tests.users.recording_server import RecordingServer

JSON = {"customer": 7, "items": [{"sku": "é"}]}

ARGUMENTS: dict[str, dict[str, Any]] = {
    "none": {},
    "name": {"name": "/x/[id]"},
    "an empty name": {"name": ""},
    "headers": {"headers": {"Authorization": "Bearer 1", "X-Id": "2"}},
    "a header of the session": {"headers": {"Connection": "close", "accept": "text/html"}},
    "a header removed": {"headers": {"Accept": None}},
    "no headers": {"headers": {}},
    "a host": {"headers": {"Host": "example.org"}},
    "a user agent": {"headers": {"User-Agent": "me"}},
    "a header twice": {"headers": {"X": "1", "x": "2"}},
    "json": {"json": JSON, "name": "json"},
    "json with headers": {"json": JSON, "headers": {"content-type": "text/plain", "X": "1"}},
    "empty json": {"json": {}},
    "bytes": {"data": b"bytes"},
    "no bytes": {"data": b""},
    "text": {"data": "text"},
    "a form": {"data": {"a": 1}},
    "data before json": {"data": b"bytes", "json": JSON},
    "params": {"params": {"a": 1}},
    "basic authentication": {"auth": ("a", "b")},
    "no redirects": {"allow_redirects": False},
    "a timeout": {"timeout": 5},
    "all": {"json": JSON, "headers": {"X-Id": "2"}, "name": "all", "timeout": 9},
}

ANSWERS: dict[str, Any] = {
    "/ok": json_answer({"status": "accepted"}),
    "/none": answer(204),
    "/missing": answer(404, b"gone"),
    "/broken": answer(500),
    "/cookie": answer(200, b"x", (("Set-Cookie", "a=1"),)),
    "/redirect": answer(302, b"", (("Location", "/ok"),)),
    "/nowhere": answer(302, b"", (("Location", "ftp://127.0.0.1/"),)),
    "/gzip": answer(200, gzip.compress(b"text"), (("Content-Encoding", "gzip"),)),
    "/damaged": answer(200, b"no gzip", (("Content-Encoding", "gzip"),)),
    "/closed": None,
}


def wire(got: list[ReceivedRequest]) -> list[Any]:
    return [(each.method, each.target, each.headers, each.body) for each in got]


def parts(response: Any) -> list[Any]:
    request = response.request
    sent = None if request is None else (request.method, request.url, dict(request.headers), request.body)
    error = None if response.error is None else type(response.error)
    return [response.status_code, response.content, response.url, response.endpoint, sent, error, len(response.history)]


def outcome(session: Any, bench: SessionBench, target: RecordingServer, call: Any) -> list[Any]:
    """What a call sends, returns and counts."""
    before, counts = len(target.got), bench.counts
    response = call(session)
    counted = {key: count - counts.get(key, 0) for key, count in bench.counts.items() if count != counts.get(key, 0)}
    return [wire(target.got[before:]), parts(response), counted]


def compare(bench: SessionBench, target: RecordingServer, call: Any) -> None:
    quick, full = (bench.http(f"http://127.0.0.1:{target.port}") for _ in range(2))
    for session in (quick, full):
        session.get("/first")
    full._is_special = True
    assert outcome(quick, bench, target, call) == outcome(full, bench, target, call)


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_a_call_is_the_same_as_without_the_shortcut(
    method: str, arguments: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    compare(session_bench, target, lambda session: getattr(session, method)("/x?q=1", **ARGUMENTS[arguments]))


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("name", [{}, {"name": "n"}], ids=str)
@pytest.mark.parametrize("path", ANSWERS)
def test_a_response_is_the_same_as_without_the_shortcut(
    path: str, name: dict[str, str], method: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    target.answers |= ANSWERS
    compare(session_bench, target, lambda session: getattr(session, method)(path, **name))


@pytest.mark.parametrize("path", ANSWERS)
@pytest.mark.parametrize("decision", ["none", "success", "failure", "status"])
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
            elif decision == "status" and response.status_code:
                response.status_code = 503
        return response

    compare(session_bench, target, call)


def test_a_listener_of_the_script_gets_every_call(session_bench: SessionBench, target: RecordingServer) -> None:
    session = session_bench.http(f"http://127.0.0.1:{target.port}")
    session.get("/first")
    seen: list[tuple[str, str]] = []
    session_bench.event.add_listener(lambda request_type, name, **_: seen.append((request_type, name)))
    session.post("/x", json=JSON)
    with session.get("/y", name="n", catch_response=True):
        pass
    assert seen == [("POST", "/x"), ("GET", "n")]


def test_a_request_method_of_a_subclass_gets_the_arguments_of_the_call(target: RecordingServer) -> None:
    from plimsoll.users.http.session import HttpSession

    class Own(HttpSession):
        def request(self, *args: Any, **kwargs: Any) -> Any:
            seen.append((args, kwargs))
            return super().request(*args, **kwargs)

    seen: list[Any] = []
    session = Own(f"http://127.0.0.1:{target.port}", EventHook(), None)
    session.get("/a", name="n")
    session.post("/b", json=1)
    session.put("/c", json=1)
    assert seen == [
        (("GET", "/a"), {"name": "n"}),
        (("POST", "/b"), {"data": None, "json": 1}),
        (("PUT", "/c"), {"data": None, "json": 1}),
    ]


def test_names_that_the_session_treats_in_its_own_way_are_not_common() -> None:
    assert _are_common(("Authorization", "X-Id"))
    for names in (("User-Agent",), ("accept-encoding",), ("Content-Length",), ("X", "x"), (b"X",)):
        assert not _are_common(names)

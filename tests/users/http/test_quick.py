"""The shortcut for common calls: what it sends, returns and counts is the same as without it."""

from __future__ import annotations

import dataclasses
import gzip
import json
import math
from collections import OrderedDict
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any

import gevent
import pytest
import requests
from tests.users.recording_server import ReceivedRequest, answer, json_answer

from plimsoll.users.events import EventHook
from plimsoll.users.http.session import HttpSession

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


@dataclasses.dataclass
class Order:
    number: int


class Level(IntEnum):
    LOW = 1


class Color(Enum):
    RED = "red"


class Name(str):
    __slots__ = ()


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = {"a": [value]}
    return value


def circle() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


VALUES: dict[str, Any] = {
    "zero": 0,
    "false": False,
    "an empty text": "",
    "an empty list": [],
    "letters outside of ASCII": {"naïve": "日本 \U0001f600 \u2028"},
    "control characters": '\x00\x1f\x7f \\ / " \n',
    "half of a surrogate pair": ["\ud800"],
    "keys that are no texts": {2: 1, None: 2, True: 3, 1.5: 4},
    "keys of the same text": {1: 1, "1": 2},
    "large integers": [2**63 - 1, 2**63, -(2**63) - 1, 10**40],
    "floats": [0.1, 1e22, -0.0, 5e-324, 1.7976931348623157e308],
    "subclasses": [Level.LOW, Name("x"), OrderedDict(b=1, a=2)],
    "tuples": ((), (1, (2,))),
    "a deep value": nested(60),
    "no number": math.nan,
    "infinity": {"a": [-math.inf]},
    "a decimal": Decimal("1.5"),
    "a date": {"on": date(2026, 1, 1)},
    "a dataclass": Order(1),
    "an enum": Color.RED,
    "bytes": b"x",
    "a set": {1},
    "keys of a tuple": {(1, 2): 3},
    "a circle": circle(),
    "a value deeper than the stack": nested(5000),
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


def parts_or_error(call: Any, session: Any) -> list[Any]:
    try:
        response = call(session)
    except Exception as error:
        return ["raised", type(error), str(error)]
    return parts(response)


def outcome(session: Any, bench: SessionBench, target: RecordingServer, call: Any) -> list[Any]:
    """What a call sends, returns and counts."""
    before, counts = len(target.got), bench.counts
    result = parts_or_error(call, session)
    counted = {key: count - counts.get(key, 0) for key, count in bench.counts.items() if count != counts.get(key, 0)}
    return [wire(target.got[before:]), result, counted]


def compare(bench: SessionBench, target: RecordingServer, call: Any, change: Any = None) -> None:
    quick, full = (bench.http(f"http://127.0.0.1:{target.port}") for _ in range(2))
    for session in (quick, full):
        if change is not None:
            change(session)
        session.get("/first")
    full._is_special = True
    assert outcome(quick, bench, target, call) == outcome(full, bench, target, call)


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_a_call_is_the_same_as_without_the_shortcut(
    method: str, arguments: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    compare(session_bench, target, lambda session: getattr(session, method)("/x?q=1", **ARGUMENTS[arguments]))


@pytest.mark.parametrize("method", ["post", "put", "patch"])
@pytest.mark.parametrize("value", VALUES)
def test_a_json_body_is_the_same_as_without_the_shortcut(
    value: str, method: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    compare(session_bench, target, lambda session: getattr(session, method)("/x", json=VALUES[value]))


@pytest.mark.parametrize("value", VALUES)
def test_a_json_body_has_the_bytes_that_requests_sends(
    value: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    session, url = session_bench.http(f"http://127.0.0.1:{target.port}"), f"http://127.0.0.1:{target.port}/x"
    session.get("/first")
    first = len(target.got)
    ours = parts_or_error(lambda it: it.post("/x", json=VALUES[value]), session)
    try:
        theirs = requests.post(url, json=VALUES[value], timeout=30)
    except requests.RequestException as error:
        # As in Locust, a response without a status.
        assert (ours[0], ours[5]) == (0, type(error))
        assert len(target.got) == first
        return
    except Exception as error:
        assert ours[1:] == [type(error), str(error)]
        assert len(target.got) == first
        return
    assert theirs.status_code == ours[0] == 200
    one, other = target.got[first:]
    assert one.body == other.body == json.dumps(VALUES[value]).encode()
    assert one.header("Content-Type") == other.header("Content-Type") == "application/json"


CHANGES: dict[str, Any] = {
    "a header": lambda session: session.headers.update({"X-Own": "1", "Content-Type": "text/plain"}),
    "a header removed": lambda session: session.headers.pop("Accept"),
    "all headers removed": lambda session: session.headers.clear(),
    "a cookie": lambda session: session.cookies.set("a", "1"),
    "authentication": lambda session: setattr(session, "auth", ("a", "b")),
    "parameters": lambda session: session.params.update({"p": "1"}),
    "a hook": lambda session: session.hooks["response"].append(lambda response, **_: response),
    "a name": lambda session: setattr(session, "request_name", "all"),
    "streams": lambda session: setattr(session, "stream", True),
    "no base URL": lambda session: setattr(session, "base_url", ""),
}


@pytest.mark.parametrize("method", ["get", "post", "delete"])
@pytest.mark.parametrize("arguments", ["none", "json with headers", "bytes", "headers", "name", "a header removed"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_call_of_a_changed_session_is_the_same_as_without_the_shortcut(
    change: str, arguments: str, method: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    def call(session: Any) -> Any:
        CHANGES[change](session)
        return getattr(session, method)("/x?q=1", **ARGUMENTS[arguments])

    if change != "no base URL":
        compare(session_bench, target, call, change=CHANGES[change])
    compare(session_bench, target, call)


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize(
    "url", ["http://", "http://[::1/", "http://127.0.0.1:99999/", "ftp://127.0.0.1/", b"/x", None, 1]
)
def test_a_url_that_cannot_be_sent_is_the_same_as_without_the_shortcut(
    url: Any, method: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    compare(session_bench, target, lambda session: getattr(session, method)(url, name="n"))


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


def test_a_listener_of_the_script_changes_what_the_next_one_gets(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    session = session_bench.http(f"http://127.0.0.1:{target.port}")
    session.get("/first")
    with session.post("/x", json=JSON, catch_response=True) as response:
        response.request_meta["name"] = "renamed"
    with session.post("/x", json=JSON, catch_response=True) as response:
        response.request_meta["exception"] = ValueError("wrong")
    counts = session_bench.counts
    assert counts["POST", "renamed", "success"] == 1
    assert [key[:2] for key in counts if key[2] != "success"] == [("POST", "/x")]


@pytest.mark.parametrize("kind", [ValueError, TypeError])
def test_an_error_that_the_script_throws_into_a_call_ends_it(
    kind: type[Exception], session_bench: SessionBench, target: RecordingServer
) -> None:
    target.answers["/slow"] = b""
    session = session_bench.http(f"http://127.0.0.1:{target.port}")
    session.get("/first")
    with pytest.raises(kind, match="too late"), gevent.Timeout(0.2, kind("too late")):
        session.post("/slow", json=JSON)
    assert [each.target for each in target.got] == ["/first", "/slow"]


def test_a_request_method_that_the_script_puts_into_the_class_gets_the_calls(
    monkeypatch: pytest.MonkeyPatch, session_bench: SessionBench, target: RecordingServer
) -> None:
    class Own(HttpSession):
        pass

    seen: list[tuple[str, str]] = []
    original = HttpSession.request
    sessions = [kind(f"http://127.0.0.1:{target.port}", session_bench.event, None) for kind in (HttpSession, Own)]
    for session in sessions:
        session.get("/first")

    def request(self: Any, method: str, url: str, **kwargs: Any) -> Any:
        seen.append((method, url))
        return original(self, method, url, **kwargs)

    monkeypatch.setattr(HttpSession, "request", request)
    for session in sessions:
        session.get("/a")
        session.post("/b", json=1)
    assert seen == [("GET", "/a"), ("POST", "/b")] * 2


def test_a_request_method_that_the_script_puts_into_a_session_gets_the_calls(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    session = session_bench.http(f"http://127.0.0.1:{target.port}")
    session.get("/first")
    original, seen = session.request, []

    def request(method: str, url: str, **kwargs: Any) -> Any:
        seen.append((method, url))
        return original(method, url, **kwargs)

    session.request = request  # type: ignore[method-assign]
    session.get("/a")
    session.post("/b", json=1)
    assert seen == [("GET", "/a"), ("POST", "/b")]


def test_a_request_method_of_a_subclass_gets_the_arguments_of_the_call(target: RecordingServer) -> None:
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


def test_a_name_that_a_subclass_has_counts_the_calls(session_bench: SessionBench, target: RecordingServer) -> None:
    class Own(HttpSession):
        request_name = "all"

    session = Own(f"http://127.0.0.1:{target.port}", session_bench.event, None)
    session.get("/a")
    session.post("/b", json=1, name="n")
    assert session_bench.counts == {("GET", "all", "success"): 1, ("POST", "n", "success"): 1}


def test_greenlets_of_one_session_wait_at_the_same_time(session_bench: SessionBench, target: RecordingServer) -> None:
    session = session_bench.http(f"http://127.0.0.1:{target.port}")
    session.get("/first")
    calls = [gevent.spawn(session.post, f"/x/{number}", json={"number": number}) for number in range(5)]
    gevent.joinall(calls, raise_error=True)
    assert [call.value.request.body for call in calls] == [b'{"number": %d}' % number for number in range(5)]
    assert [call.value.url for call in calls] == [f"http://127.0.0.1:{target.port}/x/{number}" for number in range(5)]

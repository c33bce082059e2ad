"""`rest()`: the JSON that comes and goes, and what becomes of exceptions in its block."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import gevent
import pytest
from tests.users.recording_server import RecordingServer, answer, json_answer

from plimsoll.locust.api import Environment, FastHttpUser
from plimsoll.users.exceptions import StopUser
from plimsoll.users.recording import RequestRecorder
from plimsoll.users.user import HttpUser

if TYPE_CHECKING:
    from tests.users.conftest import SessionBench


@pytest.fixture(params=[HttpUser, FastHttpUser])
def user(request: pytest.FixtureRequest, session_bench: SessionBench, target: RecordingServer) -> Any:
    """A user whose exchanges the desk records; the target answers with JSON."""

    class Client(request.param):
        host = target.url

    target.answers = {"/x": json_answer({"count": 1}), "/text": answer(200, b"<html>")}
    environment = Environment(user_classes=[Client])
    environment.events.request.add_listener(RequestRecorder(session_bench.recorder))
    return Client(environment)


def test_the_answer_is_there_as_json(user: Any, session_bench: SessionBench) -> None:
    with user.rest("GET", "/x") as response:
        assert response.js == {"count": 1}
    assert session_bench.counts == {("GET", "/x", "success"): 1}


def test_both_sides_are_said_to_speak_json(user: Any, target: RecordingServer) -> None:
    with user.rest("PUT", "/x", headers={"X": "1"}, json={"a": [2]}):
        pass
    got = target.got[0]
    assert [got.header(name) for name in ("Content-Type", "Accept", "X")] == ["application/json"] * 2 + ["1"]
    assert got.body == b'{"a": [2]}'


def test_headers_of_the_call_count_in_two_spellings(user: Any, target: RecordingServer) -> None:
    given = {"content-type": "application/x", "ACCEPT": "text/html"}
    with user.rest("POST", "/x", data="a", headers=given):
        pass
    got = target.got[0]
    assert [value for name, value in got.headers if name.lower() == "content-type"] == ["application/x"]
    assert [value for name, value in got.headers if name.lower() == "accept"] == ["application/json"]
    assert given == {"content-type": "application/x", "ACCEPT": "text/html"}


def test_an_empty_answer_is_no_failure(user: Any, target: RecordingServer, session_bench: SessionBench) -> None:
    target.answers["/x"] = answer(204)
    with user.rest("DELETE", "/x") as response:
        assert response.js is None
    assert session_bench.counts == {("DELETE", "/x", "success"): 1}


def test_what_is_no_json_is_a_failure(user: Any, target: RecordingServer, session_bench: SessionBench) -> None:
    target.answers["/text"] = answer(203, b"<" + b"x" * 300)
    with user.rest("GET", "/text") as response:
        assert response.js is None
    message = "Could not parse response as JSON. <" + "x" * 249
    message += ", response code 203, error Expecting value: line 1 column 1 (char 0)"
    assert session_bench.failures == [("assertion", message)]


def test_a_status_is_judged_as_always(user: Any, target: RecordingServer, session_bench: SessionBench) -> None:
    target.answers["/x"] = json_answer({}, 500)
    with user.rest("GET", "/x") as response:
        assert response.js == {}
    assert session_bench.counts == {("GET", "/x", "http"): 1}


def test_without_a_response_there_is_nothing_to_parse(user: Any, session_bench: SessionBench) -> None:
    with user.rest("GET", "http://127.0.0.1:1/", name="gone") as response:
        assert response.js is None
    ((outcome, message),) = session_bench.failures
    assert outcome == "connect"
    assert message == str(response.error)
    assert "[Errno 111] Connection refused" in message


@pytest.mark.parametrize(
    ("message", "failure"),
    [
        (("too few",), "too few"),
        (("too few,",), 'too few, response was {"count": 1}'),
        ((), "Assertion failed"),
        ((7,), "7"),
    ],
)
def test_an_assertion_is_a_failure_with_its_message(
    user: Any, session_bench: SessionBench, message: tuple[Any, ...], failure: str
) -> None:
    with user.rest("GET", "/x"):
        raise AssertionError(*message)
    assert session_bench.failures == [("assertion", failure)]


def test_a_long_answer_is_quoted_in_part(user: Any, target: RecordingServer, session_bench: SessionBench) -> None:
    target.answers["/x"] = json_answer("y" * 300)
    with user.rest("GET", "/x"):
        raise AssertionError("wrong,")
    assert session_bench.failures == [("assertion", 'wrong, response was "' + "y" * 199)]


def test_any_other_exception_is_a_failure_with_its_place(user: Any, session_bench: SessionBench) -> None:
    with user.rest("GET", "/x") as response:
        response.js["missing"]
    ((outcome, message),) = session_bench.failures
    assert outcome == "assertion"
    place = r"KeyError: 'missing' at \S*/test_rest\.py:\d+ in test_any_other_exception_is_a_failure_with_its_place"
    assert re.fullmatch(place + r'\. Response was {"count": 1}', message)


def test_the_place_of_what_was_behind_it_comes_first(user: Any, session_bench: SessionBench) -> None:
    def inner() -> None:
        raise KeyError("a")

    def outer() -> None:
        try:
            inner()
        except KeyError as error:
            raise ValueError("b") from error

    with user.rest("GET", "/x"):
        outer()
    ((_, message),) = session_bench.failures
    assert message.startswith("ValueError: b at ")
    own = "test_the_place_of_what_was_behind_it_comes_first"
    assert re.findall(r":\d+ in (\w+)", message) == ["outer", "inner", own, "outer"]


def test_a_home_folder_is_not_told(user: Any, session_bench: SessionBench) -> None:
    code = compile("raise KeyError(1)", "/home/somebody/load/locustfile.py", "exec")
    with user.rest("GET", "/x"):
        exec(code)
    ((_, message),) = session_bench.failures
    assert "~/load/locustfile.py:1 in <module>" in message
    assert "somebody" not in message


def test_even_what_steers_a_user_stays_in_the_block(user: Any, session_bench: SessionBench) -> None:
    with user.rest("GET", "/x"):
        raise StopUser
    assert session_bench.counts == {("GET", "/x", "assertion"): 1}


def test_a_user_that_is_killed_leaves_the_block(user: Any, session_bench: SessionBench) -> None:
    with pytest.raises(gevent.GreenletExit), user.rest("GET", "/x"):
        raise gevent.GreenletExit
    assert session_bench.counts == {("GET", "/x", "unanswered"): 1}


def test_the_verdict_may_be_given_by_hand(user: Any, session_bench: SessionBench) -> None:
    with user.rest("GET", "/x") as response:
        response.failure("no")
    assert session_bench.failures == [("assertion", "no")]


@pytest.mark.parametrize(
    ("url", "arguments", "name", "sent"),
    [
        ("/x", {}, "/x?_=...", r"/x\?_=\d{13}"),
        ("/x?a=1", {}, "/x?a=1&_=...", r"/x\?a=1&_=\d{13}"),
        ("/x", {"name": "mine"}, "mine", r"/x\?_=\d{13}"),
    ],
)
def test_a_timestamp_against_caches(
    user: Any,
    session_bench: SessionBench,
    target: RecordingServer,
    url: str,
    arguments: dict[str, Any],
    name: str,
    sent: str,
) -> None:
    with user.rest_("GET", url, **arguments) as response:
        assert response.js == {"count": 1}
    assert session_bench.counts == {("GET", name, "success"): 1}
    assert re.fullmatch(sent, target.got[0].target)

"""The with-block in which the user's code has its say."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import gevent
import pytest
from tests.users.conftest import SessionBench
from tests.users.recording_server import RecordingServer, answer, json_answer

from plimsoll.users.exceptions import LocustError, RescheduleTask, ResponseError
from plimsoll.users.recording import RequestRecorder

if TYPE_CHECKING:
    from collections.abc import Iterator

GOOD, BAD, BROKEN = "/good", "/bad", "/broken"
LOST = {
    "http": "RemoteDisconnected('Remote end closed connection without response')",
    "fast": "HTTPConnectionClosed('connection closed.')",
}
"""Each in the words of the library that Locust has below."""
KINDS = pytest.mark.parametrize("kind", ["http", "fast"])


@pytest.fixture
def target() -> Iterator[RecordingServer]:
    with RecordingServer({GOOD: json_answer({"a": 1}), BAD: answer(500, b"no"), BROKEN: None}) as target:
        yield target


@pytest.fixture
def events(session_bench: SessionBench) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = []
    session_bench.event.add_listener(lambda **meta: seen.append(meta))
    return seen


@KINDS
@pytest.mark.parametrize(
    ("path", "verdict", "outcome", "message"),
    [
        (GOOD, None, "success", None),
        (GOOD, True, "success", None),
        (GOOD, "wrong", "assertion", "wrong"),
        (GOOD, ValueError("x"), "assertion", "ValueError('x')"),
        (BAD, True, "success", None),
        (BAD, "wrong", "http", "wrong"),
        (BROKEN, True, "success", None),
        (BROKEN, "wrong", "reset", "wrong"),
        (BROKEN, None, "reset", LOST),
    ],
)
def test_the_verdict_counts_and_without_one_the_status(
    kind: str, path: str, verdict: Any, outcome: str, message: Any, session_bench: SessionBench, target: RecordingServer
) -> None:
    with getattr(session_bench, kind)(target.url).get(path, catch_response=True) as response:
        if verdict is True:
            response.success()
        elif verdict is not None:
            response.failure(verdict)
    assert session_bench.counts == {("GET", path, outcome): 1}
    message = LOST[kind] if message is LOST else message
    assert session_bench.failures == ([(outcome, message)] if message else [])


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("http", "HTTPError('500 Server Error: Reason for url: n')"),
        ("fast", "LocustBadStatusCode(code=500)"),
    ],
)
def test_a_bad_status_is_told_in_the_words_of_locust(
    kind: str, message: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    session = getattr(session_bench, kind)(target.url)
    session.get(BAD, name="n")
    with session.get(BAD, name="n", catch_response=True):
        pass
    assert session_bench.counts == {("GET", "n", "http"): 2}
    assert session_bench.failures == [("http", message)]


@KINDS
def test_the_last_verdict_wins(kind: str, session_bench: SessionBench, target: RecordingServer) -> None:
    with getattr(session_bench, kind)(target.url).get(GOOD, catch_response=True) as response:
        response.failure("wrong")
        response.success()
    assert session_bench.counts == {("GET", GOOD, "success"): 1}


@KINDS
def test_an_exception_goes_on_and_nothing_is_reported(
    kind: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    session = getattr(session_bench, kind)(target.url)
    for error in (ZeroDivisionError, RescheduleTask):
        with pytest.raises(error), session.get(GOOD, catch_response=True):
            raise error
    assert session_bench.counts == {}


@KINDS
def test_an_exception_after_the_verdict_goes_on_and_the_verdict_is_reported(
    kind: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        getattr(session_bench, kind)(target.url).get(GOOD, catch_response=True) as response,
    ):
        response.failure("wrong")
        raise ZeroDivisionError
    assert session_bench.counts == {("GET", GOOD, "assertion"): 1}


@KINDS
def test_a_response_error_is_the_verdict(kind: str, session_bench: SessionBench, target: RecordingServer) -> None:
    with getattr(session_bench, kind)(target.url).get(GOOD, catch_response=True):
        raise ResponseError("odd")
    assert session_bench.failures == [("assertion", "ResponseError('odd')")]


@KINDS
def test_a_user_stopped_in_the_block_has_cancelled_the_exchange(
    kind: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    with pytest.raises(gevent.GreenletExit), getattr(session_bench, kind)(target.url).get(GOOD, catch_response=True):
        raise gevent.GreenletExit
    assert session_bench.counts == {("GET", GOOD, "unanswered"): 1}


@KINDS
def test_misuse_is_an_error_of_the_locustfile(kind: str, session_bench: SessionBench, target: RecordingServer) -> None:
    session = getattr(session_bench, kind)(target.url)
    for response in (session.get(GOOD), session.get(GOOD, catch_response=True)):
        with pytest.raises(LocustError):
            response.success()
        with pytest.raises(LocustError):
            response.failure("wrong")


def test_a_block_without_catch_response_is_an_error(session_bench: SessionBench, target: RecordingServer) -> None:
    with pytest.raises(LocustError, match="catch_response=True"), session_bench.http(target.url).get(GOOD):
        raise AssertionError("not reached")


def test_a_block_without_catch_response_has_no_effect_on_the_fast_one(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    with session_bench.fast(target.url).get(BAD) as response:
        assert response.text == "no"
        with pytest.raises(LocustError, match="catch_response=True"):
            response.success()
    with pytest.raises(KeyError), session_bench.fast(target.url).get(GOOD):
        raise KeyError
    assert session_bench.counts == {("GET", BAD, "http"): 1, ("GET", GOOD, "success"): 1}


@KINDS
def test_raise_for_status_follows_the_verdict(kind: str, session_bench: SessionBench, target: RecordingServer) -> None:
    session = getattr(session_bench, kind)(target.url)
    with session.get(BAD, catch_response=True) as response:
        response.success()
        response.raise_for_status()
    with session.get(GOOD, catch_response=True) as response:
        response.failure(KeyError("k"))
        with pytest.raises(KeyError):
            response.raise_for_status()
    with pytest.raises(Exception, match="500"):
        session.get(BAD).raise_for_status()


@KINDS
def test_listeners_are_told_in_the_words_of_locust(
    kind: str, session_bench: SessionBench, target: RecordingServer, events: list[dict[str, Any]]
) -> None:
    class User:
        environment = None

        def context(self) -> dict[str, Any]:
            return {"user": 1, "call": 0}

    before = time.time()
    response = getattr(session_bench, kind)(target.url, User()).get(GOOD, name="n", context={"call": 2})
    (event,) = events
    assert before - 0.1 <= event.pop("start_time") <= time.time()
    assert event == {
        "request_type": "GET",
        "name": "n",
        "response_time": response.reply.response / 1e6,
        "response_length": len(b'{"a": 1}'),
        "response": response,
        "context": {"user": 1, "call": 2},
        "exception": None,
        "url": f"{target.url}{GOOD}",
    }
    assert session_bench.counts == {("GET", "n", "success"): 1}


@KINDS
def test_the_url_of_an_event_is_the_one_that_was_asked_for(
    kind: str, session_bench: SessionBench, target: RecordingServer, events: list[dict[str, Any]]
) -> None:
    target.answers["/away"] = answer(302, b"", (("Location", GOOD),))
    session = getattr(session_bench, kind)(target.url)
    session.get("/away")
    session.get(BROKEN)
    assert [event["url"] for event in events] == [f"{target.url}/away", f"{target.url}{BROKEN}"]


def test_the_length_of_a_stream_is_what_its_head_says(
    session_bench: SessionBench, target: RecordingServer, events: list[dict[str, Any]]
) -> None:
    target.answers["/chunks"] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"
    session = session_bench.http(target.url)
    for path in (GOOD, "/chunks"):
        session.get(path, stream=True)
        session.get(path)
    assert [event["response_length"] for event in events] == [8, 8, 0, 2]


@KINDS
def test_what_is_changed_in_request_meta_is_what_is_reported(
    kind: str, session_bench: SessionBench, target: RecordingServer, events: list[dict[str, Any]]
) -> None:
    with getattr(session_bench, kind)(target.url).get(GOOD, catch_response=True) as response:
        response.request_meta["name"] = "other"
        response.request_meta["request_type"] = "POST"
        response.request_meta["response_time"] = 2000.0
    assert events[0]["name"] == "other"
    assert session_bench.counts == {("POST", "other", "success"): 1}
    assert [each.response_sum for each in session_bench.recorded] == [2_000_000_000]


@KINDS
def test_an_exception_put_into_request_meta_is_a_failure(
    kind: str, session_bench: SessionBench, target: RecordingServer, events: list[dict[str, Any]]
) -> None:
    session = getattr(session_bench, kind)(target.url)
    for path, verdict in ((GOOD, None), (GOOD, True), (BAD, None)):
        with session.get(path, name=f"{path} {verdict}", catch_response=True) as response:
            response.request_meta["exception"] = ValueError("mine")
            if verdict:
                response.success()
    assert [type(event["exception"]) for event in events[:2]] == [ValueError, type(None)]
    assert type(events[2]["exception"]) is not ValueError
    assert ("assertion", "ValueError('mine')") in session_bench.failures
    assert sorted(outcome for *_, outcome in session_bench.counts) == ["assertion", "http", "success"]


def test_a_bad_status_is_told_by_the_name_in_request_meta(session_bench: SessionBench, target: RecordingServer) -> None:
    with session_bench.http(target.url).get(BAD, catch_response=True) as response:
        response.request_meta["name"] = "other"
    ((_, message),) = session_bench.failures
    assert message.endswith("for url: other')")


def test_a_request_that_cannot_be_sent_still_tells_its_url(
    session_bench: SessionBench, target: RecordingServer, events: list[dict[str, Any]]
) -> None:
    session_bench.http(target.url).get(GOOD, headers={"X": 5})
    assert (events[0]["url"], events[0]["response_length"]) == (target.url + GOOD, 0)


def test_too_many_redirects_have_no_length(session_bench: SessionBench, events: list[dict[str, Any]]) -> None:
    with RecordingServer({"/loop": answer(302, b"to myself", (("Location", "/loop"),))}) as target:
        session_bench.http(target.url).get("/loop")
        session_bench.fast(target.url).get("/loop")
    assert [event["response_length"] for event in events] == [0, 0]


@KINDS
def test_a_name_given_in_request_meta_keeps_the_stamps(
    kind: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    with getattr(session_bench, kind)(target.url).get(GOOD, catch_response=True) as response:
        response.request_meta["name"] = "other"
    (interval,) = session_bench.recorded
    assert (interval.name, interval.response_sum) == ("other", response.reply.response)
    assert interval.bytes_out > 0


def test_request_meta_still_tells_after_the_block(
    session_bench: SessionBench, target: RecordingServer, events: list[dict[str, Any]]
) -> None:
    with session_bench.http(target.url).get(GOOD, catch_response=True) as response:
        response.failure("wrong")
    assert str(response.request_meta["exception"]) == "wrong"
    assert response.request_meta["response_time"] == events[0]["response_time"]


def test_a_listener_that_steers_the_user_keeps_the_request_from_being_counted(
    target: RecordingServer,
) -> None:
    def steer(**_: Any) -> None:
        raise RescheduleTask

    bench = SessionBench()
    bench.event.add_listener(steer)
    bench.event.add_listener(RequestRecorder(bench.recorder))
    with pytest.raises(RescheduleTask):
        bench.http(target.url).get(GOOD)
    assert bench.counts == {}

"""What reaches the recorder, and as what."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from tests.users.recording_server import RecordingServer

from plimsoll.users import log
from plimsoll.users.exceptions import CatchResponseError
from plimsoll.users.recording import RequestRecorder, sole_recorder

if TYPE_CHECKING:
    from tests.users.conftest import SessionBench


def test_a_client_of_ones_own_is_recorded_as_it_reports(session_bench: SessionBench) -> None:
    measured = {"request_type": "grpc", "name": "Add", "response_time": 12.5, "response_length": 7}
    session_bench.event.fire(**measured, response=object(), exception=None, context={}, start_time=0.0, url="grpc://x")
    (interval,) = session_bench.recorded
    assert interval.key[1:] == ("grpc", "Add", "success")
    assert (interval.count, interval.response_sum, interval.bytes_body) == (1, 12_500_000, 7)


@pytest.mark.parametrize("response_time", [None, -1.0, math.nan, math.inf])
def test_a_time_that_is_none_is_counted_and_not_timed(response_time: float | None, session_bench: SessionBench) -> None:
    session_bench.event.fire(request_type="X", name="n", response_time=response_time, response_length=None)
    (interval,) = session_bench.recorded
    assert (interval.count, interval.timed) == (1, 0)


@pytest.mark.parametrize(
    ("exception", "outcome", "message"),
    [
        (CatchResponseError("wrong"), "assertion", "wrong"),
        (ConnectionRefusedError(111, "refused"), "connect", "ConnectionRefusedError(111, 'refused')"),
        (TimeoutError("late"), "timeout", "TimeoutError('late')"),
        ("only a text", "assertion", "only a text"),
    ],
)
def test_an_exception_makes_it_a_failure(
    exception: Any, outcome: str, message: str, session_bench: SessionBench
) -> None:
    session_bench.event.fire(request_type="X", name="n", response_time=1, response_length=0, exception=exception)
    assert session_bench.failures == [(outcome, message)]


@pytest.mark.parametrize(
    ("measured", "message"),
    [
        ({"response_length": 2**63}, "response_length is over 1099511627776 bytes"),
        ({"response_length": 10**5000}, "response_length is over 1099511627776 bytes"),
        ({"response_length": math.inf}, "response_length is not a number of bytes"),
        ({"response_length": "many"}, "response_length is not a number of bytes"),
        ({"response_time": 1e300}, "response_time is over 86400000 ms"),
        ({"response_time": "5"}, "response_time is not a number of milliseconds"),
        ({"response_length": 2**63, "exception": "its own"}, "its own"),
    ],
)
def test_a_number_out_of_range_makes_it_a_failure(
    measured: dict[str, Any], message: str, session_bench: SessionBench
) -> None:
    session_bench.event.fire(**{"request_type": "X", "name": "n", "response_time": 1, "response_length": 0} | measured)
    (interval,) = session_bench.recorded
    assert (interval.count, interval.timed, interval.bytes_body) == (1, 0, 0)
    assert session_bench.failures == [("assertion", message)]


@pytest.mark.parametrize("length", [None, -1, "5", 7.9, 1 << 40])
def test_lengths_in_range_are_counted(length: Any, session_bench: SessionBench) -> None:
    session_bench.event.fire(request_type="X", name="n", response_time=1, response_length=length)
    (interval,) = session_bench.recorded
    assert (interval.outcome, interval.bytes_body) == ("success", max(0, int(length or 0)))


@pytest.mark.parametrize("missing", ["response_time", "response_length"])
def test_an_event_without_time_or_length_is_a_fault_and_not_counted(
    missing: str, session_bench: SessionBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "unhandled_greenlet_exception", False)
    arguments = {"request_type": "T", "name": "n", "response_time": 1, "response_length": 2}
    del arguments[missing]
    session_bench.event.fire(**arguments)
    assert session_bench.counts == {}
    assert log.unhandled_greenlet_exception


def test_names_of_any_kind_are_recorded_as_text(session_bench: SessionBench) -> None:
    session_bench.event.fire(request_type=None, name=7, response_time=1, response_length=0)
    assert session_bench.counts == {("None", "7", "success"): 1}


def test_a_response_of_ours_is_recorded_by_its_stamps_once_only(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    session_bench.event.add_listener(lambda **_: None)
    response = session_bench.http(target.url).get("/x")
    assert [each.response_sum for each in session_bench.recorded] == [response.reply.response]
    # Somebody wraps our response into a measurement of their own.
    session_bench.event.fire(request_type="FLOW", name="login", response_time=5.0, response_length=0, response=response)
    assert {each.method: each.response_sum for each in session_bench.recorded} == {
        "GET": response.reply.response,
        "FLOW": 5_000_000,
    }


def test_both_ways_of_recording_come_to_the_same(session_bench: SessionBench, target: RecordingServer) -> None:
    session = session_bench.http(target.url)
    alone = session.get("/x", name="alone")
    session_bench.event.add_listener(lambda **_: None)
    watched = session.get("/x", name="watched")
    recorded = {each.name: each for each in session_bench.recorded}
    for name, response in (("alone", alone), ("watched", watched)):
        each = recorded[name]
        assert (each.count, each.response_sum, each.service_sum) == (1, response.reply.response, response.reply.service)
        assert (each.bytes_out, each.bytes_in) == (response.reply.bytes_out, response.reply.bytes_in)


def test_the_sole_recorder_is_the_one_nobody_listens_besides(session_bench: SessionBench) -> None:
    recorder = sole_recorder(session_bench.event)
    assert type(recorder) is RequestRecorder
    listener = session_bench.event.add_listener(lambda **_: None)
    assert sole_recorder(session_bench.event) is None
    session_bench.event.remove_listener(listener)
    session_bench.event.remove_listener(recorder)
    assert sole_recorder(session_bench.event) is None


def test_names_beyond_the_limit_take_no_memory_here(session_bench: SessionBench) -> None:
    (recorder,) = (each for each in session_bench.event._handlers if isinstance(each, RequestRecorder))
    recorder.recorder.limit_names(2)
    for number in range(10):
        session_bench.event.fire(request_type="X", name=f"n{number}", response_time=1, response_length=0)
    assert sorted((each.name, each.count) for each in session_bench.recorded) == [("(others)", 8), ("n0", 1), ("n1", 1)]
    assert recorder.endpoints.keys() == {("X", "n0"), ("X", "n1")}

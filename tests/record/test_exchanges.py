from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from plimsoll._engine import Histogram, Recorder
from plimsoll.record import COUNTERS, GENERATOR_COUNTERS, WORKER_STATE, Failure, Health, Interval, Snapshot, added_up
from plimsoll.store import schema

if TYPE_CHECKING:
    from collections.abc import Callable


def test_the_engine_hands_over_the_fields_of_an_interval() -> None:
    recorder = Recorder(0)
    recorder.custom(recorder.endpoint("GET", "/"), 12.5, 100)
    (cell,), ((*health,),), _ = recorder.take()
    assert len(cell) == len(fields(Interval))
    interval = Interval.from_tuple(cell)
    assert (interval.count, interval.bytes_body, interval.response_sum) == (1, 100, 12_500_000)
    assert (interval.response.count, interval.service.count) == (1, 1)
    assert len(health) == len(("second", *GENERATOR_COUNTERS, "lag", "delay"))


def _interval(service: int, on_time: int | None = None) -> Interval:
    """One exchange; times in ms."""
    found = Interval(0, "GET", "/", "success", count=1, service_sum=service * 1_000_000)
    found.service.record(service * 1000)
    if on_time is not None:
        found.on_time = Histogram()
        found.on_time.record(on_time * 1000)
    return found


def test_times_on_time_are_the_service_times_of_those_that_have_none_of_their_own() -> None:
    for left, right in ((_interval(10), _interval(20, 90)), (_interval(20, 90), _interval(10))):
        left.add(right)
        assert left.on_time is not None
        assert [count for _, count in left.on_time.buckets()] == [1, 1]
        assert (left.on_time.min, round(left.on_time_sum / 1e6)) == (10_000, 100)
    left, right = _interval(10), _interval(20)
    left.add(right)
    assert (left.on_time, left.response_on_time.count, left.on_time_sum) == (None, 2, 30_000_000)


def test_a_sum_is_the_same_at_once_and_one_after_the_other(make_interval: Callable[..., Interval]) -> None:
    waited = _interval(20, 90)
    waited.response_min = waited.response_max = waited.response_sum = 110_000_000
    waited.response.record(110_000)
    parts = [make_interval([30.0, 5.0]), make_interval(untimed=2), waited, make_interval([1.0] * 40, body=7)]
    for number in range(1, len(parts) + 1):
        one_by_one = Interval(3, "", "all", "success")
        for each in parts[:number]:
            one_by_one.add(each)
        at_once = added_up(3, "", "all", "success", parts[:number])
        assert _fields(at_once) == _fields(one_by_one)


def _fields(interval: Interval) -> list[Any]:
    values = [getattr(interval, each.name) for each in fields(Interval)]
    return [each.buckets() if isinstance(each, Histogram) else each for each in values]


def test_every_counter_is_summed_and_stored() -> None:
    counts: list[dict[str, Any]] = [dict.fromkeys(COUNTERS, n) for n in (1, 2)]
    one, two = (Interval(0, "GET", "/", "success", **each) for each in counts)
    one.add(two)
    assert [getattr(one, name) for name in COUNTERS] == [3] * len(COUNTERS)
    assert set(COUNTERS) <= set(schema.interval.columns.keys())
    assert {*GENERATOR_COUNTERS, *WORKER_STATE} <= set(schema.health.columns.keys())


def test_rows_of_one_second_add_their_counters_and_keep_the_state_of_the_row_that_carries_it() -> None:
    state: dict[str, Any] = dict.fromkeys(WORKER_STATE, 5)
    one: dict[str, Any] = dict.fromkeys(GENERATOR_COUNTERS, 1)
    two: dict[str, Any] = dict.fromkeys(GENERATOR_COUNTERS, 2)
    health = Health(0, 0, **one)
    health.add(Health(0, 0, **two, **state))
    assert {name: getattr(health, name) for name in GENERATOR_COUNTERS} == dict.fromkeys(GENERATOR_COUNTERS, 3)
    assert {name: getattr(health, name) for name in WORKER_STATE} == state


def _failure(message: str, example: str = "", *, is_varied: bool = False) -> Failure:
    return Failure("GET", "/", "reset", message, 1, 1.0, 1.0, example, is_varied)


def test_a_message_is_shown_as_it_was_until_there_is_another_one() -> None:
    failure = _failure("lost [address]", "lost 10.0.0.1:50001")
    failure.add(_failure("lost [address]", "lost 10.0.0.1:50001"))
    assert (failure.text, failure.count) == ("lost 10.0.0.1:50001", 2)
    failure.add(_failure("lost [address]", "lost 10.0.0.1:50002"))
    assert (failure.text, failure.example, failure.count) == ("lost [address]", "lost 10.0.0.1:50001", 3)
    assert _failure("no").text == "no"


def test_what_a_worker_saw_several_of_is_several() -> None:
    failure = _failure("lost [address]", "lost 10.0.0.1:50001")
    failure.add(_failure("lost [address]", "lost 10.0.0.1:50001", is_varied=True))
    assert failure.text == "lost [address]"


def test_the_engine_hands_over_the_fields_of_a_failure() -> None:
    recorder = Recorder(0)
    for port in (50001, 50002):
        recorder.custom(recorder.endpoint("GET", "/"), 1.0, 0, "reset", f"lost 10.0.0.1:{port}")
    ((*row,),) = recorder.take()[2]
    failure = Failure.from_tuple(tuple(row), 0.0)  # type: ignore[arg-type]
    assert (failure.message, failure.example, failure.is_varied, failure.count) == (
        "lost [address]", "lost 10.0.0.1:50001", True, 2
    )  # fmt: skip


def test_a_snapshot_counts_requests_of_its_worker_by_second(make_interval: Callable[..., Interval]) -> None:
    intervals = [
        make_interval([2.0] * 3, second=4),
        make_interval([9.0], second=4, outcome="http"),
        make_interval([50.0], second=4, outcome="unanswered"),
        make_interval([1.0], second=5),
    ]
    snapshot = Snapshot(2, 0, intervals, [Health(4, 2, cpu=0.5)], [], [], {})
    snapshot.count_requests()
    first, second = snapshot.health
    assert (first.second, first.worker, first.cpu, first.requests, first.failures) == (4, 2, 0.5, 4, 1)
    assert first.response is not None
    assert (first.response.count, round(first.response.max, -2)) == (4, 9000)
    assert (second.second, second.worker, second.requests, second.failures) == (5, 2, 1, 0)
    first.add(second)
    assert (first.requests, first.response.count) == (5, 5)

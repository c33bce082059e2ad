from __future__ import annotations

from dataclasses import fields
from typing import Any

from plimsoll._engine import Recorder
from plimsoll.record import COUNTERS, GENERATOR_COUNTERS, WORKER_STATE, Health, Interval
from plimsoll.store import schema


def test_the_engine_hands_over_the_fields_of_an_interval() -> None:
    recorder = Recorder(0)
    recorder.custom(recorder.endpoint("GET", "/"), 12.5, 100)
    (cell,), ((*health,),), _ = recorder.take()
    assert len(cell) == len(fields(Interval))
    interval = Interval.from_tuple(cell)
    assert (interval.count, interval.bytes_body, interval.response_sum) == (1, 100, 12_500_000)
    assert (interval.response.count, interval.service.count) == (1, 1)
    assert len(health) == len(("second", *GENERATOR_COUNTERS, "lag", "delay"))


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

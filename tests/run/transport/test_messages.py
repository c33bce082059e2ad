from __future__ import annotations

import msgpack

from plimsoll._engine import Histogram, Recorder
from plimsoll.record import (
    GENERATOR_COUNTERS,
    CaughtException,
    Failure,
    Health,
    HealthTuple,
    Interval,
    WorkerState,
)
from plimsoll.run.dispatch import UserClass
from plimsoll.run.transport.messages import Complete, EncodedSnapshot, Ending, Exchanges, Ready, health_rows

SECOND = 1_000_000_000


def _encoded(*micros: int) -> bytes:
    histogram = Histogram()
    for each in micros:
        histogram.record(each)
    return histogram.encode()


def _recorded(second: int, lag: int, delay: int, **counts: int) -> HealthTuple:
    """What the engine hands over of a second."""
    return second, *(counts.get(name, 0) for name in GENERATOR_COUNTERS), _encoded(lag), _encoded(delay)


def test_a_snapshot_survives_its_message() -> None:
    recorder = Recorder(0)
    recorder.custom(recorder.endpoint("GET", "/"), 12.5, 100)
    recorder.custom(recorder.endpoint("GET", "/"), None, 0, "assertion", "wrong")
    intervals, _, failures = recorder.take()
    state = WorkerState(cpu=0.5, users=10, in_flight=4, waiting=9)
    rows = health_rows(
        [_recorded(3, 5, 7, user_stamps=1, rejected_stamps=2, offered=30, dropped=6, exhausted=8)], range(3, 4), state
    )
    sent = EncodedSnapshot(1, 4, 99, intervals, rows, failures, [("boom", "trace", 2)], {"A": 10})
    received = EncodedSnapshot.from_list(msgpack.unpackb(msgpack.packb(sent.to_list())))
    snapshot = received.decode(clock_offset=1000.0)
    assert (received.epoch, snapshot.worker, snapshot.sequence, snapshot.users) == (99, 1, 4, {"A": 10})
    decoded = [Interval.from_tuple(cell) for cell in intervals]
    assert [each.key for each in snapshot.intervals] == [each.key for each in decoded]
    assert sum(each.count for each in snapshot.intervals) == 2
    assert snapshot.failures == [Failure.from_tuple(row, 1000.0) for row in failures]
    assert snapshot.exceptions == [CaughtException("boom", "trace", 2, {1})]
    (health,) = snapshot.health
    assert (health.second, health.worker, health.cpu, health.users, health.in_flight) == (3, 1, 0.5, 10, 4)
    assert (health.lag.max, health.delay.max, health.user_stamps, health.rejected_stamps) == (5, 7, 1, 2)
    assert (health.offered, health.dropped, health.exhausted, health.waiting) == (30, 6, 8, 9)


def test_the_first_and_the_last_word_survive_their_messages() -> None:
    ready = Ready([UserClass("A", 2.0, 1)], kernel_stamps=True, shaped=True, reporting={"percentiles": [0.5]})
    assert Ready.from_list(msgpack.unpackb(msgpack.packb(ready.to_list()))) == ready
    ending = Ending(5, None, True, 9)
    assert Ending.from_list(msgpack.unpackb(msgpack.packb(ending.to_list()))) == ending


def test_what_else_a_worker_may_say_survives_its_message() -> None:
    assert Complete.from_list(msgpack.unpackb(msgpack.packb([]))) == Complete()
    assert Complete.from_list(msgpack.unpackb(msgpack.packb(["a"]))) == Complete("a")
    sent = [1 << 60, [("GET", "/"), ("POST", "/a")], b"\x00\xff" * 8]
    assert Exchanges.from_list(msgpack.unpackb(msgpack.packb(sent))) == Exchanges(
        1 << 60, [["GET", "/"], ["POST", "/a"]], sent[2]
    )


def test_each_closed_second_has_a_row_with_the_workers_state() -> None:
    state = WorkerState(cpu=0.5, users=7, in_flight=2, waiting=3)
    encoded = health_rows([_recorded(4, 1, 2, offered=30, dropped=20, exhausted=10)], range(3, 6), state)
    rows = [Health.from_tuple(0, row, **state) for row, state in encoded]
    assert [(row.second, row.cpu, row.users, row.in_flight, row.waiting) for row in rows] == [
        (3, 0.5, 7, 2, 3), (4, 0.5, 7, 2, 3), (5, 0.5, 7, 2, 3),
    ]  # fmt: skip
    assert [row.lag.count for row in rows] == [0, 1, 0]
    assert [(row.offered, row.dropped, row.exhausted) for row in rows] == [(0, 0, 0), (30, 20, 10), (0, 0, 0)]


def test_the_last_of_several_seconds_has_the_retransmissions_of_all_of_them() -> None:
    state = WorkerState(cpu=0.5)
    for recorded in ([], [_recorded(2, 1, 2), _recorded(4, 1, 2), _recorded(5, 1, 2)]):
        encoded = health_rows(recorded, range(3, 5), state, 7)
        rows = [Health.from_tuple(0, row, **of_state) for row, of_state in encoded]
        found = {row.second: row.retransmissions for row in rows}
        assert (found[3], found[4]) == (None, 7)
        assert found.get(2) is found.get(5) is None
    assert "retransmissions" not in vars(state)
    unknown = [Health.from_tuple(0, row, **of_state) for row, of_state in health_rows([], range(3, 5), state)]
    assert [row.retransmissions for row in unknown] == [None, None]


def test_rows_of_one_second_add_the_retransmissions_that_are_known() -> None:
    first, second, unknown = (Health(3, 0, retransmissions=count) for count in (2, 5, None))
    unknown.add(Health(3, 0))
    assert unknown.retransmissions is None
    unknown.add(first)
    unknown.add(second)
    unknown.add(Health(3, 0))
    assert unknown.retransmissions == 7


def test_a_second_that_was_handed_over_before_adds_what_was_recorded_but_no_state() -> None:
    late = _recorded(2, 1, 2, offered=4)
    encoded = health_rows([late], range(3, 4), WorkerState(cpu=0.5, users=7, waiting=3))
    rows = [Health.from_tuple(0, row, **state) for row, state in encoded]
    assert [(row.second, row.cpu, row.users, row.waiting, row.offered, row.lag.count) for row in rows] == [
        (2, 0.0, 0, 0, 4, 1),
        (3, 0.5, 7, 3, 0, 0),
    ]

from __future__ import annotations

from plimsoll.run.transport.clock import ClockEstimate, WorkerClock
from plimsoll.run.transport.messages import EncodedSnapshot, Ending, Exchanges, Expired, Quit, Started
from plimsoll.run.transport.orders import Assign, Offer, Reset, Start, Stop

AHEAD = 5_000_000_000


def _snapshot() -> EncodedSnapshot:
    failure = ("GET", "/", "http", "HTTP 500", "", False, 2, AHEAD + 10, AHEAD + 20)
    return EncodedSnapshot(0, 1, AHEAD + 7, [], [], [failure], [], {"A": 1})


def test_orders_carry_stamps_of_the_workers_clock() -> None:
    clock = WorkerClock(AHEAD)
    assert clock.on_worker(Start(100)) == Start(AHEAD + 100)
    assert clock.on_worker(Start(100, 7, 900)) == Start(AHEAD + 100, 7, AHEAD + 900)
    assert clock.on_worker(Offer(50.0, 200, 3.0)) == Offer(50.0, AHEAD + 200, 3.0)
    assert clock.on_worker(Assign([(0, 2)], 200)) == Assign([(0, 2)], AHEAD + 200)
    assert clock.on_worker(Reset(300)) == Reset(AHEAD + 300)
    assert clock.on_worker(Stop()) == Stop()


def test_reports_come_with_stamps_of_the_coordinators_clock() -> None:
    clock = WorkerClock(AHEAD)
    snapshot = clock.on_coordinator(_snapshot())
    assert (snapshot.epoch, snapshot.failures[0][-2:], snapshot.users) == (7, (10, 20), {"A": 1})
    assert clock.on_coordinator(Ending(AHEAD + 9, None, False)).ended == 9
    exchanges = clock.on_coordinator(Exchanges(AHEAD + 7, [("GET", "/")], b"rows"))
    assert (exchanges.epoch, exchanges.epoch + exchanges.rows_ahead) == (7, AHEAD + 7)
    assert clock.on_coordinator(Started(AHEAD + 5)) == Started(5)
    assert clock.on_coordinator(Expired(AHEAD + 6)) == Expired(6)
    assert clock.on_coordinator(Quit("finished")) == Quit("finished")


def test_a_worker_with_a_clock_that_is_behind_is_mapped_as_well() -> None:
    clock = WorkerClock(-3)
    assert clock.stamp(10) == 7
    assert clock.on_coordinator(Ending(7, None, False)).ended == 10


def test_processes_of_one_machine_need_no_mapping() -> None:
    snapshot = _snapshot()
    assert WorkerClock().on_coordinator(snapshot) is snapshot
    assert WorkerClock().stamp(10) == 10


def test_a_clock_is_estimated_by_the_shortest_round_trip() -> None:
    trips = [(0, AHEAD + 900, 1_000), (2_000, AHEAD + 2_110, 2_200), (5_000, AHEAD + 5_400, 5_500)]
    assert ClockEstimate.of(trips) == ClockEstimate(AHEAD + 10, 100)
    assert ClockEstimate.of([(10, 5, 13)]) == ClockEstimate(-6, 2), "the error is rounded up"

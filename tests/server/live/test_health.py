from __future__ import annotations

from tests.server.page_server import interval, micros

from plimsoll.record import TIMED, Health
from plimsoll.server.live.health import Workers
from plimsoll.stats.view import Totals


def row(second, worker=0, **more):
    return Health(second, worker, micros(*more.pop("lag", ())), micros(*more.pop("delay", ())), **more)


def test_a_second_is_the_sum_of_all_workers():
    workers, totals = Workers(), Totals("", "")
    workers.take([row(3, 0, users=5, in_flight=2, offered=10, dropped=1, cpu=0.5, lag=(10, 20), delay=(5,))])
    workers.take([row(3, 1, users=7, in_flight=1, waiting=4, offered=5, cpu=0.9, lag=(30,))])
    totals.add(interval(3, "/", [1.0, 1.5]))
    totals.add(interval(3, "/", [1.0], "http"))
    totals.add(interval(3, "/", [1.9], "connect"))
    second = workers.second(3, totals, TIMED)
    assert (second.second, second.requests, second.failures, second.response.count) == (3, 4, 2, 3)
    assert (second.users, second.in_flight, second.waiting, second.offered, second.dropped) == (12, 3, 4, 15, 1)
    assert second.lag is not None and second.delay is not None
    assert (second.cpu, second.lag.count, second.delay.max) == (0.9, 3, 5)


def test_only_one_of_several_rows_has_the_state_of_a_worker():
    workers = Workers()
    workers.take([row(1, users=5, cpu=0.5, lag=(10,), offered=3), row(1, lag=(20,), offered=2)])
    second = workers.second(1, None, TIMED)
    assert (second.users, second.cpu, second.offered, second.lag and second.lag.count) == (5, 0.5, 5, 2)
    (item,) = workers.items(1)
    assert (item.users, item.cpu, item.lag_p99, item.delay_p99, item.is_lost) == (5, 0.5, 0.02, None, False)


def test_a_second_that_no_worker_has_told_of_is_not_known():
    second = Workers().second(0, None, TIMED)
    assert (second.users, second.lag, second.cpu, second.requests) == (None, None, None, 0)


def test_a_second_is_told_once_all_workers_have_told_of_it():
    workers = Workers()
    workers.take([row(0, 0), row(0, 0)])
    assert not workers.have_told(0, 2)
    workers.take([row(0, 1)])
    assert workers.have_told(0, 2)
    assert not workers.have_told(1, 2)


def test_who_has_not_been_heard_of_for_longest_is_lost():
    workers = Workers()
    workers.take(
        [row(second, worker, users=3) for second in range(5) for worker in range(3) if worker != 1 or second < 2]
    )
    assert [(each.index, each.is_lost, each.users) for each in workers.items(2)] == [
        (0, False, 3),
        (1, True, 0),
        (2, False, 3),
    ]


def test_only_the_last_seconds_are_kept():
    workers = Workers()
    for second in range(100):
        workers.take([row(second, users=1)])
    assert [workers.second(each, None, TIMED).users for each in (89, 90)] == [None, 1]
    assert (workers.last, workers.second(99, None, TIMED).users, workers.second(5, None, TIMED).users) == (99, 1, None)

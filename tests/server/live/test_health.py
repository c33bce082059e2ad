from __future__ import annotations

import pytest
from tests.server.page_server import interval, micros

from plimsoll.record import TIMED, Health
from plimsoll.server.live.health import chart_second, worker_items
from plimsoll.stats.seconds import RecentSeconds, by_second


@pytest.fixture
def recent():
    return RecentSeconds()


def add(recent, second, worker=0, **more):
    times = micros(*more.pop("lag", ())), micros(*more.pop("delay", ()))
    recent.add_health(Health(second, worker, *times, **more))


def test_a_second_is_the_sum_of_all_workers(recent):
    add(recent, 3, 0, users=5, in_flight=2, offered=10, dropped=1, cpu=0.5, lag=(10, 20), delay=(5,))
    add(recent, 3, 1, users=7, in_flight=1, waiting=4, offered=5, cpu=0.9, lag=(30,))
    outcomes = {"success": [1.0, 1.5], "http": [1.0], "connect": [1.9]}
    for sums in by_second(interval(3, "/", ms, outcome) for outcome, ms in outcomes.items()):
        recent.add(sums)
    second = chart_second(recent, 3, TIMED)
    assert (second.second, second.requests, second.failures, second.response.count) == (3, 4, 2, 3)
    assert (second.users, second.in_flight, second.waiting, second.offered, second.dropped) == (12, 3, 4, 15, 1)
    assert second.lag is not None and second.delay is not None
    assert (second.cpu, second.lag.count, second.delay.max) == (0.9, 3, 5)


def test_only_one_of_several_rows_has_the_state_of_a_worker(recent):
    add(recent, 1, users=5, cpu=0.5, lag=(10,), offered=3)
    add(recent, 1, lag=(20,), offered=2)
    second = chart_second(recent, 1, TIMED)
    assert (second.users, second.cpu, second.offered, second.lag and second.lag.count) == (5, 0.5, 5, 2)
    (item,) = worker_items(recent, frozenset())
    assert (item.users, item.cpu, item.lag_p99, item.delay_p99, item.is_lost) == (5, 0.5, 0.02, None, False)


def test_a_second_that_no_worker_has_reported_is_not_known(recent):
    second = chart_second(recent, 0, TIMED)
    assert (second.users, second.lag, second.cpu, second.requests) == (None, None, None, 0)


def test_the_lost_workers_are_those_that_the_coordinator_names(recent):
    for worker in range(3):
        add(recent, 0, worker, users=3)
    assert [(each.index, each.is_lost, each.users) for each in worker_items(recent, frozenset({1, 3}))] == [
        (0, False, 3),
        (1, True, 0),
        (2, False, 3),
        (3, True, 0),
    ]

from __future__ import annotations

import pytest
from tests.server.page_server import interval, micros

from plimsoll.record import Health
from plimsoll.stats.seconds import WINDOW, RecentSeconds, by_second


@pytest.fixture
def recent():
    return RecentSeconds()


def add(recent, *intervals):
    for sums in by_second(intervals):
        recent.add(sums)


def test_intervals_are_put_together_by_second_and_endpoint():
    intervals = [interval(0, "/a", [1.0]), interval(0, "/b", [2.0]), interval(0, "/a", [3.0], "http"),
                 interval(1, "/a", [4.0]), interval(0, "/a", [5.0])]  # fmt: skip
    first, second, again = by_second(intervals)
    assert [each.second for each in (first, second, again)] == [0, 1, 0]
    assert first.endpoints == {("GET", "/a"): [intervals[0], intervals[2]], ("GET", "/b"): [intervals[1]]}
    assert (first.total.requests, first.total.failures, first.total.outcomes["success"].second) == (3, 1, 0)
    assert second.total.outcomes["success"].second == 1


def test_what_comes_later_for_a_recent_second_is_added(recent):
    add(recent, interval(3, "/a", [1.0]), interval(4, "/a", [1.0]))
    sums = recent.second(3)
    add(recent, interval(3, "/a", [2.0], "http"), interval(3, "/b", [2.0]))
    assert (recent.second(3).requests, recent.second(3).failures, sums.requests) == (3, 1, 1)
    assert (recent.total.requests, sum(each.count for each in recent.endpoint(("GET", "/a"))), recent.seconds) == (
        4,
        3,
        5,
    )


def test_only_the_last_seconds_are_kept(recent):
    for second in range(50):
        add(recent, interval(second, "/a", [1.0]))
        recent.add_health(Health(second, 0, users=1))
    assert (recent.last, recent.seconds, recent.total.requests) == (49, WINDOW, WINDOW)
    assert [len(recent.workers(second)) for second in (39, 40, 49)] == [0, 1, 1]
    add(recent, interval(5, "/a", [1.0]))
    recent.add_health(Health(5, 0, users=1))
    assert (recent.second(5).requests, len(recent.workers(5))) == (0, 0)


def test_rows_of_one_worker_and_second_are_one_and_stay_as_they_were(recent):
    rows = [Health(0, 0, micros(10), users=3, offered=1), Health(0, 0, micros(20, 30), offered=2)]
    for row in rows:
        recent.add_health(row)
    (health,) = recent.workers(0).values()
    assert (health.users, health.offered, health.lag.count) == (3, 3, 3)
    assert [(each.offered, each.lag.count) for each in rows] == [(1, 1), (2, 2)]
    assert recent.reported == {0: 0}

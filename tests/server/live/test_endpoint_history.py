from __future__ import annotations

import pytest
from tests.server.page_server import interval

from plimsoll.record import TIMED
from plimsoll.server.live.endpoint_history import EndpointHistory, unpack
from plimsoll.stats.seconds import by_second

A, B = ("GET", "/a"), ("GET", "/b")


@pytest.fixture
def history():
    return EndpointHistory(TIMED)


def test_a_second_is_kept_as_it_was(history):
    history.add(by_second([interval(3, "/a", [1.0, 1.5]), interval(3, "/a", [1.9], "http"), interval(3, "/b", [9.0])]))
    found = history.second(3, A)
    assert (found.second, found.requests, found.failures) == (3, 3, 1)
    assert (found.response.count, found.response.max, found.service.min) == (3, 1900, 1000)
    assert history.second(3, B).requests == 1


def test_what_comes_in_parts_adds_up_whenever_it_comes(history):
    history.add(by_second([interval(0, "/a", [1.0])]))
    history.add(by_second([interval(n, "/a", [1.0]) for n in range(1, 100)]))
    before = history.packed(A)[0]
    history.add(by_second([interval(0, "/a", [1.5, 1.7], "timeout")]))
    found = history.second(0, A)
    assert (found.requests, found.failures, found.response.count, found.response.max) == (3, 2, 3, 1700)
    assert unpack(0, before).requests == 1, "what was given away does not change"


def test_what_was_never_a_request_is_none(history):
    history.add(by_second([interval(0, "/a", [1.0], "cancelled"), interval(0, "/a", [1.0], "dropped")]))
    assert history.packed(A) == {}
    assert history.second(0, A).requests == 0


def test_times_of_refusals_are_not_among_the_times(history):
    history.add(by_second([interval(0, "/a", [1.0], "connect")]))
    found = history.second(0, A)
    assert (found.requests, found.failures, found.response.count) == (1, 1, 0)


def test_the_oldest_seconds_give_way_when_the_budget_is_spent():
    history = EndpointHistory(TIMED, budget=20_000)
    for number in range(200):
        history.add(by_second([interval(number, f"/{n}", [1.0 + n]) for n in range(10)]))
        assert sum(len(each) for n in range(10) for each in history.packed(("GET", f"/{n}")).values()) <= 20_000
    kept = [*history.packed(("GET", "/3"))]
    assert kept == [*range(history.first, 200)]
    assert 5 < len(kept) < 50
    history.add(by_second([interval(0, "/3", [1.0])]))
    assert 0 not in history.packed(("GET", "/3")), "too late"


def test_one_second_is_always_kept():
    history = EndpointHistory(TIMED, budget=1)
    history.add(by_second([interval(7, f"/{n}", [1.0]) for n in range(50)]))
    assert history.second(7, ("GET", "/49")).requests == 1

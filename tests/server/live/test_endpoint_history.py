from __future__ import annotations

import random

import pytest
from tests.server.page_server import interval

from plimsoll.record import TIMED
from plimsoll.report.charts.columns import LATE, merged, part_of
from plimsoll.report.charts.thin import MOST_POINTS
from plimsoll.server.live.endpoint_history import EndpointHistory, column_of
from plimsoll.stats.seconds import by_second

A, B = ("GET", "/a"), ("GET", "/b")


@pytest.fixture
def history():
    return EndpointHistory(TIMED)


def columns(history, key=A):
    return {start: column_of(packed) for start, packed in history.past(key).columns.items()}


def feed(history, seconds, names=("/a",)):
    """As `Charts` does: the last seconds may still change."""
    for number in seconds:
        history.add(by_second([interval(number, name, [1.0 + number % 3, 2.0]) for name in names]))
        history.settle(number - LATE)


def test_a_second_is_kept_as_it_was(history):
    history.add(by_second([interval(3, "/a", [1.0, 1.5]), interval(3, "/a", [1.9], "http"), interval(3, "/b", [9.0])]))
    found = history.second(3, A)
    assert (found.second, found.requests, found.failures) == (3, 3, 1)
    assert (found.response.count, found.response.max, found.service.min) == (3, 1900, 1000)
    assert history.second(3, B).requests == 1


def test_what_comes_in_parts_adds_up_whenever_it_comes(history):
    history.add(by_second([interval(0, "/a", [1.0])]))
    before = history.past(A)
    history.add(by_second([interval(0, "/a", [1.5, 1.7], "timeout")]))
    found = history.second(0, A)
    assert (found.requests, found.failures, found.response.count, found.response.max) == (3, 2, 3, 1700)
    assert before.second(0).requests == 1, "what was given away does not change"
    history.settle(50)
    history.add(by_second([interval(0, "/a", [1.8])]))
    column = columns(history)[0]
    assert (column.seconds, column.values["requests"].value, column.values["failures"].high) == (1, 4, 2)


def test_what_comes_late_for_a_wide_column_is_added_to_its_seconds():
    history = EndpointHistory(TIMED, budget=1)
    feed(history, range(64))
    width, before = history.past(A).width, columns(history)[0]
    history.add(by_second([interval(5, "/a", [9.0] * 10)]))
    after = columns(history)[0]
    assert after.seconds == before.seconds
    requests = [round(each.values["requests"].value * each.seconds) for each in (before, after)]
    assert (width > 1, requests[1] - requests[0]) == (True, 10)
    assert after.values["p99"].value >= 9.0


def test_what_was_never_a_request_is_none(history):
    history.add(by_second([interval(0, "/a", [1.0], "unanswered"), interval(0, "/a", [1.0], "dropped")]))
    assert history.past(A).seconds == {}
    assert history.second(0, A).requests == 0


def test_times_of_refusals_are_not_among_the_times(history):
    history.add(by_second([interval(0, "/a", [1.0], "connect")]))
    found = history.second(0, A)
    assert (found.requests, found.failures, found.response.count) == (1, 1, 0)
    history.settle(1)
    assert set(columns(history)[0].values) == {"requests", "failures"}


def test_a_thinned_column_is_its_seconds_merged():
    history, chance = EndpointHistory(TIMED, budget=20_000), random.Random(5)
    seconds = {n: [chance.lognormvariate(0, 1) for _ in range(chance.randrange(1, 30))] for n in range(200) if n % 7}
    for number in range(200):
        outcome = "http" if number % 11 == 0 else "success"
        history.add(by_second([interval(number, "/a", seconds[number], outcome)] if number in seconds else []))
        history.settle(number + 1 - LATE)
    alone = EndpointHistory(TIMED)
    for number, times in seconds.items():
        alone.add(by_second([interval(number, "/a", times, "http" if number % 11 == 0 else "success")]))
    past, found = history.past(A), columns(history)
    assert past.width > 1
    assert [*found] == [*range(0, past.until, past.width)]
    for start, column in found.items():
        covered = range(start, min(start + past.width, past.until))
        expected = merged([part_of(alone.second(each, A)) for each in covered if each in seconds])
        assert (column.seconds, column.packed) == (expected.seconds, expected.packed)
        for line, value in expected.values.items():
            shown = column.values[line]
            assert shown.value == pytest.approx(value.value)
            assert (shown.low, shown.high) == pytest.approx((value.low, value.high), rel=1e-6)


def test_no_request_is_lost_and_no_column_is_dropped_when_the_budget_is_spent():
    history, names = EndpointHistory(TIMED, budget=20_000), [f"/{n}" for n in range(10)]
    feed(history, range(300), names)
    assert history._size <= 20_000
    for name in names:
        past = history.past(("GET", name))
        found = [column_of(each) for each in past.columns.values()]
        assert sum(round(each.values["requests"].value * each.seconds) for each in found) == 2 * past.until
        assert min(past.columns) == 0 and len(past.seconds) == LATE + 1


def test_one_column_is_always_kept():
    history = EndpointHistory(TIMED, budget=1)
    history.add(by_second([interval(7, f"/{n}", [1.0]) for n in range(50)]))
    history.settle(8)
    assert len(columns(history, ("GET", "/49"))) == 1


def test_the_size_does_not_grow_with_the_length_of_a_run(history):
    sizes = []
    for start, end in ((0, 4_900), (4_900, 9_700), (9_700, 19_300)):
        # The columns have just become twice as wide.
        feed(history, range(start, end))
        sizes.append((len(history.past(A).columns), len(history._seconds)))
        assert history._size < 110_000
    assert max(count for count, _ in sizes) <= MOST_POINTS // 2 + 10
    assert {seconds for _, seconds in sizes} == {LATE + 1}

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.record import CaughtException, Failure
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.stats.columns import IntervalColumns
from plimsoll.stats.latency.milliseconds import Milliseconds
from plimsoll.stats.seconds import WINDOW
from plimsoll.stats.table import live_total_of
from plimsoll.stats.view import RunView

OUTCOMES = ("success", "http", "connect", "timeout", "unanswered")


def test_an_empty_run():
    view = RunView()
    assert (view.total.requests, view.total.failures, view.duration, view.last_second) == (0, 0, 0.0, -1)
    assert view.endpoints == view.failures == view.exceptions == []
    assert view.recent.total.requests == 0


def test_counts_by_endpoint_and_outcome(make_interval):
    view = RunView()
    view.add([
        make_interval([1, 2], name="/b"),
        make_interval([5], name="/b", outcome="http"),
        make_interval([3], name="/a", method="POST"),
        make_interval([0.1], name="/a", method="GET", outcome="connect", body=0),
    ])  # fmt: skip
    assert [(each.method, each.name, each.requests, each.failures) for each in view.endpoints] == [
        ("GET", "/a", 1, 1),
        ("POST", "/a", 1, 0),
        ("GET", "/b", 3, 1),
    ]
    assert (view.total.requests, view.total.failures, view.total.counts.bytes_body) == (5, 2, 400)


def test_events_of_streams_are_rows_and_in_no_total(make_interval):
    view = RunView()
    rows = [("GET", [900.0]), ("first event", [50.0]), ("each event", [20.0, 30.0])]
    view.add(make_interval(times, method=method, name="/events") for method, times in rows)
    found = [(each.method, each.requests, sum(each.requests_by_second)) for each in view.endpoints]
    assert found == [("GET", 1, 1), ("each event", 2, 2), ("first event", 1, 1)]
    assert (view.total.requests, sum(view.total.requests_by_second), view.recent.total.requests) == (1, 1, 1)
    assert view.total.response.max == Milliseconds(900.0)
    assert view.recorded.exchanges == 4, "what the store must have"


def test_times_to_a_refusal_are_not_response_times(make_interval):
    view = RunView()
    view.add([make_interval([10, 20]), make_interval([0.1] * 9, outcome="connect")])
    assert view.total.response.count == view.total.service.count == 2
    assert view.total.response.min == Milliseconds(10.0)
    (refused,) = view.total.failed_outcomes
    assert (refused.outcome, refused.count, refused.response_max) == ("connect", 9, 100_000)


def test_cancelled_exchanges_are_counted_apart(make_interval):
    view = RunView()
    view.add([make_interval([1]), make_interval(untimed=4, outcome="unanswered", second=7)])
    assert (view.total.requests, view.total.failures, view.total.unanswered) == (1, 0, 4)
    assert view.total.requests_by_second.tolist() == [1]


def test_what_was_dropped_is_neither_a_request_nor_a_failure(make_interval):
    view = RunView()
    view.add(
        [make_interval([1]), make_interval([2], outcome="http"), make_interval(untimed=4, outcome="dropped", second=7)]
    )
    assert (view.total.requests, view.total.failures, view.total.dropped, view.total.unanswered) == (2, 1, 4, 0)
    assert [each.outcome for each in view.total.failed_outcomes] == ["http"]
    assert view.total.requests_by_second.tolist() == [2]
    assert view.total.failures_by_second.tolist() == [1]


def test_counts_second_by_second(make_interval):
    view = RunView()
    view.add([make_interval([1], second=3), make_interval([1, 1], second=1, outcome="http")])
    assert view.total.requests_by_second.tolist() == [0, 2, 0, 1]
    assert view.total.failures_by_second.tolist() == [0, 2, 0, 0]


def test_what_is_added_stays_as_it_was(make_interval):
    interval, failure = make_interval([1]), Failure("GET", "/", "http", "500", 1, 10.0, 11.0)
    caught = CaughtException("no", "trace", 1, {0})
    view = RunView()
    for _ in range(2):
        view.add([interval], (), [failure], [caught])
    assert (interval.count, interval.response.count, failure.count, caught.count) == (1, 1, 1, 1)
    assert (view.total.requests, view.failures[0].count, view.exceptions[0].count) == (2, 2, 2)


def test_failures_and_exceptions_merge_by_key_and_the_most_frequent_come_first():
    view = RunView()
    failures = [
        Failure("GET", "/", "http", "500", 2, 10.0, 11.0),
        Failure("GET", "/", "http", "404", 5, 10.0, 11.0),
        Failure("GET", "/", "http", "500", 1, 9.0, 10.5),
    ]
    seen = (("t", 1, 0), ("t", 2, 1), ("u", 9, 0))
    caught = [CaughtException("a", trace, count, {worker}) for trace, count, worker in seen]
    view.add([], [], failures, caught)
    assert [(each.message, each.count, each.first, each.last) for each in view.failures] == [
        ("404", 5, 10.0, 11.0),
        ("500", 3, 9.0, 11.0),
    ]
    assert [(each.traceback, each.count, each.workers) for each in view.exceptions] == [
        ("u", 9, {0}),
        ("t", 3, {0, 1}),
    ]


def test_what_was_never_sent_has_no_row_until_there_is_a_request(make_interval):
    view = RunView()
    view.add([make_interval(untimed=1, outcome="dropped")])
    assert (view.endpoints, view.total.requests, view.total.dropped) == ([], 0, 1)
    view.add([make_interval([1.0])])
    assert [(each.requests, each.dropped) for each in view.endpoints] == [(1, 1)]


def test_exceptions_at_one_place_are_one_row_whatever_they_say():
    view = RunView()
    frames = '  File "a.py", line 1, in buy\n'
    for item in range(3):
        view.add([], [], [], [CaughtException(f"item {item}", f"{frames}ValueError: item {item}\n", 2, {item})])
    ((row),) = view.exceptions
    assert (row.message, row.count, row.workers) == ("item 0", 6, {0, 1, 2})


@pytest.mark.parametrize(
    ("length", "expected"),
    [(None, 3.0), (2.25, 2.25), (3.0, 3.0), (3.5, 3.0), (1.5, 3.0)],
    ids=["unknown", "in the last second", "at its end", "after it", "before it"],
)
def test_rates_are_taken_to_the_end_of_the_run_within_its_last_second(make_interval, length, expected):
    view = RunView()
    view.add([make_interval([1], second=2)])
    view.length = length
    assert view.duration == expected


def test_seconds_without_answers_count(make_interval, make_health):
    view = RunView()
    view.add([make_interval([1])], [make_health(9)])
    assert view.duration == 10


def test_the_window_is_the_last_seconds(make_interval):
    view = RunView()
    for second in range(25):
        view.add([make_interval([second + 1.0], second=second)])
    window = view.recent
    assert (window.seconds, window.total.requests) == (WINDOW, WINDOW)
    assert window.total.response.min == Milliseconds(16.0)
    assert sum(each.count for each in window.endpoint(("GET", "/"))) == WINDOW
    assert window.endpoint(("GET", "/other")) == []


def test_the_window_of_a_young_run_is_the_run(make_interval):
    view = RunView()
    view.add([make_interval([1], second=second) for second in range(3)])
    assert (view.recent.seconds, view.recent.total.requests) == (3, 3)


def test_the_warm_up_counts_in_no_sum_but_is_seen_in_the_window(make_interval, make_health):
    view = RunView(warmup=2.25)
    for second in range(5):
        view.add([make_interval([10.0 + second], second=second)], [make_health(second, lag_us=[5], users=second)])
    view.add([make_interval([1], second=1, name="/login")])
    assert (view.warmup, view.duration, view.last_second) == (3, 2.0, 4)
    assert [(each.name, each.requests) for each in view.endpoints] == [("/", 2)]
    assert (view.total.requests, view.total.response.min) == (2, Milliseconds(13.0))
    assert view.total.requests_by_second.tolist() == [0, 0, 0, 1, 1]
    assert view.generator.lag.count == 2
    assert view.generator.users_by_second() == {3: 3, 4: 4}
    assert (view.recent.seconds, view.recent.total.requests) == (5, 6)


@pytest.mark.parametrize(
    ("warmup", "length", "expected"),
    [(0, None, 140 / 4), (0, 3.5, 140 / 3.5), (0, 60.0, 140 / 4), (1, 3.5, 120 / 2.5), (9, None, 0.0)],
    ids=["goes on", "cut off within its last second", "answers came later", "warm-up", "not begun"],
)
def test_the_offered_rate_ends_with_the_last_arrival(make_health, warmup, length, expected):
    view = RunView(warmup)
    for second, offered in enumerate([20, 40, 0, 80, 0, 0]):
        health = make_health(second)
        health.offered = offered
        view.add([], [health])
    if length is not None:
        view.length = length
    assert view.offered_rate == expected


def test_a_run_that_ended_while_it_warmed_up_has_no_length(make_interval):
    view = RunView(warmup=10)
    view.add([make_interval([1], second=4)])
    view.length = 4.5
    assert (view.duration, view.total.requests, view.recent.total.requests) == (0.0, 0, 1)


def test_rates_are_taken_from_the_end_of_the_warm_up_to_the_end_of_the_run(make_interval):
    view = RunView(warmup=2)
    view.add([make_interval([1], second=9)])
    view.length = 9.5
    assert view.duration == 7.5


@dataclass
class Recorded:
    started: float
    ended: float | None
    rows: list = field(default_factory=list)
    manifest: Manifest = field(default_factory=Manifest)
    failed: list = field(default_factory=list)
    facts: RunFacts = field(default_factory=RunFacts)

    def observed(self):
        return ()

    def columns(self):
        yield IntervalColumns.of(self.rows)

    def health(self):
        return iter(())

    def failures(self):
        return iter(self.failed)

    exceptions = health


def test_a_recorded_run_is_folded_like_a_live_one(make_interval):
    rows = [make_interval([1, 2, 3], second=second) for second in range(4)]
    live = RunView()
    for row in rows:
        live.add([row])
    recorded = RunView.of(Recorded(100.0, 103.5, rows))
    assert recorded.total.requests == live.total.requests == 12
    assert (live.duration, recorded.duration) == (4.0, 3.5)


def test_a_recorded_run_is_folded_without_its_warm_up(make_interval):
    failures = [
        Failure("GET", "/", "http", message, 1, 100.0, last)
        for message, last in (("before", 101.99), ("at its end", 102.0), ("after", 103.0))
    ]
    rows = [make_interval([1], second=second) for second in range(4)]
    view = RunView.of(Recorded(100.0, 104.0, rows, Manifest(warmup=1.5), failures))
    assert (view.total.requests, view.duration) == (2, 2.0)
    assert sorted(each.message for each in view.failures) == ["after", "at its end"]


@pytest.mark.parametrize("manifest", [Manifest(), Manifest(warmup=0.0)])
def test_without_a_warm_up_every_failure_is_shown_whatever_the_clocks_say(make_interval, manifest):
    early = Failure("GET", "/", "http", "m", 1, 99.0, 99.0)
    view = RunView.of(Recorded(100.0, 101.0, [make_interval([1])], manifest, [early]))
    assert [each.message for each in view.failures] == ["m"]
    assert view.total.requests == 1


@given(
    cells=st.lists(st.tuples(st.integers(0, 30), st.sampled_from("ab"), st.sampled_from(OUTCOMES)), max_size=40),
    seed=st.integers(0, 100),
)
def test_the_order_does_not_matter(make_interval, cells, seed):
    rows = [make_interval([second + 1], second=second, name=name, outcome=outcome) for second, name, outcome in cells]
    one, other = RunView(), RunView()
    one.add(rows)
    for row in random.Random(seed).sample(rows, len(rows)):
        other.add([row])
    assert facts(one) == facts(other)
    assert one.total.requests == sum(each.requests for each in one.endpoints)


def facts(view):
    def sums(totals):
        return totals.requests, totals.failures, totals.unanswered, totals.counts.bytes_in, totals.response.median

    per_second = [(each.requests_by_second, each.failures_by_second) for each in view.endpoints]
    return (
        view.duration,
        sums(view.total),
        [sums(each) for each in view.endpoints],
        per_second,
        sums(view.recent.total),
    )


def test_times_are_those_of_all_answers_or_of_successes_only(make_interval):
    intervals = [
        make_interval([10.0] * 3),
        make_interval([500.0], outcome="http"),
        make_interval([0.1], outcome="connect"),
    ]
    shown = {}
    for times_of in ("all", "successes"):
        view = RunView(times_of=times_of)
        view.add(intervals)
        shown[times_of] = live_total_of(view)
    assert [(row.requests, row.failures) for row in shown.values()] == [(5, 2), (5, 2)]
    assert [(row.response_ms.count, row.response_ms.extremes[1]) for row in shown.values()] == [(4, 500.0), (3, 10.0)]
    assert [row.current_ms.count for row in shown.values()] == [4, 3]


def test_failures_that_are_ahead_of_the_requests_are_not_counted_yet(make_interval):
    view = RunView()
    view.add([make_interval([1.0] * 9, name="/a"), make_interval([1.0] * 5, name="/a", outcome="http")])
    view.add(
        [], failures=[Failure("GET", "/a", "http", message, count, 0.0, 1.0) for message, count in (("x", 2), ("y", 4))]
    )
    view.add(
        [], failures=[Failure("GET", "/a", "timeout", "z", 1, 0.0, 1.0), Failure("GET", "/b", "http", "z", 1, 0.0, 1.0)]
    )
    assert [(each.message, each.count) for each in view.counted_failures] == [("y", 4), ("x", 1)]
    assert [each.count for each in view.failures] == [4, 2, 1, 1], "these are not changed"
    view.add([make_interval([1.0], second=1, name="/a", outcome="http")])
    assert [(each.message, each.count) for each in view.counted_failures] == [("y", 4), ("x", 2)]


def answered(make_interval, took_ms: float, per_s: int = 20, load_s: int = 9) -> RunView:
    """A run of the open model whose arrivals come until `load_s`, and are all answered this long after they are due."""
    view = RunView(warmup=1)
    for arrival in range(per_s * load_s):
        view.add([make_interval([took_ms], second=int(arrival / per_s + took_ms / 1000))])
    # The end of the load is noticed a moment late.
    view.load_end = load_s + 0.0014
    return view


def test_replies_that_came_after_the_load_are_in_no_second_of_it(make_interval):
    view = answered(make_interval, 100.0)
    assert view.loaded == range(1, 9)
    assert (view.late, view.rate_s, view.rate(view.total)) == (2, 8.0, 20.0)


def test_a_load_that_ends_within_a_second_is_counted_over_its_whole_seconds(make_interval):
    view = RunView()
    for second in range(4):
        view.add([make_interval([1.0] * 10, second=second), make_interval([1.0], second=second, outcome="http")])
    view.load_end = 2.5
    assert (view.rate(view.total), view.failure_rate(view.total), view.late) == (11.0, 1.0, 22)
    view.load_end = 0.5
    assert view.loaded is None
    assert view.rate(view.total) == 44 / 0.5


def test_services_that_answer_all_carry_the_same_load_whatever_their_latency(make_interval):
    fast, slow = answered(make_interval, 100.0), answered(make_interval, 1500.0)
    assert slow.rate(slow.total) == pytest.approx(18.75), "of what was answered within the load"
    assert (fast.steady, slow.steady) == (range(1, 9), range(2, 9))
    assert fast.rate(fast.total, fast.steady) == slow.rate(slow.total, slow.steady) == 20.0
    slower = answered(make_interval, 30_000.0)
    assert slower.steady == range(5, 9), "at least the second half"

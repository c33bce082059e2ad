from __future__ import annotations

import pytest

from plimsoll.stats.table import Times, live_rows_of, live_total_of, rows_of, total_of
from plimsoll.stats.view import RunView


def test_a_row_per_endpoint_by_name_then_method_and_one_for_all(make_interval):
    view = RunView()
    view.add([make_interval([1], name=name, method=method) for name in "ba" for method in ("POST", "GET")])
    assert [(row.name, row.method) for row in rows_of(view)] == [
        ("a", "GET"), ("a", "POST"), ("b", "GET"), ("b", "POST")
    ]  # fmt: skip
    total = total_of(view)
    assert (total.name, total.method, total.requests) == ("Aggregated", "", 4)


def test_times_are_milliseconds_and_sizes_bytes(make_interval):
    view = RunView()
    view.add([make_interval([10.0, 30.0], body=300), make_interval([2.0], body=0, outcome="http")])
    (row,) = rows_of(view)
    times = Times.of(row.response_ms)
    assert (times.mean, times.min, times.max) == (14.0, 2.0, 30.0)
    assert times.percentiles["50"] == pytest.approx(10.0, rel=0.001)
    assert times.percentiles["100"] == 30.0
    assert row.average_size == 200
    assert row.fail_ratio == pytest.approx(1 / 3)


def test_sizes_are_those_of_completed_requests(make_interval):
    view = RunView()
    view.add([make_interval([1.0], body=10), make_interval([1.0], body=10, name="cut", outcome="unanswered")])
    assert total_of(view).average_size == 10


def test_rates_are_over_the_run_and_current_ones_over_the_last_ten_seconds(make_interval):
    view = RunView()
    for second in range(20):
        fast = second >= 10
        view.add([make_interval([1.0] * (30 if fast else 10), second=second)])
        view.add([make_interval([2.0] * (5 if fast else 0), second=second, outcome="http")])
    (row,) = live_rows_of(view)
    assert (row.rps, row.failures_per_s) == (22.5, 2.5)
    assert (row.current_rps, row.current_failures_per_s) == (35.0, 5.0)
    assert row.current_ms.count == live_total_of(view).current_ms.count == 350


def shifted(make_interval, response_ms, lag_ms):
    """Exchanges that were sent so much later than they were due."""
    interval = make_interval(response_ms)
    interval.service = type(interval.service)()
    for each, lag in zip(response_ms, lag_ms, strict=True):
        interval.service.record(round((each - lag) * 1000))
    interval.service_sum -= round(sum(lag_ms) * 1e6)
    return interval


@pytest.mark.parametrize(
    ("response_ms", "lag_ms", "agrees"),
    [
        ([100.0] * 100, [0.0] * 100, True),
        ([100.0] * 100, [1.9] * 100, True),
        ([100.0] * 100, [2.2] * 100, False),
        ([100.0] * 98 + [200.0] * 2, [0.0] * 98 + [100.0] * 2, False),
        ([100.0] * 1000, [0.0] * 999 + [90.0], True),
        ([10.0] * 99 + [10_000.0], [0.0] * 99 + [3000.0], False),
        ([0.005] * 100, [0.001] * 100, True),
        ([0.005] * 100, [0.002] * 100, False),
    ],
    ids=["equal", "by 1.9 %", "by 2.2 %", "p99", "one in 1000", "mean", "one µs", "two µs"],
)
def test_service_agrees_when_it_tells_what_response_tells(make_interval, response_ms, lag_ms, agrees):
    view = RunView()
    view.add([shifted(make_interval, response_ms, lag_ms)])
    assert total_of(view).service_agrees == agrees


def test_what_has_no_times_does_not_disagree(make_interval):
    view = RunView()
    view.add([make_interval([0.2], outcome="connect")])
    assert total_of(view).service_agrees


def test_nothing_was_timed(make_interval):
    view = RunView()
    view.add([make_interval([0.2], outcome="connect")])
    (row,) = rows_of(view)
    assert (row.requests, row.failures, row.fail_ratio) == (1, 1, 1.0)
    times = Times.of(row.response_ms)
    assert (times.mean, times.min, times.max, *set(times.percentiles.values())) == (None,) * 4
    assert (times.count, times.at_least, times.share.unclean) == (0, [], [])


def test_outcomes_and_the_course_are_those_of_the_endpoint(make_interval):
    view = RunView()
    view.add([make_interval([10.0, 30.0], second=1), make_interval([2.0], second=2, outcome="connect")])
    (row,) = rows_of(view)
    assert {name: (each.count, each.failure) for name, each in row.outcomes.items()} == {
        "connect": (1, True),
        "success": (2, False),
    }
    assert row.outcomes["success"].time_ms.extremes == (10.0, 30.0)
    assert (list(row.per_second.requests), list(row.per_second.failures)) == ([0, 2, 1], [0, 0, 1])
    assert (row.completed, row.completed_failures, row.bytes_body) == (3, 1, 300)


def test_a_run_without_requests():
    total = live_total_of(RunView())
    assert (total.requests, total.rps, total.average_size, total.current_rps, total.fail_ratio) == (0, 0, 0, 0, 0)

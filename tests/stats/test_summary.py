from __future__ import annotations

import pytest

from plimsoll.stats.summary import summarise, summarise_total
from plimsoll.stats.view import RunView


def test_a_row_per_endpoint_by_name_then_method_and_one_for_all(make_interval):
    view = RunView()
    view.add([make_interval([1], name=name, method=method) for name in "ba" for method in ("POST", "GET")])
    assert [(row.name, row.method) for row in summarise(view)] == [
        ("a", "GET"), ("a", "POST"), ("b", "GET"), ("b", "POST")
    ]  # fmt: skip
    total = summarise_total(view)
    assert (total.name, total.method, total.requests) == ("Aggregated", "", 4)


def test_times_are_milliseconds_and_sizes_bytes(make_interval):
    view = RunView()
    view.add([make_interval([10.0, 30.0], body=300), make_interval([2.0], body=0, outcome="http")])
    (row,) = summarise(view)
    assert (row.mean, row.min, row.max) == (14.0, 2.0, 30.0)
    assert row.median == pytest.approx(10.0, rel=0.001)
    assert row.percentile(1) == 30.0
    assert row.average_size == 200
    assert row.fail_ratio == pytest.approx(1 / 3)


def test_rates_are_over_the_run_and_current_ones_over_the_last_ten_seconds(make_interval):
    view = RunView()
    for second in range(20):
        fast = second >= 10
        view.add([make_interval([1.0] * (30 if fast else 10), second=second)])
        view.add([make_interval([2.0] * (5 if fast else 0), second=second, outcome="http")])
    (row,) = summarise(view)
    assert (row.rps, row.failures_per_s) == (22.5, 2.5)
    assert (row.current_rps, row.current_failures_per_s) == (35.0, 5.0)
    assert row.current_response.count == 350


def test_nothing_was_timed(make_interval):
    view = RunView()
    view.add([make_interval([0.2], outcome="connect")])
    (row,) = summarise(view)
    assert (row.requests, row.failures, row.fail_ratio) == (1, 1, 1.0)
    assert (row.mean, row.min, row.max, row.median, row.percentile(0.99)) == (None,) * 5


def test_a_run_without_requests():
    total = summarise_total(RunView())
    assert (total.requests, total.rps, total.average_size, total.current_rps, total.fail_ratio) == (0, 0, 0, 0, 0)

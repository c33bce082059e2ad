"""Columns say what `Latency` says of each interval."""

from __future__ import annotations

import random

import pytest

from plimsoll._engine import Histogram
from plimsoll.stats.columns import IntervalColumns
from plimsoll.stats.latency.columns import LatencyColumns
from plimsoll.stats.latency.milliseconds import Latency

QUANTILES = [0.0, 0.5, 0.9, 0.99, 0.999]


@pytest.fixture
def intervals(make_interval):
    chance = random.Random(7)
    outcomes = ("success", "timeout", "http")
    made = []
    for second in range(60):
        times = [chance.lognormvariate(1, 1) for _ in range(chance.choice((1, 2, 50)))]
        interval = make_interval(times, second=second, outcome=chance.choice(outcomes))
        if second % 3 == 0:
            interval.on_time = Histogram()
            for each in times:
                interval.on_time.record(int(each * 1000 * chance.random()))
        made.append(interval)
    return [*made, make_interval(second=60, outcome="connect", untimed=3)]


@pytest.mark.parametrize("clock", ["response", "service"])
def test_each_row_is_what_a_latency_of_the_interval_says(intervals, clock):
    columns = dict(
        zip(("response", "service"), LatencyColumns.of(IntervalColumns.of(intervals), QUANTILES), strict=True)
    )[clock]
    for place, interval in enumerate(intervals):
        latency = getattr(Latency, f"of_{clock}")([interval])
        expected = [latency.mean, *latency.quantiles(QUANTILES)]
        values = [columns.mean[place], *(each[place] for each in columns.quantiles)]
        shares = [columns.mean_share[place], *(each[place] for each in columns.quantile_shares)]
        assert values == [None if each is None else each.value for each in expected]
        assert shares == [None if each is None else each.share for each in expected]
        assert columns.max_share[place] == (None if latency.max is None else latency.max.share)


def test_of_no_intervals_there_are_empty_columns():
    columns, _ = LatencyColumns.of(IntervalColumns.of([]), QUANTILES)
    assert (columns.mean, columns.quantiles) == ([], [[]] * len(QUANTILES))

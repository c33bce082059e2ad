from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.stats.latency.milliseconds import Latency, Milliseconds

TIMES = st.lists(st.floats(0.001, 3_599_000), min_size=1, max_size=60)

QUANTILES = (0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0)


def near(ms, at_least=False):
    """What a histogram makes of a duration."""
    return Milliseconds(pytest.approx(ms, rel=0.001), at_least)


def test_nothing_timed_has_no_times(make_interval):
    for latency in (Latency(), Latency.of_response([make_interval(untimed=3)])):
        assert latency.count == 0
        assert (latency.mean, latency.min, latency.max, latency.median, latency.quantile(1)) == (None,) * 5


def test_mean_and_extremes_are_exact(make_interval):
    latency = Latency.of_response([make_interval([1.000001, 2.5]), make_interval([1234.567891])])
    assert latency.count == 3
    assert latency.min == (1.000001, False)
    assert latency.max == latency.quantile(1) == (1234.567891, False)
    assert latency.mean is not None
    assert latency.mean.value == pytest.approx((1.000001 + 2.5 + 1234.567891) / 3)


def test_a_percentile_is_the_value_at_the_rank_rounded_up(make_interval):
    latency = Latency.of_response([make_interval([float(each) for each in range(1, 101)])])
    for quantile, expected in ((0.5, 50), (0.501, 51), (0.99, 99), (0.0, 1)):
        assert latency.quantile(quantile) == near(expected)


def test_service_is_told_apart_from_response(make_interval):
    interval = make_interval([10.0, 20.0])
    interval.service_sum = 0
    interval.service = type(interval.service)()
    for _ in range(2):
        interval.service.record(5000)
        interval.service_sum += 5_000_000
    latency = Latency.of_service([interval])
    assert latency.mean == (5.0, False)
    assert latency.median == near(5.0)
    assert latency.min == near(5.0)


def test_no_service_time_is_above_the_longest_response_time(make_interval):
    latency = Latency.of_service([make_interval([30_000.0], outcome="timeout")])
    assert latency.max == latency.quantile(0.99) == (30_000.0, True)
    short = Latency.of_service([make_interval([0.0006])])
    assert short.min == short.max == short.median == (0.0006, False)


@pytest.mark.parametrize("quantile", [-0.1, 1.1, math.nan])
def test_a_quantile_is_between_0_and_1(quantile):
    with pytest.raises(ValueError, match="between 0 and 1"):
        Latency().quantile(quantile)


def test_timeouts_above_the_median_leave_it_exact(make_interval):
    latency = Latency.of_response([make_interval([10.0] * 95), make_interval([1000.0] * 5, outcome="timeout")])
    assert latency.censored == 5
    assert latency.quantile(0.5) == near(10.0)
    assert latency.quantile(0.95) == near(10.0)
    assert latency.quantile(0.96) == near(1000.0, True)
    assert latency.max == (1000.0, True)
    assert latency.mean == (pytest.approx(59.5), True)
    assert latency.min == (10.0, False)


def test_a_timeout_below_other_times_moves_only_the_ranks_that_it_could(make_interval):
    # Three answers of 1, 2, 3 s and one that was given up on after 0.5 s: it might have been anywhere.
    latency = Latency.of_response([make_interval([1000.0, 2000.0, 3000.0]), make_interval([500.0], outcome="timeout")])
    assert [latency.quantile(q) for q in (0.25, 0.5, 0.75, 1)] == [
        near(500.0, True),
        near(1000.0, True),
        near(2000.0, True),
        Milliseconds(3000.0, True),
    ]
    assert latency.min == (500.0, True)


def test_only_timeouts(make_interval):
    latency = Latency.of_response([make_interval([30_000.0] * 4, outcome="timeout")])
    assert latency.median == (30_000.0, True)
    assert latency.min == (30_000.0, True)


def test_over_an_hour_the_maximum_is_exact_and_percentiles_are_lower_bounds(make_interval):
    latency = Latency.of_response([make_interval([10.0, 7_200_000.0, 7_300_000.0])])
    assert latency.overflow == 2
    assert latency.max == (7_300_000.0, False)
    assert latency.quantile(0.3) == near(10.0)
    between = latency.quantile(0.6)
    assert between is not None
    assert between.at_least
    assert between.value <= 7_200_000


@given(times=TIMES, seed=st.integers(0, 1000))
def test_the_order_of_merging_does_not_matter(make_interval, times, seed):
    parts = [make_interval([each], outcome="timeout" if each > 1e6 else "success") for each in times]
    shuffled = random.Random(seed).sample(parts, len(parts))
    one, other = Latency.of_response(parts), Latency.of_response(shuffled)
    assert [one.quantile(q) for q in QUANTILES] == [other.quantile(q) for q in QUANTILES]
    assert (one.mean, one.min, one.max) == (other.mean, other.min, other.max)


@given(times=TIMES, cut=TIMES)
def test_percentiles_ascend_between_the_extremes(make_interval, times, cut):
    latency = Latency.of_response([make_interval(times), make_interval(cut, outcome="timeout")])
    values = [latency.quantile(q) for q in QUANTILES]
    assert all(value is not None for value in values)
    ordered = [latency.min.value, *(value.value for value in values), latency.max.value]
    assert ordered == sorted(ordered)
    assert latency.min.value == pytest.approx(min(times + cut), abs=1e-6)
    assert latency.max.value == pytest.approx(max(times + cut), abs=1e-6)


@given(times=TIMES, q=st.floats(0, 1))
def test_percentiles_are_within_the_precision_of_the_histogram(make_interval, times, q):
    value = Latency.of_response([make_interval(times)]).quantile(q)
    true = sorted(times)[max(1, math.ceil(q * len(times))) - 1]
    assert value.value == pytest.approx(true, rel=1 / 1000, abs=0.001)


@given(times=st.lists(st.integers(1, 50), max_size=15), cut=st.lists(st.integers(1, 50), min_size=1, max_size=5))
def test_at_least_is_said_exactly_when_longer_timeouts_would_change_the_value(make_interval, times, cut):
    # Whole milliseconds below 1 s are told apart by the histogram, so the rule can be checked against sorted lists.
    latency = Latency.of_response([make_interval(times), make_interval(cut, outcome="timeout")])
    kept, endless = sorted(times + cut), sorted(times + [math.inf] * len(cut))
    for rank in range(1, len(kept) + 1):
        value = latency.quantile((rank - 0.5) / len(kept))
        assert value.at_least == (kept[rank - 1] != endless[rank - 1])

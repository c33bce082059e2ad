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
    return Milliseconds(pytest.approx(ms, rel=0.001), at_least, pytest.approx(0))


def test_nothing_timed_has_no_times(make_interval):
    for latency in (Latency(), Latency.of_response([make_interval(untimed=3)])):
        assert latency.count == 0
        assert (latency.mean, latency.min, latency.max, latency.median, latency.quantile(1)) == (None,) * 5
        assert (latency.values([0.5, 1]), latency.extremes) == ([None, None], (None, None))


def test_mean_and_extremes_are_exact(make_interval):
    latency = Latency.of_response([make_interval([1.000001, 2.5]), make_interval([1234.567891])])
    assert latency.count == 3
    assert latency.min == Milliseconds(1.000001, False)
    assert latency.max == latency.quantile(1) == Milliseconds(1234.567891, False)
    assert latency.mean is not None
    assert latency.mean.value == pytest.approx((1.000001 + 2.5 + 1234.567891) / 3)


@given(times=TIMES)
def test_values_alone_are_those_of_the_figures(make_interval, times):
    latency = Latency.of_response([make_interval(times)])
    assert latency.values(QUANTILES) == [each.value for each in latency.quantiles(QUANTILES)]
    assert latency.extremes == (latency.min.value, latency.max.value)


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
    assert latency.mean == Milliseconds(5.0, False)
    assert latency.median == near(5.0)
    assert latency.min == near(5.0)


def late(make_interval, times, lags, waits=None):
    """Exchanges that took these times, of which the generator sent each so late. All in ms."""
    interval = make_interval(times)
    waited = waits or [0.0] * len(times)
    interval.service, interval.service_sum = type(interval.service)(), 0
    if waits:
        interval.on_time = type(interval.service)()
    for took, lag, wait in zip(times, lags, waited, strict=True):
        interval.service.record(round((took - lag - wait) * 1000))
        interval.service_sum += round((took - lag - wait) * 1e6)
        if interval.on_time is not None:
            interval.on_time.record(round((took - lag) * 1000))
    return interval


def test_what_the_generator_may_have_added_is_said_beside_each_time(make_interval):
    times = [10.0] * 98 + [30.0, 40.0]
    lags = [0.05] * 98 + [20.0, 10.0]
    latency = Latency.of_response([late(make_interval, times, lags)])
    assert latency.quantile(0.5).share == pytest.approx(0.05, abs=0.01)
    assert latency.quantile(0.5).is_clean
    p99 = latency.quantile(0.99)
    assert (p99.value, p99.share) == (pytest.approx(30, rel=0.001), pytest.approx(20, rel=0.002))
    assert not p99.is_clean
    assert latency.max.share == pytest.approx(10, rel=0.002)
    assert latency.mean.share == pytest.approx((98 * 0.05 + 30) / 100)
    service = Latency.of_service([late(make_interval, times, lags)])
    assert (service.quantile(0.99).share, service.mean.share, service.max.share) == (0, 0, 0)


def test_the_wait_for_a_free_user_is_not_the_generators(make_interval):
    latency = Latency.of_response([late(make_interval, [100.0] * 10, [1.0] * 10, waits=[60.0] * 10)])
    for each in (latency.median, latency.mean, latency.max):
        assert each.share == pytest.approx(1, abs=0.11)


@given(st.lists(st.tuples(st.floats(0.002, 10_000), st.floats(0, 1)), min_size=1, max_size=60), st.floats(0, 1))
def test_the_time_without_the_generator_is_within_the_bracket(make_interval, exchanges, quantile):
    times = [took for took, _ in exchanges]
    lags = [took * part for took, part in exchanges]
    found = Latency.of_response([late(make_interval, times, lags)]).quantile(quantile)
    on_time = sorted(took - lag for took, lag in zip(times, lags, strict=True))
    true = on_time[max(0, math.ceil(quantile * len(on_time)) - 1)]
    precision = found.value * 0.002 + 0.002
    assert found.value - found.share - precision <= true <= found.value + precision


def test_no_service_time_is_above_the_longest_response_time(make_interval):
    latency = Latency.of_service([make_interval([30_000.0], outcome="timeout")])
    assert latency.max == latency.quantile(0.99) == Milliseconds(30_000.0, True)
    short = Latency.of_service([make_interval([0.0006])])
    assert short.min == short.max == short.median == Milliseconds(0.0006, False)


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
    assert latency.max == Milliseconds(1000.0, True)
    assert latency.mean == Milliseconds(pytest.approx(59.5), True)
    assert latency.min == Milliseconds(10.0, False)


def test_a_timeout_below_other_times_moves_only_the_ranks_that_it_could(make_interval):
    # Three answers of 1, 2, 3 s and one that was given up on after 0.5 s: it might have been anywhere.
    latency = Latency.of_response([make_interval([1000.0, 2000.0, 3000.0]), make_interval([500.0], outcome="timeout")])
    assert [latency.quantile(q) for q in (0.25, 0.5, 0.75, 1)] == [
        near(500.0, True),
        near(1000.0, True),
        near(2000.0, True),
        Milliseconds(3000.0, True),
    ]
    assert latency.min == Milliseconds(500.0, True)


def test_only_timeouts(make_interval):
    latency = Latency.of_response([make_interval([30_000.0] * 4, outcome="timeout")])
    assert latency.median == Milliseconds(30_000.0, True)
    assert latency.min == Milliseconds(30_000.0, True)


def test_over_an_hour_the_maximum_is_exact_and_percentiles_are_lower_bounds(make_interval):
    latency = Latency.of_response([make_interval([10.0, 7_200_000.0, 7_300_000.0])])
    assert latency.overflow == 2
    assert latency.max == Milliseconds(7_300_000.0, False)
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

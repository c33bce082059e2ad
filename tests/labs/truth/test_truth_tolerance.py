import math
import random

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labs.truth.tolerance import (
    HDR_ERROR,
    SHARES,
    UNIT,
    Bounds,
    Overhead,
    binomial_ranks,
    dispersion,
    dispersion_bounds,
    exponential_distance,
    kolmogorov_limit,
    rank,
    reported_bounds,
    upper_value,
    value_at,
    waits_after_freezes,
    widened,
)
from scipy import stats

COUNTS = st.integers(1, 3000)
QUANTILES = st.floats(0.001, 0.999)


@pytest.mark.parametrize(
    ("quantile", "count", "expected"),
    [(0.5, 10, 5), (0.5, 11, 6), (0.999, 1000, 999), (1.0, 7, 7), (0.001, 5, 1), (0.07, 100, 7)],
)
def test_a_rank_is_the_quantiles_share_of_the_values_rounded_up(quantile: float, count: int, expected: int) -> None:
    assert rank(quantile, count) == expected


def test_a_rank_of_nothing_is_an_error() -> None:
    for quantile, count in ((0.0, 5), (1.1, 5), (0.5, 0)):
        with pytest.raises(ValueError, match="quantile"):
            rank(quantile, count)


def test_past_the_end_of_a_sample_there_is_no_value() -> None:
    assert value_at(1.0, [1.0, 2.0]) == 2.0
    assert value_at(1.01, [1.0, 2.0]) == math.inf


@given(QUANTILES, COUNTS)
def test_binomial_ranks_are_those_of_the_binomial_distribution(quantile: float, count: int) -> None:
    low, high = binomial_ranks(quantile, count, 0.99)
    assert low == pytest.approx(stats.binom.ppf(0.005, count, quantile), abs=1)
    # Between the two ranks lies the true quantile with the confidence asked for, and one rank less would not do.
    assert stats.binom.cdf(high - 1, count, quantile) >= 0.995 - 1e-9
    assert stats.binom.cdf(high - 2, count, quantile) < 0.995 + 1e-9
    assert stats.binom.cdf(low - 1, count, quantile) <= 0.005 + 1e-9


def test_a_sample_too_small_bounds_nothing_from_above() -> None:
    assert upper_value(0.99, sorted(range(100))) == math.inf
    assert upper_value(0.5, [float(value) for value in range(100)]) < 99
    assert upper_value(0.5, []) == math.inf


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 1)), min_size=1, max_size=200), QUANTILES)
def test_the_law_that_the_bounds_rest_on_holds_for_any_two_parts_of_a_sum(
    parts: list[tuple[float, float]], quantile: float
) -> None:
    inner, outer = sorted(each for each, _ in parts), sorted(each for _, each in parts)
    whole = value_at(quantile, sorted(each + other for each, other in parts))
    assert value_at(quantile, inner) <= whole
    for share in (*SHARES, 0.3):
        assert whole <= value_at(quantile + share, inner) + value_at(1 - share, outer) + 1e-9


def test_bounds_hold_for_sums_and_reject_what_is_wrong_by_more_than_the_overhead() -> None:
    randomness = random.Random(1)
    inner = [randomness.lognormvariate(math.log(0.005), 0.5) for _ in range(20_000)]
    outer = [randomness.expovariate(1 / 50e-6) for _ in inner]
    probe = sorted(randomness.expovariate(1 / 50e-6) for _ in range(10_000))
    values = sorted(each + other for each, other in zip(inner, outer, strict=True))
    for quantile in (0.5, 0.9, 0.99, 0.999):
        bounds = reported_bounds(quantile, sorted(inner), Overhead(probe, probe), 20, 0.0)
        true = value_at(quantile, values)
        assert true in bounds
        assert true * 0.95 not in bounds
        if quantile < 0.999:
            assert true * 1.15 not in bounds


def test_exchanges_that_made_a_connection_are_held_against_fresh_ones_or_left_out() -> None:
    inner = [0.005] * 1000
    few, many = Overhead([1e-5] * 10_000, []), Overhead([1e-5] * 10_000, [1e-3] * 10_000)
    assert few.excess(0.5, inner, 10) == pytest.approx(0.00501)
    assert few.excess(0.99, inner, 20) == math.inf
    assert many.excess(0.99, inner, 20) == pytest.approx(0.006)


def test_what_may_be_outside_of_the_overhead_moves_the_rank() -> None:
    inner = [float(value) for value in range(1000)]
    for overhead in (Overhead([], [0.0] * 10_000), Overhead([0.0] * 10_000, [])):
        assert value_at(0.5, inner) < overhead.excess(0.5, inner, 0) <= value_at(0.51, inner)


def test_a_histogram_widens_by_its_error_and_its_unit() -> None:
    assert widened(Bounds(1.0, 2.0)) == Bounds(1.0 - HDR_ERROR - UNIT, 2.0 * (1 + HDR_ERROR) + UNIT)
    assert widened(Bounds(0.0, math.inf)) == Bounds(0.0, math.inf)


def test_the_distance_from_the_exponential_is_kolmogorovs() -> None:
    gaps = numpy.random.default_rng(3).exponential(0.01, 500)
    assert exponential_distance(list(gaps), 0.01) == pytest.approx(stats.kstest(gaps, "expon", (0, 0.01)).statistic)
    assert exponential_distance([0.01] * 500, 0.01) > 0.6


def test_its_limit_is_that_of_the_limiting_distribution() -> None:
    assert kolmogorov_limit(10_000) == pytest.approx(stats.kstwobign.isf(0.001) / 100, rel=1e-3)


def test_evenly_spaced_events_are_not_dispersed_and_poissons_are() -> None:
    even = [index / 100 for index in range(3000)]
    poisson = numpy.cumsum(numpy.random.default_rng(4).exponential(0.01, 3000))
    ratio, windows = dispersion(even, 0.1)
    assert (ratio, windows) == (pytest.approx(0, abs=0.2), 299)
    assert ratio not in dispersion_bounds(windows)
    ratio, windows = dispersion(list(poisson), 0.1)
    assert ratio in dispersion_bounds(windows)


@pytest.mark.parametrize("quantile", [0.5, 0.85, 0.9, 0.99])
def test_waits_after_freezes_are_those_of_arrivals_laid_out_one_by_one(quantile: float) -> None:
    every, length, rate = 5.0, 1.0, 500
    times = [index / rate for index in range(20 * rate)]
    waits = sorted(max(0.0, time % every - (every - length)) and every - time % every for time in times)
    assert waits_after_freezes(quantile, length / every, length) == pytest.approx(
        value_at(quantile, waits), abs=1 / rate
    )

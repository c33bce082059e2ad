from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, chi2_contingency

from plimsoll.stats.distributions.binomial import binomial_chance, binomial_p, binomial_tails, same_share_p

sizes = st.one_of(st.integers(1, 200), st.floats(0, 8).map(lambda power: int(10**power)))
chances = st.one_of(st.floats(1e-6, 1 - 1e-6), st.sampled_from([0.01, 0.5, 0.9, 0.99, 0.999, 0.9999]))


def near(n: int, p: float, deviations: float) -> int:
    return min(max(0, round(n * p + deviations * math.sqrt(n * p * (1 - p)))), n)


@given(sizes, chances, st.floats(-9, 9))
def test_tails_are_those_of_scipy(n, p, deviations):
    k = near(n, p, deviations)
    # scipy is 1e-9 off with some ten successes of some 10⁸ (tests of the beta distribution).
    assert binomial_tails(k, n, p) == (
        pytest.approx(binom.cdf(k, n, p), rel=3e-9, abs=1e-290),
        pytest.approx(binom.sf(k, n, p), rel=3e-9, abs=1e-290),
    )


def test_no_fewer_than_none_and_no_more_than_all():
    assert binomial_tails(-1, 5, 0.3) == (0.0, 1.0)
    assert binomial_tails(5, 5, 0.3) == (1.0, 0.0)


@given(sizes, chances, st.floats(-9, 9))
def test_the_chance_of_a_count_is_that_of_scipy(n, p, deviations):
    k = near(n, p, deviations)
    assert binomial_chance(k, n, p) == pytest.approx(binom.pmf(k, n, p), rel=1e-9, abs=1e-290)


@given(st.one_of(st.integers(1, 200), st.integers(1, 10**6)), chances, st.floats(-6, 6))
def test_the_test_of_a_share_is_that_of_scipy(n, p, deviations):
    k = near(n, p, deviations)
    assert binomial_p(k, n, p) == pytest.approx(binomtest(k, n, p).pvalue, rel=1e-9, abs=1e-290)


def test_outcomes_as_unlikely_on_the_other_side_count():
    # Of 10 throws of a fair coin: 0, 1, 9 and 10 heads, 22 of 1024 cases.
    assert binomial_p(1, 10, 0.5) == binomial_p(9, 10, 0.5) == pytest.approx(22 / 1024, rel=1e-14)
    assert binomial_p(5, 10, 0.5) == 1.0
    assert binomial_p(0, 3, 0.001) == 1.0


groups = st.lists(
    st.tuples(st.integers(0, 10_000), st.integers(0, 1_000_000)).filter(any), min_size=2, max_size=12
).filter(lambda pairs: all(map(sum, zip(*pairs, strict=True))))


@given(groups)
def test_shares_are_compared_as_by_scipy(pairs):
    those, others = zip(*pairs, strict=True)
    expected = chi2_contingency([those, others], correction=False).pvalue
    assert same_share_p(those, others) == pytest.approx(expected, rel=1e-8, abs=1e-290)


def test_equal_shares_are_no_difference():
    assert same_share_p([10, 20, 30], [100, 200, 300]) == pytest.approx(1.0)

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special
from scipy.stats import t as student
from scipy.stats import ttest_ind

from plimsoll.stats.distributions.normal import normal_cdf
from plimsoll.stats.distributions.student import t_beyond, t_cdf, t_quantile, welch_p

freedoms = st.one_of(
    st.integers(1, 60).map(float), st.floats(-0.5, 6).map(lambda power: 10**power)
)  # fractions are those of seconds that resemble one another
chances = st.one_of(
    st.sampled_from([0.025, 0.05, 0.1, 0.5, 0.95, 0.975]),
    st.floats(-15, -0.001).map(lambda power: 10**power),
    st.floats(0.5, 1 - 1e-9),
)


@given(freedoms, st.floats(-40, 40))
def test_the_distribution_is_that_of_scipy(freedom, t):
    assert t_cdf(freedom, t) == pytest.approx(student.cdf(t, freedom), rel=1e-10, abs=1e-290)


@given(freedoms, chances)
def test_quantiles_are_those_of_scipy(freedom, p):
    assert t_quantile(freedom, p) == pytest.approx(special.stdtrit(freedom, p), rel=1e-9, abs=1e-12)


def test_quantiles_in_closed_form():
    # One degree: Cauchy; two: (2p − 1) / √(2p (1 − p)).
    assert t_quantile(1, 1e-12) == pytest.approx(-1 / math.tan(math.pi * 1e-12), rel=1e-13)
    assert t_quantile(2, 0.975) == pytest.approx(0.95 / math.sqrt(2 * 0.975 * 0.025), rel=1e-13)
    assert t_quantile(7, 0.5) == 0.0


def test_infinity_is_beyond_all():
    assert (t_cdf(3, -math.inf), t_cdf(3, math.inf)) == (0.0, 1.0)


@given(st.floats(1, 2000), st.floats(0, 6), st.floats(0.5, 6))
def test_the_noncentral_one_is_that_of_scipy(freedom, shift, bar):
    within = special.nctdtr(freedom, shift, bar) - special.nctdtr(freedom, shift, -bar)
    if not math.isnan(within):
        assert t_beyond(freedom, shift, bar) == pytest.approx(1 - within, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize(
    ("freedom", "shift", "bar", "beyond"),
    [
        (1, 2, 12.706, 0.125758315384893701),
        (1.5, 8.0, 6.0, 0.81326367721922447),
        (7, 3.0, 2.365, 0.730520883260673101),
        (499, 2.8, 1.965, 0.797965549322055055),
        (7, 40.0, 2.365, 1.0),
    ],
)
def test_the_noncentral_one_has_its_digits(freedom, shift, bar, beyond):
    # By mpmath 1.3 with 40 digits: the integral over the χ distribution.
    assert t_beyond(freedom, shift, bar) == pytest.approx(beyond, rel=1e-13)


@given(st.floats(1, 1e5), st.floats(1e-6, 0.4))
def test_without_a_shift_it_is_the_central_one(freedom, p):
    assert t_beyond(freedom, 0.0, -t_quantile(freedom, p)) == pytest.approx(2 * p, rel=1e-9)


def test_large_shifts_and_many_degrees_are_fine():
    assert t_beyond(1, 1e9, 12.7) == 1.0
    assert t_beyond(999_999, 3.0, 1.96) == pytest.approx(normal_cdf(3 - 1.96) + normal_cdf(-3 - 1.96), rel=1e-5)


samples = st.lists(st.floats(-1000, 1000), min_size=2, max_size=12)


@given(samples, samples)
def test_means_are_compared_as_by_scipy(a, b):
    assume(max(a) - min(a) > 1e-3 and max(b) - min(b) > 1e-3)
    expected = ttest_ind(a, b, equal_var=False).pvalue
    assert welch_p(a, b) == pytest.approx(expected, rel=1e-8, abs=1e-290)


def test_one_sample_may_be_without_scatter():
    # t = −1.1 / (0.1/√3) = −19.05 with two degrees of freedom.
    t = 1.1 / (0.1 / 3**0.5)
    assert welch_p([1.0, 1.0, 1.0], [2.0, 2.1, 2.2]) == pytest.approx(1 - t / (2 + t**2) ** 0.5, rel=1e-10)

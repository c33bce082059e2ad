from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special, stats

from plimsoll.stats.distributions.incomplete import (
    beta_log_odds,
    beta_quantile,
    beta_tails,
    deviance,
    gamma_quantile,
    gamma_tails,
    stirling_error,
)

counts = st.one_of(st.integers(1, 1000), st.floats(0, 8).map(lambda power: int(10**power)))
tail_chances = st.one_of(
    st.sampled_from([0.025, 0.975, 0.5]), st.floats(-9, -1e-3).map(lambda power: 10**power), st.floats(0.001, 0.999)
)
LEAST = 1e-290
"""Smaller probabilities are not compared: their logarithm is what is exact to a digit."""


def quantile_of_scipy(a: int, b: int, p: float) -> float:
    """That of its distribution: its own quantiles can be 1e-4 off that, so they are corrected by Newton's method."""
    x = special.betaincinv(a, b, p)
    for _ in range(3):
        x -= (special.betainc(a, b, x) - p) / stats.beta.pdf(x, a, b)
    return float(x)


@given(counts, counts, tail_chances)
@example(3, 96_576_642, 0.975)
@example(99_999_900, 101, 0.025)
@example(1000, 10_000_000, 0.975)
def test_quantiles_of_the_beta_distribution_are_those_of_scipy(a, b, p):
    # scipy itself is 3e-9 off where one is some ten and the other some 10⁸ (see the values to 15 digits below).
    assert beta_quantile(a, b, p) == pytest.approx(quantile_of_scipy(a, b, p), rel=3e-8, abs=0)


@given(counts, counts, st.floats(-9, 9))
def test_tails_of_the_beta_distribution_are_those_of_scipy(a, b, deviations):
    u = math.log(a / b) + deviations * math.sqrt(1 / a + 1 / b)
    x = 1 / (1 + math.exp(-u))
    tails = beta_tails(a, b, x, 1 - x)
    for own, expected in ((tails.lower, special.betainc(a, b, x)), (tails.upper, special.betaincc(a, b, x))):
        assert own == pytest.approx(expected, rel=3e-8, abs=LEAST)


@given(st.floats(0.05, 2000), st.floats(0.05, 2000), st.floats(0.001, 0.999))
def test_so_they_are_where_the_parameters_are_no_counts(a, b, x):
    tails = beta_tails(a, b, x, 1 - x)
    assert tails.lower == pytest.approx(special.betainc(a, b, x), rel=1e-11, abs=LEAST)
    assert tails.upper == pytest.approx(special.betaincc(a, b, x), rel=1e-11, abs=LEAST)


@pytest.mark.parametrize(
    ("a", "b", "x", "lower", "upper"),
    [
        (24, 99_882_052, 3e-7, 0.884143584918998186, 0.115856415081001814),
        (28, 37_439_096, 7.8e-7, 0.612907797133757101, 0.387092202866242899),
        (9_900_001, 100_000, 0.9899, 0.000765212264339947738, 0.999234787735660052),
        (50_000_000, 50_000_000, 0.49985, 0.00134989776572066391, 0.998650102234279336),
    ],
)
def test_with_many_requests_they_have_their_digits(a, b, x, lower, upper):
    # By mpmath 1.3 with 40 digits: the integral of the density, with the logarithm of the gamma function.
    tails = beta_tails(a, b, x, 1 - x)
    assert tails[:2] == (pytest.approx(lower, rel=1e-11), pytest.approx(upper, rel=1e-11))
    assert beta_quantile(a, b, lower) == pytest.approx(x, rel=1e-12)


@pytest.mark.parametrize("p", [1e-30, 0.2, 0.5, 0.9, 1 - 2**-53])
def test_odds_are_exact_also_next_to_0_and_1(p):
    # I_x(a, 1) = x^a.
    assert beta_log_odds(1, 1, p) == pytest.approx(math.log(p / (1 - p)), rel=1e-13, abs=1e-15)
    assert beta_log_odds(1e-3, 1, 0.5) == pytest.approx(-1000 * math.log(2), rel=1e-13)
    assert beta_log_odds(1, 1e-3, 0.5) == pytest.approx(1000 * math.log(2), rel=1e-13)


@given(st.one_of(st.floats(0.05, 200), st.floats(0, 5).map(lambda power: 10**power)), st.floats(-9, 9))
def test_tails_of_the_gamma_distribution_are_those_of_scipy(a, deviations):
    x = a * math.exp(deviations / math.sqrt(a)) if a > 1 else 10**deviations
    tails = gamma_tails(a, x)
    for own, expected in ((tails.lower, special.gammainc(a, x)), (tails.upper, special.gammaincc(a, x))):
        assert own == pytest.approx(expected, rel=1e-10, abs=LEAST)


@given(st.one_of(st.integers(1, 1000), st.floats(0.5, 1e5)), tail_chances)
def test_quantiles_of_the_gamma_distribution_are_those_of_scipy(a, p):
    assert gamma_quantile(a, p) == pytest.approx(special.gammaincinv(a, p), rel=1e-10, abs=0)


@pytest.mark.parametrize(
    ("a", "x", "lower", "upper"),
    [
        (1e6, 1_003_000.0, 0.998638259353782409, 0.00136174064621759148),
        (1e8, 99_980_000.0, 0.0227447325815935581, 0.977255267418406442),
        (1e8, 100_020_000.0, 0.977244469225144797, 0.0227555307748552026),
        (88_153_476.0, 88_105_501.0, 1.6057707052889972e-7, 0.999999839422929471),
    ],
)
def test_with_many_requests_the_gamma_distribution_has_its_digits(a, x, lower, upper):
    # By mpmath, as above. scipy 1.17.1 has 1.0974e-7 for the last one.
    tails = gamma_tails(a, x)
    assert tails[:2] == (pytest.approx(lower, rel=1e-11), pytest.approx(upper, rel=1e-11))
    assert gamma_quantile(a, lower) == pytest.approx(x, rel=1e-12)


@given(st.floats(0.5, 1e6), tail_chances)
def test_quantiles_are_inverses(a, p):
    x = gamma_quantile(a, p)
    assert gamma_tails(a, x).lower == pytest.approx(p, rel=1e-9)
    odds = math.exp(beta_log_odds(a, a + 1, p))
    assert beta_tails(a, a + 1, odds / (1 + odds), 1 / (1 + odds)).lower == pytest.approx(p, rel=1e-9)


def test_beyond_the_range_all_is_on_one_side():
    assert beta_tails(2, 3, 0.0, 1.0) == (0.0, 1.0, 0.0)
    assert beta_tails(2, 3, 1.0, 0.0) == (1.0, 0.0, 0.0)
    assert gamma_tails(2, 0.0) == (0.0, 1.0, 0.0)


@given(st.floats(0.001, 170))
def test_stirlings_formula_with_its_error_is_the_factorial(z):
    logarithm = (z + 0.5) * math.log(z) - z + math.log(2 * math.pi) / 2 + stirling_error(z)
    assert logarithm == pytest.approx(math.lgamma(z + 1), rel=1e-13, abs=1e-13)


@given(st.floats(0.01, 1e9), st.floats(-0.5, 0.5))
def test_the_deviance_is_as_exact_near_the_mean(mean, away):
    x = mean * (1 + away)
    relative = x / mean - 1
    # Its series, where the logarithm would lose all digits.
    expected = (
        mean * relative**2 / 2 * (1 - relative / 3) if abs(relative) < 1e-4 else x * math.log(x / mean) + mean - x
    )
    assert deviance(x, mean) == pytest.approx(expected, rel=1e-7)

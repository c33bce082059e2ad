from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from scipy.optimize import brentq

from plimsoll.stats.distributions.normal import normal_cdf, normal_quantile, root


@given(st.floats(-37, 37))
def test_the_distribution_is_that_of_scipy(x):
    assert normal_cdf(x) == pytest.approx(special.ndtr(x), rel=1e-12, abs=0)


@given(st.one_of(st.floats(1e-300, 0.5), st.floats(0.5, 1 - 2**-53), st.floats(-300, -1).map(lambda power: 10**power)))
def test_quantiles_are_those_of_scipy(p):
    assert normal_quantile(p) == pytest.approx(special.ndtri(p), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        (lambda x: x**3 - 2 * x - 5, 2, 3),
        (lambda x: math.exp(-x) - 1e-9, 0, 1000),
        (lambda x: x - 1e-7, -1, 1e6),
        (lambda x: math.copysign(1, x - math.pi), 0, 10),
    ],
)
def test_roots_are_those_of_scipy(function, low, high):
    assert root(function, low, high) == pytest.approx(brentq(function, low, high, xtol=1e-15), rel=1e-9)
    assert root(lambda x: -function(x), low, high) == pytest.approx(root(function, low, high), rel=1e-11)


def test_a_root_at_an_end_is_found():
    assert root(lambda x: x - 2, 2, 3) == 2
    assert root(lambda x: x - 3, 2, 3) == 3


def test_a_flat_root_is_found():
    assert root(lambda x: (x - 1) ** 9, 0, 3) == pytest.approx(1, rel=1e-9)


def test_few_calls_are_enough():
    calls = []

    def function(x: float) -> float:
        calls.append(x)
        return math.exp(x) - 10

    assert root(function, 0, 10) == pytest.approx(math.log(10), rel=1e-12)
    assert len(calls) < 15


def test_without_a_root_it_says_so():
    with pytest.raises(ValueError, match="no root between 0 and 1"):
        root(lambda x: 1 + x, 0, 1)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, theilslopes

from plimsoll.stats.distributions.trends import kendall_p, theil_sen

series = st.one_of(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50),
    st.lists(st.integers(0, 5).map(float), min_size=2, max_size=80),  # many that are equal
    st.integers(2, 90).map(lambda n: list(range(n))),  # a perfect trend
    st.integers(2, 200).map(lambda n: [0.0, *range(n, 0, -1)]),  # but for one pair
)


@given(series)
def test_slopes_are_those_of_scipy(values):
    places = np.arange(len(values)) * 10.0
    found, expected = theil_sen(places, values), theilslopes(values, places, 0.95)
    assert found == pytest.approx((expected.slope, expected.low_slope, expected.high_slope), rel=1e-12, abs=1e-12)


def test_points_at_the_same_place_have_no_slope():
    x, y = [0, 0, 1, 2, 2, 3], [5, 6, 7, 9, 8, 11]
    expected = theilslopes(y, x, 0.95)
    assert theil_sen(x, y) == pytest.approx((expected.slope, expected.low_slope, expected.high_slope))


@given(series)
def test_trends_are_those_of_scipy(values):
    expected = kendalltau(np.arange(len(values)), values).pvalue
    assert kendall_p(values) == pytest.approx(1.0 if np.isnan(expected) else expected, rel=1e-9, abs=1e-290)


def test_equal_values_have_no_trend():
    assert kendall_p([3.0] * 12) == 1.0
    assert theil_sen(range(12), [3.0] * 12) == (0.0, 0.0, 0.0)


def test_of_four_in_order_one_case_in_twelve():
    assert kendall_p([1, 2, 3, 4]) == kendall_p([9, 7, 5, 1]) == pytest.approx(2 / 24)

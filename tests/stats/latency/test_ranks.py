from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, quantile_test

from plimsoll.stats.latency.ranks import above, comparable_requests, least_requests, order_ranks, rank


@pytest.mark.parametrize(
    ("n", "p", "ranks"),
    [
        (6, 0.5, (1, 6)),
        (10, 0.5, (2, 9)),
        (59, 0.95, (52, None)),
        (72, 0.95, (64, 72)),
        (100, 0.99, (97, None)),
        (368, 0.99, (360, 368)),
        (1000, 0.99, (983, 997)),
        (8579, 0.99, (8475, 8512)),
        (10_000, 0.99, (9880, 9920)),
        (10_000, 0.999, (9983, 9997)),
        (5, 0.5, (None, None)),
        (0, 0.5, (None, None)),
    ],
)
def test_published_ranks(n, p, ranks):
    assert order_ranks(n, p) == ranks


@pytest.mark.parametrize(
    ("p", "two_sided", "one_sided"),
    [(0.5, 6, 5), (0.9, 36, 29), (0.95, 72, 59), (0.99, 368, 299), (0.999, 3688, 2995), (0.9999, 36887, 29956)],
)
def test_least_requests(p, two_sided, one_sided):
    assert (least_requests(p), least_requests(p, sides=1)) == (two_sided, one_sided)
    assert order_ranks(two_sided, p)[1] is not None
    assert None in order_ranks(two_sided - 1, p)


@pytest.mark.parametrize(("n", "p"), [(400, 0.99), (50, 0.5), (200, 0.9), (1234, 0.95), (3700, 0.999)])
def test_ranks_are_those_of_scipys_test(n, p):
    interval = quantile_test(np.arange(1, n + 1), p=p).confidence_interval(0.95)
    assert order_ranks(n, p) == (interval.low, interval.high)


@given(n=st.integers(1, 3000), p=st.floats(0.01, 0.99), confidence=st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_they_enclose_the_quantile_as_often_as_they_say_and_are_the_tightest(n, p, confidence):
    half = (1 - confidence) / 2
    low, high = order_ranks(n, p, confidence)
    assert low is None or binom.cdf(low - 1, n, p) <= half
    assert binom.cdf(low or 0, n, p) > half
    assert high is None or binom.sf(high - 1, n, p) <= half
    assert binom.sf((high or n + 1) - 2, n, p) > half
    if low and high:
        assert low < high
        assert low <= rank(n, p) + 1
        assert high >= rank(n, p)


def test_a_tail_that_is_exactly_the_chance_allowed_counts():
    # Of two values the smaller is above the median in just one case of four.
    assert order_ranks(2, 0.5, confidence=0.5) == (1, 2)


@given(n=st.integers(7, 2000), p=st.floats(0.01, 0.99))
def test_they_mirror(n, p):
    low, high = order_ranks(n, p)
    mirrored_low, mirrored_high = order_ranks(n, 1 - p)
    assert mirrored_high == (None if low is None else n + 1 - low)
    assert mirrored_low == (None if high is None else n + 1 - high)


def test_what_it_takes_to_compare():
    assert [comparable_requests(p) for p in (0.5, 0.95, 0.99, 0.999, 0.01)] == [200, 2000, 10_000, 100_000, 10_000]


@pytest.mark.parametrize(
    ("n", "p", "value", "tail"),
    [(45, 0.99, 45, 1), (100, 0.99, 99, 2), (1000, 0.99, 990, 11), (10, 0.5, 5, 6), (1, 0.01, 1, 1)],
)
def test_what_a_percentile_rests_on(n, p, value, tail):
    assert (rank(n, p), above(n, p)) == (value, tail)


@pytest.mark.parametrize("p", [0.0, 1.0, -1, 99])
def test_what_is_no_quantile(p):
    for function in (lambda: order_ranks(10, p), lambda: least_requests(p), lambda: comparable_requests(p)):
        with pytest.raises(ValueError, match="between 0 and 1"):
            function()

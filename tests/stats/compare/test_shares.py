from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from plimsoll.stats.compare.shares import FailureCount, difference
from plimsoll.stats.proportions import none_of

TOLERANCE = 0.001


def several(a, b, requests=10_000):
    return [(FailureCount(x, requests), FailureCount(y, requests)) for x, y in zip(a, b, strict=True)]


def test_no_failure_anywhere_is_as_good_as_the_number_of_requests():
    many = difference(several([0] * 3, [0] * 3), TOLERANCE)
    assert (many.word, many.value, many.p, many.beyond) == ("equivalent", 0.0, 1.0, False)
    assert (many.low, many.high) == (-none_of(30_000), none_of(30_000))
    few = difference(several([0] * 3, [0] * 3, requests=900), TOLERANCE)
    assert few.word == "not distinguishable"
    assert few.high > TOLERANCE
    assert difference(several([0], [0]), TOLERANCE).word is None


def test_many_more_failures_are_seen():
    found = difference(several([3, 5, 4, 2], [210, 190, 205, 199]), TOLERANCE)
    assert (found.word, found.beyond) == ("different", True)
    assert found.value == pytest.approx((804 - 14) / 40_000)
    assert found.low > TOLERANCE
    assert found.p < 0.001


def test_shares_that_differ_by_less_than_is_tolerated():
    found = difference(several([30, 31, 29, 30, 30], [33, 32, 33, 34, 31], requests=1_000_000), TOLERANCE)
    assert found.word in ("equivalent", "negligible")
    assert found.high < TOLERANCE


def test_equal_counts_are_no_certainty():
    found = difference(several([2, 2, 2], [2, 2, 2], requests=500), TOLERANCE)
    assert found.word == "not distinguishable"
    assert found.high - found.low > 0.005


def test_a_side_without_failures_is_not_known_to_have_none():
    found = difference(several([0] * 3, [2] * 3, requests=500), TOLERANCE)
    shares = 0.5 / 1501, 6.5 / 1501
    error = math.sqrt(sum(each * (1 - each) / 500 for each in shares) / 3)
    assert (found.high - found.low) / 2 == pytest.approx(t.isf(0.025, 2) * error)


def test_a_share_swings_between_runs_more_than_by_chance():
    steady = difference(several([10] * 5, [40, 41, 39, 40, 40]), TOLERANCE)
    swinging = difference(several([10] * 5, [0, 120, 5, 60, 15]), TOLERANCE)
    assert steady.word == "different"
    assert swinging.word == "not distinguishable"


@pytest.mark.parametrize("count", [1, 2])
def test_with_one_or_two_pairs_there_is_an_interval_and_no_word(count):
    found = difference(several([20] * count, [500] * count), TOLERANCE)
    assert (found.word, found.p, found.beyond) == (None, None, True)
    assert found.low < 0.048 < found.high
    assert not difference(several([20] * count, [25] * count), TOLERANCE).beyond


counts = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), min_size=1, max_size=6)


@given(counts)
def test_swapping_the_two_mirrors_everything(pairs):
    a, b = zip(*pairs, strict=True)
    one, other = difference(several(a, b), TOLERANCE), difference(several(b, a), TOLERANCE)
    assert (one.word, one.beyond) == (other.word, other.beyond)
    assert [one.value, one.low, one.high] == pytest.approx([-other.value, -other.high, -other.low], abs=1e-9)


@given(counts)
def test_the_difference_lies_in_its_interval(pairs):
    found = difference(several(*zip(*pairs, strict=True)), TOLERANCE)
    assert -1 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1


def test_identical_systems_are_seldom_called_different():
    rng = np.random.default_rng(3)
    alarms = 0
    for _ in range(300):
        a, b = rng.binomial(5000, 0.004, size=(2, 5))
        word = difference(several(a.tolist(), b.tolist(), requests=5000), TOLERANCE).word
        alarms += word in ("different", "negligible")
    assert alarms / 300 < 0.08

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.stats.latency.warmup import WarmUp, mser5, short_trend


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=60))
def test_the_cut_has_the_least_score_as_the_paper_defines_it(means):
    found = mser5(np.repeat(means, 5))
    scores = [np.var(means[cut:]) / (len(means) - cut) for cut in range(len(means) // 2 + 1)]
    least = 1e-9 * max(means) ** 2 / len(means)
    assert scores[found.seconds // 5] <= min(scores) * (1 + 1e-9) + least


def test_a_head_that_falls_is_cut():
    found = mser5([300 - 8 * i for i in range(20)] + [141, 139] * 40)
    assert (found.seconds, found.stationary, found.cold) == (20, True, True)
    assert found.excess == pytest.approx((300 - 8 * 9.5) / 140)


def test_alternating_seconds_are_alike():
    assert mser5([101, 99] * 100) == WarmUp(0, True)
    assert mser5([101, 99] * 50) == WarmUp(0, True)


def test_a_steady_rise_has_no_steady_state():
    found = mser5([100 + i for i in range(100)])
    assert (found.seconds, found.stationary, found.cold) == (50, False, False)


def test_noise_is_seldom_called_a_trend_and_never_a_warm_up():
    rng = np.random.default_rng(5)
    for seconds in (20, 30, 60, 300):
        found = [mser5(100 + rng.normal(size=seconds)) for _ in range(200)]
        assert sum(not each.stationary for each in found) <= 6
        assert not any(each.cold for each in found)


def test_a_rise_beneath_the_noise_of_a_minute_is_seen():
    rng = np.random.default_rng(6)
    found = [mser5(100 + np.arange(60) + rng.normal(size=60)) for _ in range(50)]
    assert sum(not each.stationary for each in found) >= 45


@pytest.mark.parametrize("values", [[], [5.0] * 9, [math.nan] * 100])
def test_too_little_to_tell(values):
    assert mser5(values) == WarmUp(0, True)


def test_seconds_without_any_do_not_count():
    values = [300.0 - 8 * i for i in range(20)] + [140.0] * 80
    values[::7] = [math.nan] * len(values[::7])
    values[40:50] = [math.nan] * 10
    assert mser5(values).seconds == 20


@given(st.floats(1e-3, 1e6), st.integers(2, 60))
def test_equal_seconds_have_no_warm_up(value, batches):
    assert mser5([value] * (batches * 5)) == WarmUp(0, True)


@given(st.lists(st.floats(1, 1000), min_size=10, max_size=100), st.floats(0.01, 100))
def test_the_unit_does_not_matter(values, unit):
    one, other = mser5(values), mser5([unit * each for each in values])
    assert (one.seconds, one.stationary) == (other.seconds, other.stationary)
    assert other.excess == pytest.approx(one.excess)


@pytest.mark.parametrize("seconds", [10, 11, 20, 24, 29])
def test_a_short_run_that_grows_all_the_time_has_a_trend(seconds):
    assert short_trend(np.linspace(9, 78, seconds))
    assert short_trend(np.linspace(78, 9, seconds))
    assert not short_trend(np.linspace(50, 78, seconds)), "less than twofold"


def test_too_few_seconds_and_those_of_a_long_run_have_no_short_trend():
    assert not short_trend(np.linspace(9, 78, 9))
    assert not short_trend(np.linspace(9, 78, 30))


def test_seconds_that_resemble_their_neighbours_seldom_have_a_short_trend():
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(1000):
        steps = rng.normal(size=70)
        state = [0.0]
        for step in steps:
            state.append(0.8 * state[-1] + 0.6 * step)
        found += short_trend(np.exp(0.2 * np.array(state[-int(rng.integers(10, 30)) :])))
    assert found <= 10

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp
from statsmodels.stats.power import TTestPower

from plimsoll.stats.compare.planning import (
    MOST,
    _power,
    best_duration,
    longer_runs,
    look_alphas,
    look_of,
    minutes,
    pairs_for_power,
    pairs_needed,
    resolves,
)


def test_the_worked_example():
    spread = 0.05745
    assert resolves(spread, 5) == pytest.approx(0.074, abs=5e-4)
    assert pairs_needed(spread, 0.05) == 8
    assert math.ceil(pairs_for_power(spread, 0.05)) == 13
    assert minutes(8 - 5, 300, 60) == 36


@pytest.mark.parametrize(("spread", "pairs"), [(0.03, 5.19), (0.05, 10.33), (0.09, 28.69)])
def test_pairs_for_a_power_of_80_percent(spread, pairs):
    assert pairs_for_power(spread, 0.05) == pytest.approx(pairs, abs=0.005)


@pytest.mark.parametrize("effect", [0.05, 0.3, 1.0, 3.0, 30.0])
@pytest.mark.parametrize("pairs", [2, 3, 10, 500])
def test_the_power_is_that_of_statsmodels(effect, pairs):
    expected = TTestPower().power(effect, pairs, 0.05)
    assert _power(effect, pairs, 0.05) == pytest.approx(1.0 if math.isnan(expected) else expected, abs=1e-9)


def test_so_many_pairs_do_find_it_so_often():
    rng = np.random.default_rng(1)
    found = ttest_1samp(math.log1p(0.05) + 0.05 * rng.normal(size=(4000, 11)), 0, axis=1).pvalue < 0.05
    assert found.mean() == pytest.approx(0.83, abs=0.03)


@given(st.floats(1e-4, 1.0), st.floats(0.005, 0.5))
def test_the_fewest_pairs_resolve_it_and_one_less_does_not(spread, delta):
    pairs = pairs_needed(spread, delta)
    assert resolves(spread, pairs) <= delta * (1 + 1e-9)
    assert pairs >= 3
    if pairs > 3:
        assert resolves(spread, pairs - 1) > delta


def test_what_no_number_of_pairs_resolves():
    assert pairs_needed(100.0, 0.001) == MOST
    assert pairs_for_power(100.0, 0.001) is None


def test_no_spread_at_all():
    assert pairs_needed(0.0, 0.05) == 3
    assert pairs_for_power(0.0, 0.05) == 2.0
    assert pairs_for_power(1e-6, 0.05) == 2.0


def test_longer_runs_when_their_own_chance_dominates():
    assert not longer_runs(within=0.0010, spread=math.sqrt(0.0016))
    assert longer_runs(within=0.0011, spread=math.sqrt(0.0016))
    assert longer_runs(within=0.0020, spread=math.sqrt(0.0016))


def test_the_best_duration_gives_the_shortest_interval_for_the_time():
    # Of one run of T seconds: variance w1/T + σ_b²; of a fixed time, T0 + T per run.
    within, duration, between, setup = 0.0018, 300.0, 0.0004, 60.0
    best = best_duration(within, duration, math.sqrt(within + 2 * between), setup)

    def cost(seconds: float) -> float:
        return (within / 2 * duration / seconds + between) * (setup + seconds)

    assert cost(best) < min(cost(0.9 * best), cost(1.1 * best))
    assert best == pytest.approx(math.sqrt(within / 2 * duration * setup / between))
    assert best_duration(within, duration, 0.99 * math.sqrt(within), setup) is None


@pytest.mark.parametrize(
    ("looks", "alphas"),
    [(1, (0.05,)), (2, (0.0056, 0.0444)), (3, (0.0007, 0.0157, 0.0336)), (5, (1e-5, 0.0019, 0.0095, 0.0170, 0.0216))],
)
def test_what_each_look_may_spend(looks, alphas):
    assert look_alphas(looks) == tuple(pytest.approx(each, abs=5.1e-5) for each in alphas)


@pytest.mark.parametrize("looks", range(1, 21))
def test_looks_never_spend_more_than_one_experiment(looks):
    assert sum(look_alphas(looks)) == pytest.approx(0.05, abs=1e-12)
    assert all(each > 0 for each in look_alphas(looks))


@pytest.mark.long
def test_declared_looks_keep_the_rate_of_false_alarms_and_peeking_does_not():
    rng = np.random.default_rng(2)
    pairs = rng.normal(size=(4000, 12))

    def alarms(looks):
        ps = [(ttest_1samp(pairs[:, :k], 0, axis=1).pvalue, threshold) for k, threshold in looks]
        return np.any([p < threshold for p, threshold in ps], axis=0).mean()

    assert alarms(zip((4, 8, 12), look_alphas(3), strict=True)) < 0.05
    assert alarms(zip(range(3, 13), look_alphas(10), strict=True)) < 0.05, "with few pairs as well"
    assert alarms((k, 0.05) for k in range(3, 13)) > 0.15


@pytest.mark.parametrize(
    ("pairs", "planned", "looks", "look"),
    [(12, 12, 3, 3), (8, 12, 3, 2), (7, 12, 3, 1), (4, 12, 3, 1), (1, 12, 3, 1), (5, None, 3, 3), (13, 12, 2, 2)],
)
def test_which_look_it_is(pairs, planned, looks, look):
    assert look_of(pairs, planned, looks) == look

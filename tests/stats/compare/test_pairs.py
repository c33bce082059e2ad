from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, permutation_test, ttest_1samp
from statsmodels.stats.weightstats import ttost_paired

from plimsoll.stats.compare.pairs import benjamini_hochberg, flipped, log_ratios, paired
from plimsoll.stats.study import Noise

FIVE = [200, 196, 210, 190, 204], [212, 188, 236, 199, 218]
SIX = [200, 202, 198, 201, 199, 200]
EQUIVALENT = SIX, [200.5, 201.5, 198.5, 200.2, 199.6, 200.3]
DIFFERENT = SIX, [240, 238, 243, 239, 241, 244]
NEGLIGIBLE = SIX, [204, 206, 202, 205, 203, 204.5]
MARGIN = math.log1p(0.05)
HISTORY = Noise("p99", ("GET", "/"), None, variance=0.02**2, freedom=10)

several = st.lists(st.floats(-1, 1).filter(lambda x: abs(x) > 1e-6), min_size=3, max_size=10)


@pytest.mark.parametrize(
    ("runs", "ratio", "low", "high", "verdict"),
    [
        (FIVE, 1.05043, 0.97810, 1.12810, ("not distinguishable", False)),
        (EQUIVALENT, 1.00051, 0.99739, 1.00364, ("equivalent", False)),
        (DIFFERENT, 1.20415, 1.18464, 1.22397, ("different", True)),
        (NEGLIGIBLE, 1.02042, 1.01934, 1.02150, ("negligible", False)),
    ],
)
def test_the_worked_examples(runs, ratio, low, high, verdict):
    found = paired(log_ratios(*runs))
    assert [round(math.exp(each), 5) for each in (found.centre, *found.interval)] == [ratio, low, high]
    assert found.verdict(MARGIN) == verdict


def test_their_spread_and_their_p():
    found = paired(log_ratios(*FIVE))
    assert [round(each, 5) for each in (found.spread, found.p, found.p_flip)] == [0.05745, 0.12805, 0.125]
    assert paired(log_ratios(*DIFFERENT)).p_flip == 0.03125


def test_apart_but_perhaps_by_less_than_delta():
    found = paired([0.02, 0.07, 0.05, 0.06, 0.04])
    assert found.interval[0] > 0
    assert found.interval[0] < MARGIN < found.interval[1]
    assert found.verdict(MARGIN) == ("different", False)


@given(several)
def test_t_and_equivalence_are_those_of_the_libraries(differences):
    if np.std(differences) < 1e-9:
        return
    found = paired(differences)
    expected = ttest_1samp(differences, 0)
    interval = expected.confidence_interval(0.95)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-9)
    assert found.interval == (pytest.approx(interval.low), pytest.approx(interval.high))
    p = ttost_paired(np.array(differences), np.zeros(len(differences)), -MARGIN, MARGIN)[0]
    assert found.p_beyond(MARGIN) == pytest.approx(p, abs=1e-9)


@given(several)
def test_flipping_signs_is_the_exact_permutation_test(differences):
    expected = permutation_test(
        (np.array(differences),), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=False
    )
    assert flipped(differences) == pytest.approx(expected.pvalue)


@given(several, st.floats(0.01, 0.2))
def test_swapping_the_two_mirrors_everything(differences, margin):
    one, other = paired(differences), paired([-each for each in differences])
    assert one.verdict(margin) == other.verdict(margin)
    assert one.p == pytest.approx(other.p)
    assert one.p_flip == other.p_flip
    assert one.interval == (pytest.approx(-other.interval[1]), pytest.approx(-other.interval[0]))


@given(st.lists(st.tuples(st.floats(1, 1e4), st.floats(1, 1e4)), min_size=3, max_size=8), st.floats(1e-3, 1e3))
def test_the_unit_does_not_matter(runs, unit):
    a, b = zip(*runs, strict=True)
    scaled = log_ratios([unit * each for each in a], [unit * each for each in b])
    assert scaled == pytest.approx(log_ratios(a, b), abs=1e-9)


def test_without_a_spread_between_runs_nothing_follows():
    assert paired([]) is None
    assert paired([0.1]) is None


def test_a_few_pairs_lean_on_the_history_of_the_bench():
    alone = paired([0.10], history=HISTORY)
    assert (alone.with_history, alone.freedom, alone.spread) == (True, 10, pytest.approx(0.02))
    two = paired([0.08, 0.12], history=HISTORY)
    assert two.freedom == 11
    assert two.spread**2 == pytest.approx((10 * 0.02**2 + 0.0008) / 11)
    assert two.interval[0] > 0 > paired([0.08, 0.12]).interval[0]
    four = paired([0.08, 0.12, 0.1, 0.1], history=HISTORY)
    assert (four.with_history, four.freedom) == (False, 3)


def test_runs_that_round_to_the_same_are_not_known_exactly():
    none = paired([0.0] * 5)
    assert none.verdict(MARGIN) == ("equivalent", False)
    rounded = paired([math.log(210 / 200)] * 3, floor=0.02)
    assert rounded.spread == 0.02
    assert rounded.verdict(MARGIN)[1] is False
    assert paired([0.0, 0.2, 0.4], floor=0.02).spread == pytest.approx(0.2)


def test_no_spread_at_all():
    same, apart = paired([0.0] * 3), paired([0.125] * 4)
    assert (same.p, apart.p) == (1.0, 0.0)
    assert apart.verdict(MARGIN) == ("different", True)


def test_with_an_earlier_look_the_bar_is_higher():
    differences = log_ratios(*NEGLIGIBLE)
    last, first = paired(differences), paired(differences, alpha=0.0005)
    assert first.p == last.p
    assert first.interval[0] < last.interval[0]
    assert paired([0.02, 0.07, 0.05, 0.06, 0.04], alpha=0.0005).verdict(MARGIN)[0] == "not distinguishable"


@pytest.mark.parametrize(("a", "b"), [([0.0], [1.0]), ([1.0], [-1.0]), ([1.0], [math.nan])])
def test_what_has_no_ratio(a, b):
    with pytest.raises(ValueError, match="above 0"):
        log_ratios(a, b)
    with pytest.raises(ValueError):
        log_ratios([1.0, 2.0], [1.0])


def test_signs_of_many_pairs_are_not_all_tried():
    assert flipped([0.1] * 20) == pytest.approx(2**-19)
    assert flipped([0.1] * 21) is None
    assert flipped([]) is None


def test_intervals_from_runs_hold_the_truth_and_those_from_pooled_requests_do_not():
    """Medians of 3000 requests, runs 6 % apart, no difference between a and b."""
    rng = np.random.default_rng(7)
    k, requests, sigma, trials = 5, 3000, 0.5, 300
    held = pooled_held = 0
    for _ in range(trials):
        runs = np.exp(0.06 * rng.normal(size=(2, k, 1)) + sigma * rng.normal(size=(2, k, requests)))
        medians = np.median(runs, axis=2)
        low, high = paired(log_ratios(medians[0], medians[1])).interval
        held += low <= 0 <= high
        logs = np.log(np.sort(runs.reshape(2, -1), axis=1))
        centre = float(np.subtract(*np.median(logs, axis=1)[::-1]))
        error = math.sqrt(2 * 0.25 / (k * requests)) * sigma / norm.pdf(0)  # iid error of a median of logs
        pooled_held += abs(centre) <= 1.96 * error
    assert held / trials > 0.91
    assert pooled_held / trials < 0.7


def test_drift_spares_interleaved_pairs_only():
    rng = np.random.default_rng(8)
    k, trials = 5, 1000
    drift = 0.3 * np.arange(2 * k) / (2 * k)
    held = {"interleaved": 0, "one after the other": 0}
    for _ in range(trials):
        values = drift + 0.06 * rng.normal(size=2 * k)
        flips = rng.integers(0, 2, size=k)
        a, b = values[2 * np.arange(k) + flips], values[2 * np.arange(k) + 1 - flips]
        for name, differences in (("interleaved", b - a), ("one after the other", values[k:] - values[:k])):
            low, high = paired(differences).interval
            held[name] += low <= 0 <= high
    assert held["interleaved"] / trials > 0.92
    assert held["one after the other"] / trials < 0.4


def test_the_example_of_benjamini_and_hochberg():
    ps = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216]
    adjusted = [0.01, 0.04, 0.084, 0.084, 0.084, 0.1, 0.10571, 0.216, 0.216, 0.216]
    assert [round(each, 5) for each in benjamini_hochberg(ps)] == adjusted


def test_no_and_one_p_value():
    assert benjamini_hochberg([]) == []
    assert benjamini_hochberg([0.03]) == [0.03]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_they_stay_in_place_and_in_order_and_never_fall(ps):
    adjusted = benjamini_hochberg(ps)
    assert all(p <= q + 1e-12 <= 1 + 1e-9 for p, q in zip(ps, adjusted, strict=True))
    by_p = sorted(zip(ps, adjusted, strict=True))
    assert [q for _, q in by_p] == sorted(adjusted)
    assert max(adjusted) == pytest.approx(max(ps))


def test_a_p_value_that_is_no_probability():
    with pytest.raises(ValueError):
        benjamini_hochberg([1.2])

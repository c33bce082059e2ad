import json
import math
from pathlib import Path

import numpy as np
import pytest

from plimsoll.say.remarks import caveats
from plimsoll.stats.compare import trend
from plimsoll.stats.compare.trend import ENOUGH, MAX_P, changes, outliers, p_of, split

OTAVA = json.loads((Path(__file__).parent / "otava.json").read_text())
"""What Apache Otava says of some series; with its version, and the call."""
CASES = [pytest.param(case, id=case["name"]) for case in OTAVA["cases"]]


def found(values, **given):
    return [each.index for each in changes(values, **given).changes]


def of_population(left, right):
    """Otava's test: with the deviations of a population."""
    n, m = len(left), len(right)
    if n + m <= 2 or left.mean() == right.mean():
        return 1.0
    # A t-test of samples whose squares add up to that much less.
    smaller = [each.mean() + (each - each.mean()) * math.sqrt((len(each) - 1) / len(each)) for each in (left, right)]
    return p_of(*smaller)


@pytest.mark.parametrize("case", CASES)
def test_with_otavas_own_test_it_finds_what_otava_finds(case, monkeypatch):
    monkeypatch.setattr(trend, "p_of", of_population)
    assert split(np.array(case["values"])) == case["weak"]
    assert found(case["values"]) == [each["index"] for each in case["changes"]]
    for own, other in zip(changes(case["values"]).changes, case["changes"], strict=True):
        if len(case["weak"]) == len(case["changes"]):
            # Where Otava takes a point back, it does not look again at the one before it.
            assert (own.before, own.after) == pytest.approx((other["before"], other["after"]), rel=1e-9)
            assert own.p == pytest.approx(other["p"], rel=1e-6, abs=1e-300)


@pytest.mark.parametrize("case", CASES)
def test_the_deviations_of_samples_make_it_no_less_careful(case):
    """Points are the same but for those that rest on very few runs."""
    theirs = [each["index"] for each in case["changes"]]
    assert set(found(case["values"])) <= set(theirs)
    if len(case["values"]) >= ENOUGH:
        assert found(case["values"]) == theirs


@pytest.mark.parametrize("seed", range(8))
def test_a_step_is_found_where_it_is(seed):
    random = np.random.default_rng(seed)
    values = np.r_[random.normal(100, 2, 20), random.normal(115, 2, 20)]
    (one,) = changes(values).changes
    assert one.index == 20
    assert one.before == pytest.approx(values[:20].mean())
    assert one.after == pytest.approx(values[20:].mean())
    assert one.change == pytest.approx(0.15, abs=0.03)
    assert one.p < MAX_P
    assert one.runs == 20


def test_steps_are_the_means_between_changes():
    values = [10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 20.0, 20.1, 19.9, 20.0, 20.1, 19.9]
    steps = changes(values).steps
    assert [(each.start, each.stop) for each in steps] == [(0, 6), (6, 12)]
    assert [each.mean for each in steps] == [pytest.approx(10), pytest.approx(20)]


def test_noise_has_few_changes():
    random = np.random.default_rng(5)
    alarms = sum(bool(found(random.normal(100, 5, 50))) for _ in range(300))
    # 2 % as simulated: more than 20 of 300 would be a chance of 1 in 10,000.
    assert alarms <= 20


def test_which_way_is_worse_is_said_by_who_asks():
    rising = [1.0, 1.1, 0.9, 1.0, 1.1, 2.0, 2.1, 1.9, 2.0, 2.1]
    assert [each.is_worse for each in changes(rising).changes] == [True]
    assert [each.is_worse for each in changes(rising, higher_is_worse=False).changes] == [False]
    assert [each.is_worse for each in changes(rising[::-1]).changes] == [False]
    assert [each.is_worse for each in changes(rising[::-1], higher_is_worse=False).changes] == [True]


def test_too_few_runs_are_said_with_how_many_are_needed():
    assert changes([]).steps == ()
    assert "There are no runs; at least 10 are needed" in next(caveats(changes([])))
    assert "There is 1 run; at least 10" in next(caveats(changes([3.0])))
    assert changes([3.0]).steps[0].mean == 3.0
    assert "There are 9 runs" in next(caveats(changes([3.0] * 9)))
    assert tuple(caveats(changes([3.0] * ENOUGH))) == ()


def test_a_change_at_the_very_end_may_be_an_outlier_and_that_is_said():
    random = np.random.default_rng(1)
    calm = list(random.normal(10, 0.1, 20))
    assert tuple(caveats(changes([*calm, 12.0]))) == (
        "The last change rests on the last run only: it may be an outlier.",
    )
    assert "the last 2 runs only" in next(caveats(changes([*calm, 12.0, 12.1])))
    assert tuple(caveats(changes([*calm, 12.0, 12.1, 11.9]))) == ()


def test_one_outlier_does_not_hide_a_step():
    rng = np.random.default_rng(9)
    for outlier in (3, 12, 22):
        values = np.repeat([100.0, 120.0], 15) * np.exp(0.04 * rng.normal(size=30))
        values[outlier] *= 5
        found = changes(values)
        assert any(abs(each.index - 15) <= 1 for each in found.changes)
        assert found.steps[0].mean == pytest.approx(100, rel=0.05)
        assert tuple(caveats(found)) == ("1 of 30 runs is far from those around it, and left out of the steps.",)


def test_a_step_is_no_outlier():
    values = np.array([100.0, 101, 99, 100.5, 99.5, 100, 101, 99, 100, 300, 301, 299])
    assert not outliers(values).any()
    assert [each.index for each in changes(values).changes] == [9]


def test_what_is_no_number_is_refused():
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="leave out"):
            changes([1.0, bad])


def test_p_is_that_of_scipys_t_test():
    from scipy.stats import ttest_ind

    random = np.random.default_rng(2)
    for n, m in ((2, 2), (1, 5), (30, 4), (20, 20)):
        left, right = random.normal(1, 1, n), random.normal(2, 1, m)
        assert p_of(left, right) == pytest.approx(ttest_ind(left, right).pvalue, rel=1e-9)
    assert p_of(np.array([1.0]), np.array([2.0])) == 1.0
    assert p_of(np.array([1.0, 1.0]), np.array([2.0, 2.0])) == 0.0
    assert p_of(np.array([1.0, 1.0]), np.array([1.0, 1.0])) == 1.0

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from plimsoll.stats.proportions import clopper_pearson, garwood, newcombe, none_of, wilson


def test_garwood_of_the_key_managers_uploads():
    low, high = (each / 180 for each in garwood(207))
    assert (round(low, 2), round(high, 2)) == (1.00, 1.32)


def test_garwood_in_its_table():
    # Garwood 1936, table 1, ε = 0.05.
    assert garwood(0) == (0.0, pytest.approx(3.689, abs=1e-3))
    assert garwood(10) == (pytest.approx(4.795, abs=1e-3), pytest.approx(18.39, abs=1e-2))


@pytest.mark.parametrize(
    ("failed", "of", "percents"), [(200, 223, (85.0, 93.0)), (195, 202, (93.0, 98.3)), (197, 201, (95.0, 99.2))]
)
def test_wilson_of_failures_near_all(failed, of, percents):
    assert [round(100 * each, 1) for each in wilson(failed, of)] == list(percents)


def test_none_of_n_is_about_three_in_n():
    assert none_of(1) == pytest.approx(0.95)
    assert none_of(1000) == pytest.approx(3 / 1000, rel=0.01)
    assert none_of(10**9) == pytest.approx(2.9957 / 10**9, rel=1e-4)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_intervals_hold_the_share_and_mirror(pair):
    k, n = pair
    for interval in (clopper_pearson, wilson):
        low, high = interval(k, n)
        assert 0 <= low <= k / n + 1e-12
        assert k / n - 1e-12 <= high <= 1
        assert interval(n - k, n) == (pytest.approx(1 - high, abs=1e-9), pytest.approx(1 - low, abs=1e-9))


counted = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counted, counted)
def test_intervals_are_those_of_statsmodels(a, b):
    for interval, method in ((clopper_pearson, "beta"), (wilson, "wilson")):
        expected = proportion_confint(*a, alpha=0.05, method=method)
        assert interval(*a) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    expected = confint_proportions_2indep(*b, *a, method="newcomb", compare="diff")
    assert newcombe(a, b) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_newcombes_example():
    # Statistics in Medicine 17, 1998, table II, case a: 56/70 and 48/80.
    assert newcombe((48, 80), (56, 70)) == (pytest.approx(0.0524, abs=1e-4), pytest.approx(0.3339, abs=1e-4))


@pytest.mark.parametrize("share", [0.001, 0.02, 0.3])
@pytest.mark.parametrize("n", [20, 500])
def test_the_exact_one_covers_every_share(n, share):
    intervals = [clopper_pearson(k, n) for k in range(n + 1)]
    covered = sum(binom.pmf(k, n, share) for k, (low, high) in enumerate(intervals) if low <= share <= high)
    assert 0.95 <= covered <= 1


def test_nothing_and_everything():
    assert clopper_pearson(0, 100) == (0.0, pytest.approx(0.0362, abs=1e-4))
    assert clopper_pearson(100, 100) == (pytest.approx(1 - 0.0362, abs=1e-4), 1.0)


@pytest.mark.parametrize(("k", "n"), [(-1, 5), (6, 5), (0, 0)])
def test_what_is_no_share(k, n):
    for interval in (clopper_pearson, wilson):
        with pytest.raises(ValueError, match="no share"):
            interval(k, n)
    with pytest.raises(ValueError, match="nothing"):
        none_of(0)
    with pytest.raises(ValueError, match="negative"):
        garwood(-1)

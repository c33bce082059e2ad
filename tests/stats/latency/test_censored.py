"""Reference values: remission times of leukemia patients under 6-MP (Freireich et al., Blood 21, 1963), as in
Kalbfleisch and Prentice, The Statistical Analysis of Failure Time Data, and in R's `survival::survfit`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from plimsoll._engine import Histogram
from plimsoll.stats.latency.censored import Survival

TIMES = some.lists(some.integers(1, 1000), max_size=40)
QUANTILES = (0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0)
REMISSIONS = (6, 6, 6, 7, 10, 13, 16, 22, 23)
STILL_IN_REMISSION = (6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35)


def of(*micros: int) -> Histogram:
    histogram = Histogram()
    for each in micros:
        histogram.record(each)
    return histogram


def test_published_survival_and_median() -> None:
    survival = Survival.of(of(*REMISSIONS), of(*STILL_IN_REMISSION))
    lasting = [round(1 - each, 4) for each in survival.reached]
    assert lasting == [0.8571, 0.8067, 0.7529, 0.6902, 0.6275, 0.5378, 0.4482]
    assert survival.quantiles((0.25, 0.5, 0.9)) == [(13, False), (23, False), (35, True)]
    # The restricted mean up to the longest time, as `survfit(…)` prints it with rmean=35: 23.29.
    assert survival.mean == pytest.approx(23.287, abs=1e-3)
    assert not survival.is_complete


@given(TIMES.filter(bool))
def test_without_waits_it_is_the_plain_distribution(times: list[int]) -> None:
    histogram = of(*times)
    survival = Survival.of(histogram, Histogram())
    assert [value for value, _ in survival.quantiles(QUANTILES)] == histogram.values_at(QUANTILES)
    assert survival.mean == pytest.approx(histogram.mean)
    assert survival.is_complete


@given(TIMES.filter(bool), some.integers(0, 50))
def test_waits_shorter_than_every_time_change_nothing(times: list[int], many: int) -> None:
    histogram = of(*(each + 100 for each in times))
    survival = Survival.of(histogram, of(*[5] * many))
    assert [value for value, _ in survival.quantiles(QUANTILES)] == histogram.values_at(QUANTILES)
    assert survival.mean == pytest.approx(histogram.mean)


@given(TIMES, TIMES.filter(bool))
def test_a_value_is_never_less_than_without_the_waits(times: list[int], waits: list[int]) -> None:
    found = Survival.of(of(*times), of(*waits)).quantiles(QUANTILES)
    plain = of(*times).values_at(QUANTILES)
    assert all(value >= before for (value, _), before in zip(found, plain, strict=True))
    assert [is_beyond for _, is_beyond in found] == sorted(is_beyond for _, is_beyond in found)


def test_with_no_time_at_all_everything_takes_longer_than_the_longest_wait() -> None:
    survival = Survival.of(Histogram(), of(5, 9))
    assert survival.quantiles((0.0, 0.5, 1.0)) == [(9, True)] * 3
    assert survival.mean == 9.0


def test_a_wait_as_long_as_a_time_goes_on_after_it() -> None:
    assert Survival.of(of(10), of(10)).quantiles((0.5, 0.51)) == [(10, False), (10, True)]


def test_nothing_has_no_distribution() -> None:
    with pytest.raises(ValueError, match="neither"):
        Survival.of(Histogram(), Histogram())

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.stats.runs import ERRORS, GET, P99, RATE, TEN, pairs, study, table, trial

from plimsoll.stats.compare.noise import AlarmRate, alarm_rate, noise_of
from plimsoll.stats.study import Noise


def aa(a, b, **known):
    return pairs(a, b, is_aa=True, **known)


def test_the_variance_is_that_around_no_difference():
    (found,) = noise_of([aa([100, 100, 100], [110, 105, 100])])
    squares = [math.log(1.1) ** 2, math.log(1.05) ** 2, 0.0]
    assert found == Noise("p99", GET, TEN, pytest.approx(sum(squares) / 3), 3.0, 0, 1)


def test_studies_add_up():
    one, other = aa([100] * 3, [110, 105, 100]), aa([100] * 5, [101] * 5)
    (both,) = noise_of([one, other])
    (first,), (second,) = noise_of([one]), noise_of([other])
    assert both.freedom == 8
    assert both.variance == pytest.approx((3 * first.variance + 5 * second.variance) / 8)
    assert (both.compared, both.rejected) == (2, 1)  # runs that are always 1 % apart are apart


def test_each_metric_endpoint_and_level_has_its_own():
    def row(ms):
        return table(ms, rate=ms / 10)

    made = aa([100] * 3, [110, 105, 100], of=row, metrics=(P99, RATE, ERRORS))
    assert [(each.metric, each.endpoint, each.level) for each in noise_of([made])] == [
        ("p99", GET, TEN), ("throughput", GET, TEN),
    ]  # fmt: skip


def test_what_is_not_used():
    assert noise_of([pairs([100] * 3, [110, 105, 100])]) == ()
    assert noise_of([study(trial("A", table(1)), is_aa=True)]) == ()
    late = [trial("A", table(1), invalid=("late",)), trial("B", table(2))]
    assert noise_of([study(*late, is_aa=True)]) == ()
    (single,) = noise_of([aa([100], [110])])
    assert (single.freedom, single.compared) == (1.0, 0)


def test_identical_systems_alarm_as_often_as_they_may_and_yield_their_spread():
    rng = np.random.default_rng(6)
    studies = [aa(*(200 * np.exp(0.06 * rng.normal(size=(2, 5)))).tolist()) for _ in range(200)]
    (found,) = noise_of(studies)
    assert math.sqrt(found.variance) == pytest.approx(0.06 * math.sqrt(2), rel=0.06)
    rate = alarm_rate([found])
    assert rate.compared == 200
    assert rate.is_kept


def test_the_rate_of_false_alarms():
    def noise(rejected, compared):
        return Noise("p99", GET, TEN, 0.01, 5, rejected, compared)

    assert alarm_rate([]) is None
    assert alarm_rate([noise(0, 0)]) is None
    assert alarm_rate([noise(1, 10), noise(0, 10)]).is_kept
    broken = alarm_rate([noise(9, 20), noise(8, 20)])
    assert (broken.rejected, broken.compared, broken.is_kept) == (17, 40, False)
    assert isinstance(broken, AlarmRate)
    assert broken.low < 17 / 40 < broken.high

import math

import pytest
from benches.cost import Cost
from benches.rounds import Mean, Ratio, median


def test_the_median_is_taken_of_each_figure_on_its_own() -> None:
    costs = [Cost(1.0, 0.5, 30.0, 5.0, 0.2), Cost(2.0, 0.1, 10.0, 9.0, 0.0), Cost(9.0, 0.3, 20.0, 7.0, 0.1)]
    assert median(costs) == Cost(2.0, 0.3, 20.0, 7.0, 0.1)


def test_one_round_is_its_own_median() -> None:
    assert median([Cost(1.0, 2.0, 3.0, 4.0, 5.0)]) == Cost(1.0, 2.0, 3.0, 4.0, 5.0)


def test_a_mean_has_students_interval() -> None:
    found = Mean.of([1.0, 2.0, 3.0])
    # The quantile with two degrees of freedom is 4.3027; the standard deviation is 1.
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 2 - 2.48414, 2 + 2.48414), abs=1e-4)
    assert Mean.of([1.5]) == Mean(1.5, -math.inf, math.inf)


def test_a_ratio_is_the_geometric_mean_and_its_interval_is_that_of_the_logarithms() -> None:
    found = Ratio.of([(2.0, 1.0), (1.0, 2.0), (8.0, 1.0)])
    logs = Mean.of([math.log(2), -math.log(2), math.log(8)])
    assert found.value == pytest.approx(2.0)
    assert (found.low, found.high) == pytest.approx((math.exp(logs.low), math.exp(logs.high)))
    assert Ratio.of([(3.0, 2.0)]).low == 0.0

from benches.cost import Cost
from benches.rounds import median


def test_the_median_is_taken_of_each_figure_on_its_own() -> None:
    costs = [Cost(1.0, 0.5, 30.0, 5.0, 0.2), Cost(2.0, 0.1, 10.0, 9.0, 0.0), Cost(9.0, 0.3, 20.0, 7.0, 0.1)]
    assert median(costs) == Cost(2.0, 0.3, 20.0, 7.0, 0.1)


def test_one_round_is_its_own_median() -> None:
    assert median([Cost(1.0, 2.0, 3.0, 4.0, 5.0)]) == Cost(1.0, 2.0, 3.0, 4.0, 5.0)

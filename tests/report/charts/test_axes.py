import pytest

from plimsoll.report.charts.axes import MOST_TICKS, STEP, horizon, reach_of, top_of


def test_there_is_always_room_for_the_next_second_and_the_steps_are_few():
    ends = {horizon(second) for second in range(90_000)}
    assert all(horizon(second) > second for second in range(5000))
    assert sorted(ends)[:6] == [60, 120, 300, 600, 1200, 2400]
    assert len(ends) == 12


def step(seconds):
    """As Vega's interpreter reads it."""
    return eval(STEP.replace("from", "begin"), {"begin": 0, "until": seconds})


@pytest.mark.parametrize(("seconds", "between"), [(2, 1), (60, 10), (600, 120), (4 * 3600, 1800)])
def test_ticks_of_time_are_a_round_number_of_seconds_minutes_or_hours_apart(seconds, between):
    assert step(seconds) == between


def test_there_are_few_ticks_on_an_axis_of_any_length():
    for seconds in (*range(2, 4000, 7), 10**5, 5 * 10**5):
        assert 1 <= seconds / step(seconds) <= MOST_TICKS


def test_an_axis_from_0_ends_at_a_round_number():
    assert [top_of(each) for each in (0, 1, 47, 101, 999, 0.031)] == [1, 1, 50, 120, 1000, 0.04]
    assert top_of(50, 1.5) == 80


def test_a_logarithmic_axis_reaches_beyond_its_values():
    assert reach_of([0.21, 12.0], 1.5) == (0.1, 20)
    low, high = reach_of([0.21, 12.0])
    assert 0.15 < low < 0.21 < 12 < high < 15
    assert reach_of([5.0]) == pytest.approx((5 / 1.12, 5 * 1.12), rel=1e-3)
    assert reach_of([]) == (1.0, 10.0)

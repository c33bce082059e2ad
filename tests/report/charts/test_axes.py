import pytest

from plimsoll.report.charts.axes import MOST_TICKS, horizon, reach_of, time_axis, top_of


def test_there_is_always_room_for_the_next_second_and_the_steps_are_few():
    ends = {horizon(second) for second in range(90_000)}
    assert all(horizon(second) > second for second in range(5000))
    assert sorted(ends)[:6] == [60, 120, 300, 600, 1200, 2400]
    assert len(ends) == 12


@pytest.mark.parametrize(
    ("seconds", "title", "ticks"),
    [
        (2, "seconds", (0, 1, 2)),
        (60, "seconds", (0, 10, 20, 30, 40, 50, 60)),
        (600, "minutes", (0, 120, 240, 360, 480, 600)),
        (4 * 3600, "hours", (0, 3600, 7200, 10_800, 14_400)),
    ],
)
def test_time_is_counted_in_a_unit_that_fits(seconds, title, ticks):
    axis = time_axis(seconds)
    assert axis.title == f"{title} since the start"
    assert axis.ticks == ticks


def test_there_are_few_ticks_on_an_axis_of_any_length():
    for seconds in (*range(2, 4000, 7), 10**5, 10**6, 10**7):
        axis = time_axis(seconds)
        assert 2 <= len(axis.ticks) <= MOST_TICKS + 1
        assert axis.ticks[-1] <= seconds


def test_an_axis_from_0_ends_at_a_round_number():
    assert [top_of(each) for each in (0, 1, 47, 101, 999, 0.031)] == [1, 1, 50, 120, 1000, 0.04]
    assert top_of(50, 1.5) == 80


def test_a_logarithmic_axis_reaches_beyond_its_values():
    assert reach_of([0.21, 12.0], 1.5) == (0.1, 20)
    low, high = reach_of([0.21, 12.0])
    assert 0.15 < low < 0.21 < 12 < high < 15
    assert reach_of([5.0]) == pytest.approx((5 / 1.12, 5 * 1.12), rel=1e-3)
    assert reach_of([]) == (1.0, 10.0)

"""Long series keep a limited number of points, and their means."""

from __future__ import annotations

import pytest

from plimsoll.observe.thinned_series import MOST_POINTS, ThinnedSeries


def test_a_short_series_is_as_it_was_added() -> None:
    series = ThinnedSeries()
    for second in range(MOST_POINTS - 1):
        series.add(second + 0.5, 2.0 * second)
    at, values = series.points()
    assert at.tolist() == [second + 0.5 for second in range(MOST_POINTS - 1)]
    assert values.tolist() == [2.0 * second for second in range(MOST_POINTS - 1)]


@pytest.mark.parametrize("seconds", [MOST_POINTS, MOST_POINTS + 1, 10 * MOST_POINTS + 7])
def test_a_long_one_keeps_its_length_and_its_line(seconds: int) -> None:
    series = ThinnedSeries()
    for second in range(seconds):
        series.add(float(second), 3.0 * second)
    at, values = series.points()
    assert MOST_POINTS / 2 <= len(at) == len(values) <= MOST_POINTS
    assert at.tolist() == sorted(at)
    assert values.tolist() == pytest.approx([3 * each for each in at])
    assert at[0] < 40 and at[-1] > seconds - 40


def test_points_that_are_not_complete_are_there_too() -> None:
    series = ThinnedSeries()
    for second in range(MOST_POINTS + 1):
        series.add(float(second), 1.0)
    assert series.points()[0][-1] == MOST_POINTS
    series.add(MOST_POINTS + 1.0, 5.0)
    assert (series.points()[0][-1], series.points()[1][-1]) == (MOST_POINTS + 0.5, 3.0)

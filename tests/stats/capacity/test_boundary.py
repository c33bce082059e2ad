from __future__ import annotations

import pytest

from plimsoll.stats.capacity.boundary import boundary, split


def runs(met, broken):
    return [(float(each), True) for each in met] + [(float(each), False) for each in broken]


def test_the_split_is_where_the_fewest_runs_disagree():
    assert split(runs([100, 110, 130], [120, 140, 150])) == (110, 120)
    assert split(runs([100, 110, 120, 130], [105, 140])) == (130, 140)
    assert split(runs([1, 2], [])) == (2, None)
    assert split(runs([], [1, 2])) == (None, 1)
    # As many at one load for it as against it: the cautious side.
    assert split(runs([100, 200], [200, 300])) == (100, 200)


def test_runs_that_agree_leave_a_small_interval_around_the_gap():
    found = boundary(runs([10, 20, 40, 80, 160, 180, 190, 195, 200], [204, 210, 220, 226, 320]))
    assert 200 < found.load < 204
    assert 190 < found.low < 200
    assert 204 < found.high < 215


@pytest.mark.parametrize("unlucky", [10, 100, 165])
def test_one_unlucky_run_does_not_decide(unlucky):
    met = [10, 20, 40, 80, 160, 165, 170, 175, 180, 185, 190, 195, 200]
    found = boundary([*runs(met, [204, 210, 215, 220, 226, 320]), (float(unlucky), False)])
    assert found.low < 202 < found.high
    assert found.load == pytest.approx(202, rel=0.03)


def test_runs_that_disagree_make_the_interval_wide():
    sharp = boundary(runs([160, 170, 180, 190, 200], [205, 215, 225, 235]))
    mixed = boundary(runs([80, 160, 170, 190, 205, 225], [180, 200, 215, 235, 260, 320]))
    assert mixed.high / mixed.low > 1.5 * sharp.high / sharp.low


def test_without_both_kinds_of_runs_there_is_none():
    assert boundary(runs([10, 20], [])) is None
    assert boundary(runs([], [10, 20])) is None


def test_runs_that_exclude_nothing_give_no_end():
    found = boundary(runs([100], [110]))
    assert (found.low, found.high) == (None, None)

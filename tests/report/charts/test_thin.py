import math

from plimsoll.report.charts.thin import bucket_width, thinned, thinning_note


def test_few_values_stay_as_they_are():
    assert thinned([0, 1], [3.0, 4.0]) == [
        {"second": 0, "value": 3.0, "low": 3.0, "high": 3.0},
        {"second": 1, "value": 4.0, "low": 4.0, "high": 4.0},
    ]
    assert thinning_note(2) == ""


def test_no_extreme_is_lost():
    values = [10.0] * 3600
    values[1234], values[777] = 900.0, 0.5
    rows = thinned(range(3600), values)
    assert len(rows) == 600
    assert max(row["high"] for row in rows) == 900.0
    assert min(row["low"] for row in rows) == 0.5
    assert [row["second"] for row in rows[:3]] == [0, 6, 12]
    assert "6 s" in thinning_note(3600)


def test_never_more_points_than_asked_for():
    for count in (1, 599, 600, 601, 1199, 1200, 1201, 86_400):
        assert len(thinned(range(count), [1.0] * count)) <= 600
        assert bucket_width(count) * 600 >= count


def test_a_bucket_without_a_value_is_a_gap():
    rows = thinned([0, 1, 2, 3], [math.nan, math.nan, 5.0, math.nan], most=2)
    assert rows[0]["value"] is None
    assert rows[1] == {"second": 2, "value": 5.0, "low": 5.0, "high": 5.0}

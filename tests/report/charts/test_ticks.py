import pytest

from plimsoll.report.charts.ticks import log_ticks, ticks_of


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.2, 25_000, [1, 10, 100, 1000, 10_000]),
        (90, 9000, [100, 300, 1000, 3000]),
        (130, 1300, [150, 200, 300, 400, 500, 700, 1000]),
        (41, 51, [42, 44, 46, 48, 50]),
        (7, 7, [7]),
    ],
)
def test_ticks_are_round_and_within(low, high, ticks):
    assert log_ticks([low, high]) == ticks


def test_there_are_never_too_many():
    for decades in range(1, 12):
        assert 1 <= len(log_ticks([1.5, 1.5 * 10**decades])) <= 9


def test_what_cannot_be_on_such_an_axis_does_not_count():
    assert log_ticks([0.0, -1.0]) == []
    rows = [{"low": None, "high": 100.0, "name": "x"}, {"low": 1.0, "high": float("inf")}]
    assert ticks_of(rows, "low", "high") == log_ticks([1.0, 100.0])

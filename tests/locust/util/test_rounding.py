from __future__ import annotations

import pytest

from plimsoll.locust.util.rounding import proper_round


@pytest.mark.parametrize(
    ("number", "digits", "expected"),
    [
        (0.5, 0, 1.0),
        (2.5, 0, 3.0),
        (2.4, 0, 2.0),
        (1.005, 2, 1.01),
        (1.004, 2, 1.0),
        (-0.5, 0, 0.0),
        (12345, -2, 12300.0),
    ],
)
def test_halves_go_up(number: float, digits: int, expected: float) -> None:
    assert proper_round(number, digits) == expected

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import UsageError
from plimsoll.load.levels import LoadLevel, parse_level, parse_rate, parse_step, parse_users


@pytest.mark.parametrize(
    ("text", "rate"),
    [("900/s", 900), ("900", 900), ("54000/m", 900), ("3600/h", 1), ("0.5/s", 0.5), ("1e3/s", 1000), (" 7 / S ", 7),
     (900, 900), (0.25, 0.25), ("1e9/s", 1e9), (".5/s", 0.5)],
)  # fmt: skip
def test_rates_are_per_second(text: str | float, rate: float) -> None:
    assert parse_rate(text) == rate


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "valid are 900/s, 54000/m or 3600/h"),
        ("fast", "valid are"),
        ("900/d", "valid are"),
        ("900rps", "valid are"),
        ("nan/s", "valid are"),
        ("1 000/s", "valid are"),
        ("0/s", "zero"),
        (0, "zero"),
        (-1, "below 0"),
        ("-5/s", "below 0"),
        ("1.1e9/s", "at most 1000000000/s"),
        ("1e400", "at most"),
        (math.nan, "nan/s is not possible"),
        (math.inf, "not possible"),
        (True, "not a level"),
        (None, "not a level"),
    ],
)
def test_what_is_no_rate_is_refused(text: object, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        parse_rate(text)  # type: ignore[arg-type]


def test_a_number_alone_is_users_unless_a_rate_is_asked_for() -> None:
    assert parse_level("50") == parse_level(50) == LoadLevel(50.0, rate=False)
    assert parse_level("50", bare_is_rate=True) == parse_level("50/s") == LoadLevel(50.0, rate=True)


def test_only_a_difference_of_levels_may_be_below_0() -> None:
    assert parse_step("-50/s") == LoadLevel(-50.0, rate=True)
    with pytest.raises(UsageError, match="below 0"):
        parse_level("-50/s")


@pytest.mark.parametrize("value", [50, "50", "5e1"])
def test_users_are_whole(value: str | int) -> None:
    assert parse_users(value) == 50


@pytest.mark.parametrize(
    ("value", "reason"),
    [(0, "above 0"), (1.5, "whole number"), ("5/s", 'write rate = "5/s"'), (-1, "below 0"), (10_000_001, "at most")],
)
def test_what_is_no_number_of_users_is_refused(value: object, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        parse_users(value)  # type: ignore[arg-type]


@given(st.floats(1e-6, 1e9), st.sampled_from([("s", 1), ("m", 60), ("h", 3600)]))
def test_the_unit_divides(number: float, unit: tuple[str, int]) -> None:
    letter, seconds = unit
    assert parse_rate(f"{number!r}/{letter}") == number / seconds

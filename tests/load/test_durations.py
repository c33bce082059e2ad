from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import UsageError
from plimsoll.load.durations import parse_duration, parse_length
from plimsoll.say.durations import format_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("200ms", 0.2), ("10s", 10), ("1m30s", 90), ("2h", 7200), ("20", 20), ("1.5s", 1.5), ("0.5", 0.5),
        ("1h1m1s1ms", 3661.001), ("1m500ms", 60.5), ("1.5h", 5400), (" 5s ", 5), ("0", 0), ("1m30", 90), (20, 20.0),
        (0.25, 0.25), ("0.1ms", 0.0001), ("1min", 60), ("1 s", 1), ("2 minutes", 120), ("1 h 30 min", 5400),
        ("1m 30s", 90), ("5sec", 5),
    ],
)  # fmt: skip
def test_durations_are_read_to_the_millisecond_and_below(text: str | float, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    ["", "s", "ms", "abc", "5x", "-3", "10m5h", "10s5m", "1 2", "1 2s", "1e3", "٣s", "5 0ms", "5s0",
     True, None, [1], -1, math.nan,
     math.inf],
)  # fmt: skip
def test_what_is_no_duration_is_refused_with_examples(text: object) -> None:
    with pytest.raises(UsageError, match="200ms, 10s, 1m30s, 2h"):
        parse_duration(text)  # type: ignore[arg-type]


def test_a_duration_has_an_end() -> None:
    assert parse_duration("87600h") == 87600 * 3600
    with pytest.raises(UsageError, match="ten years"):
        parse_duration("87601h")


def test_a_length_is_longer_than_nothing() -> None:
    assert parse_length("1ms") == 0.001
    with pytest.raises(UsageError, match="longer than 0"):
        parse_length("0ms")


@given(st.integers(0, 10**11))
def test_a_formatted_duration_is_read_back(ms: int) -> None:
    assert parse_duration(format_duration(ms / 1000)) == ms / 1000

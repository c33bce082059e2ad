from __future__ import annotations

import pytest

from plimsoll.say.durations import (
    duration_text,
    format_duration,
    ms,
    range_of_ms,
    rough_duration,
    rough_ms,
    seconds_text,
)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (90.5, "1m30s500ms"), (7200, "2h"), (0.2, "200ms"), (59.9996, "1m")]
)
def test_the_shortest_spelling_is_used(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"), (0.0261, "26 ms"), (0.0949, "95 ms"), (0.095, "0.1 s"), (2.25, "2.2 s"), (30.0, "30 s"),
        (59.97, "1 min"), (60, "1 min"), (125.4, "2 min 5 s"),
        (3600, "1 h"), (3780, "1 h 3 min"),
    ],
)  # fmt: skip
def test_durations_for_people(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "0 s"), (45, "45 s"), (89.4, "1 min 29 s"), (90, "2 min"), (1499, "25 min"), (3600, "1 h"),
        (6060, "1 h 41 min"),
    ],
)  # fmt: skip
def test_rough_durations_for_people(seconds: float, text: str) -> None:
    assert rough_duration(seconds) == text


@pytest.mark.parametrize(
    ("time", "text"), [(8502, "8.5 s"), (870, "870 ms"), (0.31, "0.31 ms"), (37889, "37.9 s"), (999.7, "1 s")]
)
def test_milliseconds(time: float, text: str) -> None:
    assert ms(time) == text


def test_rough_times_and_ranges() -> None:
    assert rough_ms(123.4) == "120 ms"
    assert range_of_ms([683, 525, 600]) == "525 ms to 683 ms"
    assert range_of_ms([200, 200.00001]) == "200 ms"
    assert [seconds_text(seconds) for seconds in (0.823, 119.6)] == ["0.82 s", "120 s"]

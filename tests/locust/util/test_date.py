from __future__ import annotations

import time

import pytest

from plimsoll.locust.util.date import format_duration, format_safe_timestamp, format_utc_timestamp


def test_points_in_time() -> None:
    assert format_utc_timestamp(1_700_000_000.9) == "2023-11-14T22:13:20Z"
    assert format_safe_timestamp(1_700_000_000) == time.strftime("%Y-%m-%d-%Hh%M", time.localtime(1_700_000_000))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.9, "0 seconds"),
        (1, "1 second"),
        (62, "1 minute and 2 seconds"),
        (3600, "1 hour"),
        (90_061, "1 day, 1 hour, 1 minute and 1 second"),
    ],
)
def test_durations_in_words(seconds: float, text: str) -> None:
    assert format_duration(100.0, 100.0 + seconds) == text

from __future__ import annotations

import pytest

from plimsoll.locust.util.timespan import parse_timespan


@pytest.mark.parametrize(
    ("text", "seconds"), [("7", 7), ("20s", 20), ("3m", 180), ("2h", 7200), ("1h20m", 4800), ("3h30m10s", 12610)]
)
def test_locusts_notation(text: str, seconds: int) -> None:
    assert parse_timespan(text) == seconds


@pytest.mark.parametrize("text", ["", "q", "1.5s", "-1s", "1m30", "10s1m", "s"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^Invalid time span format"):
        parse_timespan(text)

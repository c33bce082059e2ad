from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.locust import util
from plimsoll.locust.util import (
    format_duration,
    format_safe_timestamp,
    format_utc_timestamp,
    get_abspaths_in,
    is_url,
    memoize,
    parse_timespan,
    proper_round,
    retry,
)


class Clock:
    """Moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(util, "time", SimpleNamespace(time=clock.time))
    return clock


def counting(clock: Clock, lasting: float = 0.0) -> Callable[..., int]:
    numbers = count()

    def function(*_: Any) -> int:
        clock.now += lasting
        return next(numbers)

    return function


def test_a_result_is_kept_for_the_timeout(clock: Clock) -> None:
    function: Any = memoize(timeout=2.0)(counting(clock))
    assert [function("a"), function("b")] == [0, 0]
    clock.now = 2.0
    assert function() == 0
    clock.now = 2.1
    assert function() == 1
    function.clear_cache()
    assert function() == 2


def test_a_slow_function_doubles_the_timeout(clock: Clock) -> None:
    function: Any = memoize(timeout=2.0, dynamic_timeout=True)(counting(clock, lasting=3.0))
    assert function() == 0
    clock.now += 3.9
    assert function() == 0
    clock.now += 0.2
    assert function() == 1


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr(util.time, "sleep", slept.append)
    return slept


def failing(times: int) -> Callable[[], str]:
    left = [OSError(str(number)) for number in range(times)]

    def function() -> str:
        if left:
            raise left.pop(0)
        return "done"

    return function


def test_it_tries_until_it_works(slept: list[float]) -> None:
    assert retry()(failing(3))() == "done"
    assert slept == [1, 3, 5]


def test_the_last_failure_comes_through(slept: list[float]) -> None:
    with pytest.raises(OSError, match="1"):
        retry(delays=(2,))(failing(2))()
    assert slept == [2]


def test_another_exception_comes_through_at_once(slept: list[float]) -> None:
    with pytest.raises(OSError, match="0"):
        retry(exception=ValueError)(failing(1))()
    assert slept == []


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


@pytest.mark.parametrize(
    ("text", "seconds"), [("7", 7), ("20s", 20), ("3m", 180), ("2h", 7200), ("1h20m", 4800), ("3h30m10s", 12610)]
)
def test_locusts_notation(text: str, seconds: int) -> None:
    assert parse_timespan(text) == seconds


@pytest.mark.parametrize("text", ["", "q", "1.5s", "-1s", "1m30", "10s1m", "s"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^Invalid time span format"):
        parse_timespan(text)


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://a/b.py", True),
        ("https://a", True),
        ("ftp://a", False),
        ("a/b.py", False),
        ("http://", False),
        ("http://[", False),
    ],
)
def test_what_can_be_fetched(text: str, expected: bool) -> None:
    assert is_url(text) == expected


def test_files_below_that_are_not_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    for name in ("a.py", "_b.py", "c.txt", "inner/d.py"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert sorted(get_abspaths_in(".", ".py")) == [str(tmp_path / "a.py"), str(tmp_path / "inner" / "d.py")]
    assert len(get_abspaths_in(str(tmp_path))) == 3

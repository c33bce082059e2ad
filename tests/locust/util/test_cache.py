from __future__ import annotations

from collections.abc import Callable
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.locust.util import cache


class Clock:
    """Moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(cache, "time", SimpleNamespace(time=clock.time))
    return clock


def counting(clock: Clock, lasting: float = 0.0) -> Callable[..., int]:
    numbers = count()

    def function(*_: Any) -> int:
        clock.now += lasting
        return next(numbers)

    return function


def test_a_result_is_kept_for_the_timeout(clock: Clock) -> None:
    function: Any = cache.memoize(timeout=2.0)(counting(clock))
    assert [function("a"), function("b")] == [0, 0]
    clock.now = 2.0
    assert function() == 0
    clock.now = 2.1
    assert function() == 1
    function.clear_cache()
    assert function() == 2


def test_a_slow_function_doubles_the_timeout(clock: Clock) -> None:
    function: Any = cache.memoize(timeout=2.0, dynamic_timeout=True)(counting(clock, lasting=3.0))
    assert function() == 0
    clock.now += 3.9
    assert function() == 0
    clock.now += 0.2
    assert function() == 1

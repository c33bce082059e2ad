from __future__ import annotations

from collections.abc import Callable

import pytest

from plimsoll.locust.util import exception_handler


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr(exception_handler.time, "sleep", slept.append)
    return slept


def failing(times: int) -> Callable[[], str]:
    left = [OSError(str(number)) for number in range(times)]

    def function() -> str:
        if left:
            raise left.pop(0)
        return "done"

    return function


def test_it_tries_until_it_works(slept: list[float]) -> None:
    assert exception_handler.retry()(failing(3))() == "done"
    assert slept == [1, 3, 5]


def test_the_last_failure_comes_through(slept: list[float]) -> None:
    with pytest.raises(OSError, match="1"):
        exception_handler.retry(delays=(2,))(failing(2))()
    assert slept == [2]


def test_another_exception_comes_through_at_once(slept: list[float]) -> None:
    with pytest.raises(OSError, match="0"):
        exception_handler.retry(exception=ValueError)(failing(1))()
    assert slept == []

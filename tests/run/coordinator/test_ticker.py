from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from plimsoll.run.coordinator.ticker import COLLECT_DELAY_NS, SECOND, Ticker

if TYPE_CHECKING:
    from collections.abc import Callable

EPOCH = 7 * SECOND


class Timeline:
    """A loop with one entry, and its clock."""

    def __init__(self) -> None:
        self.stamp = EPOCH
        self.due = 0
        self.ticks: list[float] = []
        self.ticker = Ticker(self, lambda: self.ticks.append((self.stamp - EPOCH) / SECOND), lambda: self.stamp)  # type: ignore[arg-type]

    def at(self, due: int, action: Callable[[], None]) -> None:
        self.due, self.action = due, action

    def turn(self, late: float = 0.0) -> None:
        self.stamp = self.due + round(late * SECOND)
        self.action()


def test_each_second_has_its_call_a_little_after_its_end() -> None:
    timeline = Timeline()
    timeline.ticker.start(EPOCH)
    for _ in range(3):
        timeline.turn()
    assert timeline.ticks == [second + COLLECT_DELAY_NS / SECOND for second in (1, 2, 3)]
    assert timeline.ticker.silence == 0


def test_seconds_of_a_standstill_are_one_call_and_its_length_is_known() -> None:
    timeline = Timeline()
    timeline.ticker.start(EPOCH)
    timeline.turn(late=0.2)
    timeline.turn(late=4.5)
    timeline.turn()
    assert [int(each) for each in timeline.ticks] == [1, 6, 7]
    assert timeline.ticker.silence == pytest.approx(4.5)


def test_memory_is_freed_once_a_minute() -> None:
    full: list[dict[str, int]] = []

    def note(phase: str, about: dict[str, int]) -> None:
        if phase == "stop" and about["generation"] == 2:
            full.append(about)

    timeline = Timeline()
    timeline.ticker.start(EPOCH)
    gc.disable()
    gc.callbacks.append(note)
    try:
        for _ in range(180):
            timeline.turn()
    finally:
        gc.callbacks.remove(note)
        gc.enable()
    assert len(full) == 3

from __future__ import annotations

import pytest

from plimsoll.run.coordinator import run_clock
from plimsoll.run.coordinator.run_clock import ClockSteps, offset


class Clocks:
    """Both clocks, set by hand; seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.real, self.monotonic = 1000.0, 0.0
        monkeypatch.setattr(run_clock, "offset", lambda: self.real - self.monotonic)
        monkeypatch.setattr(run_clock.time, "monotonic", lambda: self.monotonic)

    def go_on(self, seconds: float, step: float = 0.0) -> None:
        self.monotonic += seconds
        self.real += seconds + step


def test_a_clock_that_is_slewed_was_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = Clocks(monkeypatch)
    steps = ClockSteps()
    for _ in range(100):
        clocks.go_on(1.0, step=0.0005)
        assert steps.look() == 0.0
    clocks.go_on(60.0, step=0.03)
    assert steps.look() == 0.0


def test_a_step_is_seen_once_whichever_way_it_went(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = Clocks(monkeypatch)
    steps = ClockSteps()
    for step in (0.002, -3.0, 0.5, 0.0):
        clocks.go_on(1.0, step)
        assert steps.look() == pytest.approx(abs(step))


def test_the_offset_between_the_clocks_is_that_of_the_system() -> None:
    import time

    assert offset() == pytest.approx(time.time() - time.monotonic(), abs=1.0)

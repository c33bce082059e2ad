"""The seconds of a run, each once what the workers said of it is there; and how long the coordinator stood still."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from plimsoll._engine import now
from plimsoll.run.coordinator.run_clock import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.run.loop import Loop

COLLECT_DELAY_NS = 150_000_000
"""ns past the end of a second at which what the workers said of it is added up."""
CLEANING_S = 60
"""Seconds between two full garbage collections. Python runs one after half an hour, and until then keeps garbage and
free lists that grow: the memory of a run would not be flat."""


class Ticker:
    """Calls `tick` once a second, and now and then frees memory. Seconds that pass while the process stands still are
    one call."""

    def __init__(self, loop: Loop, tick: Callable[[], None], clock: Callable[[], int] = now) -> None:
        self._loop = loop
        self._tick = tick
        self._clock = clock
        self._first = self._due = self._clean = 0
        self.silence = 0.0
        """Seconds that a call was late by at most: nothing else of the coordinator was done in them either."""

    def start(self, epoch: int) -> None:
        """epoch: the stamp of second 0."""
        self._first = epoch + COLLECT_DELAY_NS
        self._wait(0)

    def _wait(self, second: int) -> None:
        self._due = self._first + (second + 1) * SECOND
        self._loop.at(self._due, self._call)

    def _call(self) -> None:
        stamp = self._clock()
        self.silence = max(self.silence, (stamp - self._due) / SECOND)
        self._wait(max(0, stamp - self._first) // SECOND)
        self._tick()
        if stamp >= self._clean:
            self._clean = stamp + CLEANING_S * SECOND
            gc.collect()

"""Whether somebody sets the system's clock while a run goes on: receive stamps of the kernel would go wrong then."""

from __future__ import annotations

import time

SLEW = 1e-3
"""Seconds per second that a clock may be slewed by; what moves faster was set."""
TRIES = 3


def offset() -> float:
    """CLOCK_REALTIME minus CLOCK_MONOTONIC in seconds, of several tries the one that took least."""
    best = None
    for _ in range(TRIES):
        before, real, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        if best is None or after - before < best[0]:
            best = after - before, real - (before + after) // 2
    assert best is not None
    return best[1] / 1e9


class ClockSteps:
    """The largest step between any two looks."""

    def __init__(self) -> None:
        self._offset = offset()
        self._looked = time.monotonic()
        self._largest = 0.0

    def largest(self) -> float:
        """Look, and return the largest step so far in seconds; 0.0 as long as the clock was only slewed."""
        current, at = offset(), time.monotonic()
        moved = abs(current - self._offset)
        if moved > SLEW * max(1.0, at - self._looked):
            self._largest = max(self._largest, moved)
        self._offset, self._looked = current, at
        return self._largest

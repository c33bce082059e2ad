"""How much CPU this process used, and for how long it was ready to run and had none."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from plimsoll._engine import now

SHORTEST_SAMPLE_NS = 100_000_000
"""A shorter time tells nothing about CPU."""
_SCHEDSTAT = Path("/proc/thread-self/schedstat")
"""Of Linux: ns on a CPU, ns of waiting for one, number of turns."""


class CpuSample(NamedTuple):
    used: float
    """CPU seconds per second, 0…1 for one thread; 0 for a moment too short to tell."""
    waited_ms: int
    """Time for which the calling thread was ready to run, and the machine ran something else; 0 if that is not
    known."""


class CpuMeter:
    """Of the process that makes it."""

    def __init__(self) -> None:
        self._last = _read()

    def take(self) -> CpuSample:
        """Since the last call."""
        before, self._last = self._last, _read()
        passed, used, waited = (after - then for after, then in zip(self._last, before, strict=True))
        share = used / passed if passed >= SHORTEST_SAMPLE_NS else 0.0
        return CpuSample(share, max(0, waited) // 1_000_000)


def _read() -> tuple[int, int, int]:
    """ns: the clock, CPU of the process, and what its thread waited for a CPU, 0 where the kernel does not count it."""
    try:
        waited = int(_SCHEDSTAT.read_text().split()[1])
    except (OSError, IndexError, ValueError):
        waited = 0
    return now(), time.process_time_ns(), waited

"""What a worker sees of its own process: how much CPU it used and waited for, and how long its loop stood still."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import gevent

from plimsoll._engine import now

if TYPE_CHECKING:
    from collections.abc import Callable

BEAT_NS = 100_000_000
"""ns between two looks at how late the loop is."""
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


class SilenceWatch:
    """Wakes up every `BEAT_NS` and sees how late that is."""

    def __init__(self, clock: Callable[[], int] = now) -> None:
        self._clock = clock
        self._last = clock()
        self._longest = 0
        self._timer = gevent.get_hub().loop.timer(BEAT_NS / 1e9, BEAT_NS / 1e9)

    def start(self) -> None:
        """What was before is forgotten."""
        self._longest, self._last = 0, self._clock()
        self._timer.start(self.beat)

    def stop(self) -> None:
        self._timer.stop()

    def beat(self) -> None:
        """The loop turns."""
        stamp = self._clock()
        self._longest = max(self._longest, stamp - self._last - BEAT_NS)
        self._last = stamp

    def take(self) -> int:
        """The longest silence, in ms, since the last call, one that ends just now included. The true one is as long,
        or longer by up to `BEAT_NS`."""
        self.beat()
        longest, self._longest = self._longest, 0
        return longest // 1_000_000

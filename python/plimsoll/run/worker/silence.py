"""How long the loop of this process stood still: while users' code blocked it, or the machine ran something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gevent

from plimsoll._engine import now

if TYPE_CHECKING:
    from collections.abc import Callable

BEAT_NS = 100_000_000


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

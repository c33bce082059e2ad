"""The end of a worker's load, also when the coordinator says nothing: its process may stand still, or wait for a
terminal that takes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gevent

from plimsoll._engine import now

if TYPE_CHECKING:
    from collections.abc import Callable

LEASE_NS = 3_000_000_000
"""Without an order for so long, the load ends."""
END_MARGIN_NS = 500_000_000
"""ns that the coordinator has, after the time of the load is up, to end it in order."""
CHECK_NS = 250_000_000


class LoadLease:
    """time_up: called once when the time of the load is up and the coordinator does not end it. expired: called once
    when no order has come for `LEASE_NS`."""

    def __init__(
        self, time_up: Callable[[], object], expired: Callable[[], None], clock: Callable[[], int] = now
    ) -> None:
        self._time_up = time_up
        self._expired = expired
        self._clock = clock
        self._end: int | None = None
        self._last = 0
        self._unrenewed = 0
        """ns without an order. Only time in which this process ran counts: orders that came while it stood still have
        not been read."""
        self._checker: gevent.Greenlet[[], None] | None = None

    def start(self, end: int | None) -> None:
        """end: the stamp at which the time of the load is up; None if somebody else decides."""
        self._end, self._last, self._unrenewed = end, self._clock(), 0
        if self._checker is None:
            self._checker = gevent.spawn(self._watch)

    def stop(self) -> None:
        """The load has ended, or is about to."""
        if self._checker is not None:
            self._checker.kill(block=False)

    def renew(self) -> None:
        """An order came."""
        self._unrenewed = 0

    def check(self) -> bool:
        """Whether the load goes on."""
        stamp = self._clock()
        self._unrenewed += min(stamp - self._last, 2 * CHECK_NS)
        self._last = stamp
        if self._end is not None and stamp >= self._end + END_MARGIN_NS:
            self._time_up()
            return False
        if self._unrenewed >= LEASE_NS:
            self._expired()
            return False
        return True

    def _watch(self) -> None:
        while self.check():
            gevent.sleep(CHECK_NS / 1e9)

"""Second 0 of a run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from plimsoll._engine import now

if TYPE_CHECKING:
    from plimsoll.run.transport.handle import WorkerHandle

AHEAD_S = 5
"""Seconds by which a worker's clock is never ahead of ours, as far as that is known."""
SECOND = 1_000_000_000
"""ns."""
NOTICE_NS = 1_000_000_000
"""ns from an order to the second with which it takes effect on all workers, so that each has read it by then, also on a
machine that is busy."""
SLEW = 1e-3
"""Seconds per second that a clock may be slewed by; what moves faster was set."""
TRIES = 3


class RunClock:
    """Stamps are ns of the monotonic clock."""

    def __init__(self) -> None:
        self.epoch = 0
        """The stamp of second 0."""
        self.second = 0
        """The first one with load: not 0 if the run is continued."""
        self.offset = 0.0
        """Unix time minus monotonic time, in seconds."""
        self.end: int | None = None
        """The stamp at which the load ends; None if nobody knows beforehand."""
        self._forgotten: set[int] = set()

    def start(self, head_start: int, started: float) -> None:
        """Second 0 begins so many ns from now; started: the Unix time of it. Again it forgets what was before."""
        if self.epoch:
            self._forgotten.add(self.epoch)
        self._begin_at(now() + head_start, 0, started)

    def resume(self, epoch: int, head_start: int, started: float) -> None:
        """Second 0 is past. The load begins again with a whole second, so many ns from now at least."""
        self.epoch = epoch
        self._begin_at(epoch, self.next_second(now() + head_start), started)

    def limit(self, seconds: float | None) -> None:
        """The load ends so many seconds after second 0; None: nobody knows. A second 0 that is set later does not move
        this end."""
        if seconds is not None and self.end is None:
            self.end = self.epoch + round(seconds * SECOND)

    def accepts(self, worker: WorkerHandle, epoch: int) -> bool:
        """Whether what a worker counts from this stamp belongs to the run. Figures of a forgotten ramp-up do not. A
        worker that sends any others is disconnected: no order asked for them."""
        if epoch != self.epoch and epoch not in self._forgotten:
            worker.break_off("figures of another run")
        return epoch == self.epoch

    def next_second(self, stamp: int) -> int:
        """The first one that does not begin before this stamp."""
        return -((self.epoch - stamp) // SECOND)

    def stamp_of(self, second: int) -> int:
        """The stamp at which this second begins."""
        return self.epoch + second * SECOND

    def second_at(self, stamp: int) -> int:
        """The second that this stamp is in."""
        return (stamp - self.epoch) // SECOND

    @property
    def first(self) -> int:
        """The stamp at which the load begins."""
        return self.stamp_of(self.second)

    @property
    def started(self) -> float:
        """The Unix time of second 0."""
        return self.offset + self.epoch / SECOND

    @property
    def elapsed(self) -> float:
        """Seconds since second 0."""
        return max(0, now() - self.epoch) / SECOND

    @property
    def current(self) -> int:
        """The second that it is now."""
        return int(self.elapsed)

    @property
    def latest(self) -> int:
        """The last second that a worker can have measured, whatever its clock."""
        return self.second_at(now()) + AHEAD_S

    def _begin_at(self, epoch: int, second: int, started: float) -> None:
        self.epoch, self.second = epoch, second
        self.offset = started - epoch / SECOND


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
    """Steps of the system's clock."""

    def __init__(self) -> None:
        self._offset = offset()
        self._looked = time.monotonic()

    def look(self) -> float:
        """By how many seconds the clock was set since the last look; 0.0 if it was only slewed."""
        current, at = offset(), time.monotonic()
        moved = abs(current - self._offset)
        is_step = moved > SLEW * max(1.0, at - self._looked)
        self._offset, self._looked = current, at
        return moved if is_step else 0.0

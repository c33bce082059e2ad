"""The caps of a run while it goes on: how many requests per second its workers send, and how long it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.errors import PlimsollError
from plimsoll.record.events import GuardStopped
from plimsoll.run.coordinator.run_clock import SECOND
from plimsoll.say.events import event_text

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from plimsoll.run.loop import Loop
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.result import Result
    from plimsoll.run.transport.messages import Sent


class RateAllowance:
    """Requests that may be sent: those of a second at first, `rate` more per second, never more than those of a second.

    So within any time T at most rate × (T + 1 s) are. start: a stamp, ns.
    """

    def __init__(self, rate: float, start: int) -> None:
        self._rate = rate
        self._most = max(1.0, rate)
        self._left = self._most
        self._stamp = self._full = start
        self._taken = 0
        """Since all was left."""

    def take(self, count: int, stamp: int) -> str | None:
        """So many were sent up to this stamp (ns): says so if they were too many. Stamps of several workers may be out
        of order."""
        self._left += max(0, stamp - self._stamp) / SECOND * self._rate
        if self._left >= self._most:
            self._left, self._full, self._taken = self._most, self._stamp, 0
        self._left -= count
        self._taken += count
        self._stamp = max(self._stamp, stamp)
        seconds = (self._stamp - self._full) / SECOND
        return f"{self._taken:,} requests within {seconds:.2f} s" if self._left < 0 else None


class RunGuard:
    """fail: ends the run at once, with an error. end: ends it as if its time were up."""

    def __init__(
        self,
        loop: Loop,
        result: Result,
        fail: Callable[[PlimsollError], None],
        end: Callable[[GuardStopped], None],
    ) -> None:
        self._loop = loop
        self._result = result
        self._fail = fail
        self._end = end
        self._start = 0
        self._sent: dict[Hashable, int] = {}
        """By worker."""
        self._allowance: RateAllowance | None = None

    def begin(self, plan: RunPlan, start: int) -> None:
        """The load begins at the stamp `start`, ns."""
        self._plan, self._start = plan, start
        if plan.rails.max_rate is not None:
            self._allowance = RateAllowance(plan.rails.max_rate.value, start)
        if plan.rails.max_run_time is not None:
            self._loop.at(start + round(plan.rails.max_run_time.value * SECOND), self._time_is_up)

    def count(self, worker: Hashable, sent: Sent) -> None:
        """What a worker reports."""
        more = sent.count - self._sent.get(worker, 0)
        self._sent[worker] = sent.count
        if self._allowance is not None and (excess := self._allowance.take(more, sent.stamp)):
            self._allowance = None
            second = max(0, sent.stamp - self._start) // SECOND
            event = GuardStopped(second=second, limit=self._plan.rails.said("max_rate"), how=f"it sent {excess}")
            self._result.happened(event)
            self._fail(PlimsollError(event_text(event)))

    def _time_is_up(self) -> None:
        rails = self._plan.rails
        assert rails.max_run_time is not None
        self._end(GuardStopped(second=int(rails.max_run_time.value), limit=rails.said("max_run_time")))

"""Which requests without a response are failures.

When users stop, some of their requests are still out. Most were merely in flight: they say nothing against the target.
Others had waited for longer than its responses take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.record import Interval
    from plimsoll.record.manifest import Manifest

LEAST_S = 1.0
"""A shorter wait is no failure."""
TIMES_LONGEST = 3
"""A user of the closed model is cut off in the middle of a request. Of 400 simulated healthy runs of 10 users, at most
2 % have a request that had waited for more than so many times the longest answered one, and at most 10 % with Pareto
tails of 1.5: `test_patience.py` simulates ten kinds of latency."""


class Patience:
    """The limit of a run: requests without a response that waited for longer are failures.

    In the open model it is the time that the run waits for responses after its last arrival, if that is at least
    `LEAST_S`. Otherwise it is `TIMES_LONGEST` times the longest response time of the run, and at least `LEAST_S`.
    """

    __slots__ = ("_longest_ns", "waiting_s")

    def __init__(self, waiting_s: float | None = None) -> None:
        """waiting_s: after the last arrival, in seconds; None in the closed model."""
        self.waiting_s = waiting_s
        self._longest_ns = 0

    @classmethod
    def of(cls, manifest: Manifest) -> Patience:
        """That of a recorded run."""
        return cls(manifest.plan.stop_timeout if manifest.is_open else None)

    def note(self, interval: Interval) -> None:
        """Take responses of the run into account."""
        if interval.timed:
            self._longest_ns = max(self._longest_ns, interval.response_max)

    @property
    def is_after_arrivals(self) -> bool:
        """Whether the limit is counted from the last arrival of the run."""
        return self.waiting_s is not None and self.waiting_s >= LEAST_S

    @property
    def limit_s(self) -> float:
        if self.waiting_s is not None and self.is_after_arrivals:
            return self.waiting_s
        return max(LEAST_S, TIMES_LONGEST * self._longest_ns / 1e9)

    def overdue(self, waits: Interval) -> int:
        """How many of these waits are failures."""
        # A histogram knows its values to 0.1 %.
        return waits.response.counts_above([round(self.limit_s * 0.999e6)])[0] if waits.timed else 0

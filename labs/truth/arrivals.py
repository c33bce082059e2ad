"""When the requests of an open model reached the target, against the schedule: arithmetic on the target's record."""

from .target_process import PathTruth

TIMER_SLACK = 50e-6
"""The kernel may wake a thread so much later than it asked for, in s (PR_GET_TIMERSLACK)."""


class Scheduled:
    """A record whose n-th arrival was due n / rate s after the run's start.

    The start is not known to the target. It is taken as late as the record allows: one request was on time. All were
    sent a little late, so it is too late by the least lateness of all, for which `TIMER_SLACK` is allowed.
    """

    def __init__(self, path: PathTruth, rate: float) -> None:
        """rate: arrivals/s, evenly spaced."""
        pairs = sorted(zip(path.arrivals, path.times, strict=True))
        self.arrivals = [arrival / 1e9 for arrival, _ in pairs]
        dues = [index / rate for index in range(len(pairs))]
        self.start = min(arrival - due for arrival, due in zip(self.arrivals, dues, strict=True))
        self._late = [arrival - self.start - due for arrival, due in zip(self.arrivals, dues, strict=True)]
        self._times = [None if time is None else time / 1e9 for _, time in pairs]

    def lateness(self) -> list[float]:
        """From due to arrival at the target, ascending, in s."""
        return sorted(self._late)

    def responses(self) -> list[float]:
        """From due to the last write of the reply, ascending, in s."""
        pairs = zip(self._late, self._times, strict=True)
        return sorted(late + time for late, time in pairs if time is not None)

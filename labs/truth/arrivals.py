"""Compares the arrivals of an open model at the target with the schedule. Uses only the target's record."""

from statistics import median

from .target_process import PathTruth

TIMER_SLACK = 50e-6
"""The kernel may wake a thread this much later than requested, s (PR_GET_TIMERSLACK)."""


class Scheduled:
    """A record whose n-th arrival was due n / rate s after the run's start.

    The target does not know the start of the run. It is estimated as late as possible: at least one request was on
    time. All were sent slightly late, so the estimate is too late by the smallest lateness, for which `TIMER_SLACK` is
    allowed.
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

    def drift(self) -> float:
        """The median lateness of the last tenth of the arrivals minus that of the first tenth, s.

        Raises ValueError if there are fewer than ten."""
        tenth = len(self._late) // 10
        return median(self._late[-tenth:]) - median(self._late[:tenth])

    def responses(self) -> list[float]:
        """From due to the last write of the reply, ascending, in s."""
        pairs = zip(self._late, self._times, strict=True)
        return sorted(late + time for late, time in pairs if time is not None)

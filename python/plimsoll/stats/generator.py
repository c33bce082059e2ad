"""Health of the load generator over all of its workers."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from plimsoll._engine import Histogram
from plimsoll.record import WORKER_STATE, GeneratorCounts, WorkerState

if TYPE_CHECKING:
    from plimsoll.record import Health


_COUNTED_STATE = tuple(name for name in WORKER_STATE if name != "cpu")


class _Series:
    """One worker second by second: 24 bytes a second without objects, because a run may be long."""

    __slots__ = ("cpu", "values")

    def __init__(self) -> None:
        self.cpu = array("d")
        """-1 for a second that it did not report."""
        self.values = {name: array("I") for name in _COUNTED_STATE}

    def add(self, health: Health) -> None:
        second = health.second
        missing = second + 1 - len(self.cpu)
        if missing > 0:
            self.cpu.extend([-1.0] * missing)
        self.cpu[second] = max(self.cpu[second], health.cpu)
        # As in `WorkerState`: only one row of a second has the state.
        for name, values in self.values.items():
            if missing > 0:
                values.extend([0] * missing)
            values[second] = max(values[second], getattr(health, name))


@dataclass
class _LastState(WorkerState):
    """A worker at its last report, which came in several rows."""

    second: int = -1


class GeneratorView(GeneratorCounts):
    """The sum of the workers' health: their counters, lag, delay and CPU."""

    def __init__(self) -> None:
        super().__init__()
        self.lag = Histogram()
        self.delay = Histogram()
        self.cpu_max = 0.0
        """Busiest second of the busiest worker, 0…1 for one thread."""
        self.length: float | None = None
        """Seconds from second 0 to the end of the run, once that is known."""
        self.cpu_used = 0.0
        """CPU seconds of all workers."""
        self.cpu_waited = 0.0
        """Seconds in which workers were ready to run, but this computer ran something else."""
        self.backed_off = 0.0
        """User seconds of waiting to reconnect after failed connections."""
        self.gathered = 0.0
        """Seconds for which replies waited because workers slept to read more of them at a time."""
        self._offered = array("Q")
        """By second, like the next two."""
        self._lag_sum = array("d")
        """µs."""
        self._lag_count = array("Q")
        self._workers: dict[int, _Series] = {}
        self._latest: dict[int, Health | _LastState] = {}

    def add(self, health: Health, *, warmup: bool = False) -> None:
        """warmup: it updates only the current state, and is in no sum."""
        self._note_state(health)
        if warmup:
            return
        self.lag.add(health.lag)
        self.delay.add(health.delay)
        self.add_counts(health)
        self.cpu_max = max(self.cpu_max, health.cpu)
        self.cpu_used += health.cpu
        self.cpu_waited += health.cpu_wait_ms / 1000
        self.backed_off += health.backoff_ms / 1000
        self.gathered += health.gathered_ms / 1000
        missing = health.second + 1 - len(self._offered)
        for values in (self._offered, self._lag_sum, self._lag_count):
            values.extend([0] * missing)
        self._offered[health.second] += health.offered
        self._lag_sum[health.second] += health.lag.mean * health.lag.count
        self._lag_count[health.second] += health.lag.count
        series = self._workers.get(health.worker)
        if series is None:
            series = self._workers[health.worker] = _Series()
        series.add(health)

    def _note_state(self, health: Health) -> None:
        last = self._latest.get(health.worker)
        if last is None or health.second > last.second:
            self._latest[health.worker] = health
        elif health.second == last.second:
            both = self._latest[health.worker] = _LastState(second=health.second)
            both.raise_to(last)
            both.raise_to(health)

    @property
    def workers(self) -> int:
        return len(self._latest)

    @property
    def users(self) -> int:
        """Users alive at the workers' last reports."""
        return sum(state.users for state in self._latest.values())

    @property
    def in_flight(self) -> int:
        """Exchanges in flight at the workers' last reports."""
        return sum(state.in_flight for state in self._latest.values())

    @property
    def waiting(self) -> int:
        """Arrivals waiting for a user at the workers' last reports."""
        return sum(state.waiting for state in self._latest.values())

    @property
    def begun(self) -> int:
        """Arrivals that a user accepted, so that their first request was sent."""
        return max(0, self.offered - self.dropped - self.waiting)

    def busy_share(self, limit: float) -> float:
        """Share, 0…1, of the workers' whole seconds in which a worker used more CPU than `limit` (0…1).

        The second in which the run ended is excluded: it is too short for a CPU reading. 0 if there is no other.
        """
        cpu = [each for series in self._workers.values() for each in series.cpu[: self._whole_seconds] if each >= 0]
        return sum(each > limit for each in cpu) / len(cpu) if cpu else 0.0

    def full_seconds(self, limit: float) -> list[int]:
        """The whole seconds in which some worker used CPU, or waited for one, for more than `limit` (0…1) of the
        time."""
        found = {
            second
            for series in self._workers.values()
            for second, each in enumerate(series.cpu[: self._whole_seconds])
            if each + series.values["cpu_wait_ms"][second] / 1000 > limit
        }
        return sorted(found)

    def mean_lag_by_second(self) -> dict[int, float]:
        """ms, of the seconds in which anything was sent."""
        return {
            second: total / many / 1000
            for second, (total, many) in enumerate(zip(self._lag_sum, self._lag_count, strict=True))
            if many
        }

    def silences(self, limit_ms: float) -> dict[int, int]:
        """The seconds in which a worker with users was silent for longer than that, and for how many ms."""
        found: dict[int, int] = {}
        for series in self._workers.values():
            for second, silent in enumerate(series.values["silence_ms"]):
                if silent > limit_ms and series.values["users"][second]:
                    found[second] = max(silent, found.get(second, 0))
        return dict(sorted(found.items()))

    @property
    def mean_silence_ms(self) -> float:
        """Mean of the longest silences of the workers' seconds, ms."""
        silent = [each for series in self._workers.values() for each in series.values["silence_ms"]]
        return fmean(silent) if silent else 0.0

    @property
    def _whole_seconds(self) -> int:
        return len(self._offered) if self.length is None else int(self.length)

    def users_by_second(self, seconds: range | None = None) -> dict[int, int]:
        """Users alive at the end of each second with a worker's report, or of those among `seconds`, as in the methods
        below."""
        return self._by_second("users", seconds)

    def in_flight_by_second(self, seconds: range | None = None) -> dict[int, int]:
        """Exchanges in flight."""
        return self._by_second("in_flight", seconds)

    def waiting_by_second(self, seconds: range | None = None) -> dict[int, int]:
        """Arrivals waiting for a user."""
        return self._by_second("waiting", seconds)

    def offered_by_second(self, seconds: range | None = None) -> dict[int, int]:
        """Arrivals due in each second."""
        return {second: self._offered[second] for second in self._reported(seconds)}

    def _reported(self, seconds: range | None) -> list[int]:
        """The seconds with a worker's report."""
        first, stop = (0, len(self._offered)) if seconds is None else (seconds.start, seconds.stop)
        is_reported = bytearray(max(0, stop - first))
        for series in self._workers.values():
            for place, cpu in enumerate(series.cpu[first:stop]):
                if cpu >= 0:
                    is_reported[place] = 1
        return [first + place for place, found in enumerate(is_reported) if found]

    def _by_second(self, name: str, seconds: range | None) -> dict[int, int]:
        series = [each.values[name] for each in self._workers.values()]
        if len(series) == 1:
            return {second: series[0][second] for second in self._reported(seconds)}
        return {second: sum(x[second] for x in series if second < len(x)) for second in self._reported(seconds)}

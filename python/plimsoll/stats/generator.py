"""How well the load generator itself kept up, over all of its workers."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll._engine import Histogram

if TYPE_CHECKING:
    from plimsoll.record import Health


class _Series:
    """One worker second by second. A run may be long: 20 bytes a second, and no object of its own."""

    __slots__ = ("cpu", "in_flight", "users", "waiting")

    def __init__(self) -> None:
        self.cpu = array("d")
        """-1 for a second that it did not report."""
        self.users = array("I")
        self.in_flight = array("I")
        self.waiting = array("I")

    def add(self, health: Health) -> None:
        second = health.second
        missing = second + 1 - len(self.cpu)
        if missing > 0:
            self.cpu.extend([-1.0] * missing)
            for values in (self.users, self.in_flight, self.waiting):
                values.extend([0] * missing)
        # A second may come in several rows, of which only one carries the worker's state; the others say 0.
        self.cpu[second] = max(self.cpu[second], health.cpu)
        self.users[second] = max(self.users[second], health.users)
        self.in_flight[second] = max(self.in_flight[second], health.in_flight)
        self.waiting[second] = max(self.waiting[second], health.waiting)


@dataclass(slots=True)
class _State:
    """A worker when it last reported."""

    second: int = -1
    users: int = 0
    in_flight: int = 0
    waiting: int = 0

    def update(self, health: Health) -> None:
        if health.second > self.second:
            self.second = health.second
            self.users = self.in_flight = self.waiting = 0
        if health.second == self.second:
            self.users = max(self.users, health.users)
            self.in_flight = max(self.in_flight, health.in_flight)
            self.waiting = max(self.waiting, health.waiting)


class GeneratorView:
    """The sum of the workers' health: their lag, delay and CPU, and in the open model what became of the arrivals."""

    def __init__(self) -> None:
        self.lag = Histogram()
        self.delay = Histogram()
        self.user_stamps = 0
        self.rejected_stamps = 0
        self.offered = 0
        """Arrivals of the open model that were due."""
        self.dropped = 0
        """Of these, never sent."""
        self.exhausted = 0
        """Exchanges that failed because files, ports or memory of the generator ran out."""
        self.cpu_max = 0.0
        """Busiest second of the busiest worker, 0…1 for one thread."""
        self.length: float | None = None
        """Seconds from second 0 to the end of the run, once that is known."""
        self._offered = array("Q")
        """By second."""
        self._workers: dict[int, _Series] = {}
        self._latest: dict[int, _State] = {}

    def add(self, health: Health, *, warmup: bool = False) -> None:
        """warmup: it only says how things stand now, and counts in no sum."""
        self._latest.setdefault(health.worker, _State()).update(health)
        if warmup:
            return
        self.lag.add(health.lag)
        self.delay.add(health.delay)
        self.user_stamps += health.user_stamps
        self.rejected_stamps += health.rejected_stamps
        self.offered += health.offered
        self.dropped += health.dropped
        self.exhausted += health.exhausted
        self.cpu_max = max(self.cpu_max, health.cpu)
        self._offered.extend([0] * (health.second + 1 - len(self._offered)))
        self._offered[health.second] += health.offered
        self._workers.setdefault(health.worker, _Series()).add(health)

    @property
    def workers(self) -> int:
        return len(self._latest)

    @property
    def users(self) -> int:
        """Users alive when the workers last reported."""
        return sum(state.users for state in self._latest.values())

    @property
    def in_flight(self) -> int:
        """Exchanges in flight when the workers last reported."""
        return sum(state.in_flight for state in self._latest.values())

    @property
    def waiting(self) -> int:
        """Arrivals that waited for a user when the workers last reported."""
        return sum(state.waiting for state in self._latest.values())

    @property
    def begun(self) -> int:
        """Arrivals that a user took up, so that its first request was sent."""
        return max(0, self.offered - self.dropped - self.waiting)

    def busy_share(self, limit: float) -> float:
        """Share, 0…1, of the workers' whole seconds in which a worker used more CPU than `limit` (0…1).

        The second in which the run ended is none: the CPU of so short a time tells little. 0 when there is no other.
        """
        whole = len(self._offered) if self.length is None else int(self.length)
        cpu = [each for series in self._workers.values() for each in series.cpu[:whole] if each >= 0]
        return sum(each > limit for each in cpu) / len(cpu) if cpu else 0.0

    def users_by_second(self, seconds: range | None = None) -> dict[int, int]:
        """Users alive at the end of each second that any worker reported, or of those among `seconds`; likewise
        below."""
        return self._by_second("users", seconds)

    def in_flight_by_second(self, seconds: range | None = None) -> dict[int, int]:
        """Exchanges in flight."""
        return self._by_second("in_flight", seconds)

    def waiting_by_second(self, seconds: range | None = None) -> dict[int, int]:
        """Arrivals that waited for a user."""
        return self._by_second("waiting", seconds)

    def offered_by_second(self, seconds: range | None = None) -> dict[int, int]:
        """Arrivals that were due in each second."""
        return {second: self._offered[second] for second in self._reported(seconds)}

    def _reported(self, seconds: range | None) -> list[int]:
        """The seconds that any worker reported."""
        first, stop = (0, len(self._offered)) if seconds is None else (seconds.start, seconds.stop)
        told = bytearray(max(0, stop - first))
        for series in self._workers.values():
            for place, cpu in enumerate(series.cpu[first:stop]):
                if cpu >= 0:
                    told[place] = 1
        return [first + place for place, is_told in enumerate(told) if is_told]

    def _by_second(self, name: str, seconds: range | None) -> dict[int, int]:
        series = [getattr(each, name) for each in self._workers.values()]
        if len(series) == 1:
            return {second: series[0][second] for second in self._reported(seconds)}
        return {second: sum(x[second] for x in series if second < len(x)) for second in self._reported(seconds)}

"""The fold of a run: intervals go in, in any order, from a live run or from the store; sums come out."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from plimsoll._engine import Histogram
from plimsoll.record import FAILURES, TIMED, Interval
from plimsoll.stats.latency import Latency

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.record import CaughtException, Failure, Health

WINDOW = 10
"""Seconds that "current" numbers look back."""

CANCELLED = "cancelled"
AGGREGATED = "Aggregated"


class Recorded(Protocol):
    """A run that can be read; what the store hands out."""

    @property
    def started(self) -> float: ...
    @property
    def ended(self) -> float | None: ...
    def intervals(self) -> Iterable[Interval]: ...
    def health(self) -> Iterable[Health]: ...
    def failures(self) -> Iterable[Failure]: ...
    def exceptions(self) -> Iterable[CaughtException]: ...


class Totals:
    """The sum of some intervals of one endpoint, or of all endpoints, kept apart by outcome."""

    def __init__(self, method: str, name: str) -> None:
        self.method = method
        self.name = name
        self.outcomes: dict[str, Interval] = {}

    def add(self, interval: Interval) -> None:
        into = self.outcomes.get(interval.outcome)
        if into is None:
            into = self.outcomes[interval.outcome] = Interval(0, self.method, self.name, interval.outcome)
        into.add(interval)

    @property
    def requests(self) -> int:
        """Exchanges that ended by themselves, well or badly; not those that the stop of the run cut off."""
        return sum(each.count for each in self.outcomes.values()) - self.cancelled

    @property
    def failures(self) -> int:
        return sum(each.count for each in self.outcomes.values() if each.failed)

    @property
    def cancelled(self) -> int:
        return self.outcomes[CANCELLED].count if CANCELLED in self.outcomes else 0

    @property
    def bytes_body(self) -> int:
        """Decoded body bytes received."""
        return sum(each.bytes_body for each in self.outcomes.values())

    @property
    def bytes_out(self) -> int:
        """Bytes sent on the wire."""
        return sum(each.bytes_out for each in self.outcomes.values())

    @property
    def bytes_in(self) -> int:
        """Bytes received on the wire."""
        return sum(each.bytes_in for each in self.outcomes.values())

    @property
    def response(self) -> Latency:
        """arrival - due of the outcomes that tell how long an answer takes; refusals and resets are not among them."""
        return Latency.of_response(each for each in self.outcomes.values() if each.outcome in TIMED)

    @property
    def service(self) -> Latency:
        """arrival - sent of the same exchanges."""
        return Latency.of_service(each for each in self.outcomes.values() if each.outcome in TIMED)

    @property
    def failed_outcomes(self) -> list[Interval]:
        """Sums of the failure kinds that occurred, the most frequent first."""
        failed = (each for each in self.outcomes.values() if each.outcome in FAILURES and each.count)
        return sorted(failed, key=lambda each: (-each.count, each.outcome))


class EndpointView(Totals):
    """An endpoint over a whole run, with its counts second by second."""

    def __init__(self, method: str, name: str) -> None:
        super().__init__(method, name)
        self.requests_by_second = array("Q")
        self.failures_by_second = array("Q")

    def add(self, interval: Interval) -> None:
        super().add(interval)
        if interval.outcome == CANCELLED:
            return
        missing = interval.second + 1 - len(self.requests_by_second)
        if missing > 0:
            self.requests_by_second.extend([0] * missing)
            self.failures_by_second.extend([0] * missing)
        self.requests_by_second[interval.second] += interval.count
        self.failures_by_second[interval.second] += interval.count if interval.failed else 0


class GeneratorView:
    """How well the generator kept up: its own lag, delay and CPU, over all workers and seconds."""

    def __init__(self) -> None:
        self.lag = Histogram()
        self.delay = Histogram()
        self.user_stamps = 0
        self.rejected_stamps = 0
        self.dropped = 0
        self.cpu_max = 0.0
        """Busiest second of the busiest worker, 0…1 for one thread."""
        self._latest: dict[int, tuple[int, int, int]] = {}
        self._users: dict[int, dict[int, int]] = {}

    def add(self, health: Health) -> None:
        self.lag.add(health.lag)
        self.delay.add(health.delay)
        self.user_stamps += health.user_stamps
        self.rejected_stamps += health.rejected_stamps
        self.dropped += health.dropped
        self.cpu_max = max(self.cpu_max, health.cpu)
        # A second may come in several rows, of which only one carries users and what is in flight.
        state = health.second, health.users, health.in_flight
        self._latest[health.worker] = max(state, self._latest.get(health.worker, state))
        by_worker = self._users.setdefault(health.second, {})
        by_worker[health.worker] = max(health.users, by_worker.get(health.worker, 0))

    @property
    def workers(self) -> int:
        return len(self._latest)

    @property
    def users(self) -> int:
        """Users alive when the workers last reported."""
        return sum(users for _, users, _ in self._latest.values())

    @property
    def in_flight(self) -> int:
        """Exchanges in flight when the workers last reported."""
        return sum(in_flight for _, _, in_flight in self._latest.values())

    def users_by_second(self) -> dict[int, int]:
        """Users alive in each second that any worker reported."""
        return {second: sum(self._users[second].values()) for second in sorted(self._users)}


class Window:
    """The last few seconds of a run: sums per endpoint and over all."""

    def __init__(self, intervals: Iterable[Interval], seconds: int) -> None:
        self.seconds = seconds
        self.total = Totals("", AGGREGATED)
        self._endpoints: dict[tuple[str, str], Totals] = {}
        for interval in intervals:
            self.total.add(interval)
            key = interval.method, interval.name
            if key not in self._endpoints:
                self._endpoints[key] = Totals(*key)
            self._endpoints[key].add(interval)

    def endpoint(self, method: str, name: str) -> Totals:
        return self._endpoints.get((method, name)) or Totals(method, name)


class RunView:
    """A run as one value. Everything added is summed; what is passed in stays as it was and must stay so."""

    def __init__(self) -> None:
        self.total = EndpointView("", AGGREGATED)
        self.generator = GeneratorView()
        self.length: float | None = None
        """Seconds from the run's second 0 to its end, once that is known."""
        self._endpoints: dict[tuple[str, str], EndpointView] = {}
        self._failures: dict[tuple[str, str, str, str], Failure] = {}
        self._exceptions: dict[tuple[str, str], CaughtException] = {}
        self._recent: dict[int, list[Interval]] = {}
        self._last = -1

    @classmethod
    def of(cls, run: Recorded) -> RunView:
        """The view of a recorded run."""
        view = cls()
        view.add(run.intervals(), run.health(), run.failures(), run.exceptions())
        if run.ended is not None:
            view.length = run.ended - run.started
        return view

    def add(
        self,
        intervals: Iterable[Interval],
        health: Iterable[Health] = (),
        failures: Iterable[Failure] = (),
        exceptions: Iterable[CaughtException] = (),
    ) -> None:
        for interval in intervals:
            self._add_interval(interval)
        for row in health:
            self.generator.add(row)
            self._reach(row.second)
        for failure in failures:
            if known := self._failures.get(failure.key):
                known.add(failure)
            else:
                self._failures[failure.key] = replace(failure)
        for exception in exceptions:
            key = exception.message, exception.traceback
            if caught := self._exceptions.get(key):
                caught.add(exception)
            else:
                self._exceptions[key] = replace(exception, workers=set(exception.workers))

    def _add_interval(self, interval: Interval) -> None:
        key = interval.method, interval.name
        endpoint = self._endpoints.get(key)
        if endpoint is None:
            endpoint = self._endpoints[key] = EndpointView(*key)
        endpoint.add(interval)
        self.total.add(interval)
        self._reach(interval.second)
        if interval.second > self._last - WINDOW:
            self._recent.setdefault(interval.second, []).append(interval)

    def _reach(self, second: int) -> None:
        if second > self._last:
            self._last = second
            for old in [each for each in self._recent if each <= second - WINDOW]:
                del self._recent[old]

    @property
    def endpoints(self) -> list[EndpointView]:
        """By name, then method: the order of every table."""
        return sorted(self._endpoints.values(), key=lambda each: (each.name, each.method))

    @property
    def failures(self) -> list[Failure]:
        """The most frequent first."""
        return sorted(self._failures.values(), key=lambda each: (-each.count, each.key))

    @property
    def exceptions(self) -> list[CaughtException]:
        """The most frequent first."""
        return sorted(self._exceptions.values(), key=lambda each: (-each.count, each.message, each.traceback))

    @property
    def last_second(self) -> int:
        """The last second with anything in it; -1 for a run without."""
        return self._last

    @property
    def duration(self) -> float:
        """Seconds that rates are taken over: to the end of the last second, or to the end of the run within it."""
        whole = float(self._last + 1)
        if self.length is None or not self._last < self.length < whole:
            return whole
        return self.length

    def window(self) -> Window:
        """The last `WINDOW` seconds, or all of a younger run."""
        seconds = min(WINDOW, self._last + 1)
        return Window((each for second in self._recent.values() for each in second), seconds)

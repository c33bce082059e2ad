"""The fold of a run: intervals go in, in any order, from a live run or from the store; sums come out."""

from __future__ import annotations

import math
from array import array
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from plimsoll.record import CANCELLED, DROPPED, FAILURES, NO_REQUESTS, TIMED, TIMES_OF, Interval
from plimsoll.stats.generator import GeneratorView
from plimsoll.stats.latency.milliseconds import Latency
from plimsoll.stats.left_out import LeftOut, first_second

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from plimsoll.record import CaughtException, Failure, Health

WINDOW = 10
"""Seconds that "current" numbers look back."""

AGGREGATED = "Aggregated"


class RecordedRun(Protocol):
    """A run that can be read; what the store hands out."""

    @property
    def started(self) -> float: ...
    @property
    def ended(self) -> float | None: ...
    @property
    def manifest(self) -> Mapping[str, Any]: ...
    @property
    def facts(self) -> Mapping[str, Any]: ...
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
        """Exchanges that ended by themselves, well or badly; neither cancelled nor dropped ones."""
        return sum(each.count for each in self.outcomes.values() if each.outcome not in NO_REQUESTS)

    @property
    def failures(self) -> int:
        """Of the requests, those that failed."""
        return sum(each.count for each in self.failed_outcomes)

    @property
    def cancelled(self) -> int:
        """Exchanges that the stop of their user cut off."""
        return self.outcomes[CANCELLED].count if CANCELLED in self.outcomes else 0

    @property
    def dropped(self) -> int:
        """What was due and never sent."""
        return self.outcomes[DROPPED].count if DROPPED in self.outcomes else 0

    @property
    def bytes_body(self) -> int:
        """Decoded body bytes received."""
        return sum(each.bytes_body for each in self.outcomes.values())

    @property
    def bytes_out(self) -> int:
        """Bytes sent on the wire."""
        return sum(each.bytes_out for each in self.outcomes.values())

    @property
    def retries(self) -> int:
        """Requests sent again because a kept connection turned out to be closed."""
        return sum(each.retries for each in self.outcomes.values())

    @property
    def bytes_in(self) -> int:
        """Bytes received on the wire."""
        return sum(each.bytes_in for each in self.outcomes.values())

    @property
    def response(self) -> Latency:
        """arrival - due of the outcomes that tell how long an answer takes."""
        return self.response_of(TIMED)

    @property
    def service(self) -> Latency:
        """arrival - sent of the same exchanges."""
        return self.service_of(TIMED)

    def response_of(self, outcomes: Container[str]) -> Latency:
        return Latency.of_response(each for each in self.outcomes.values() if each.outcome in outcomes)

    def service_of(self, outcomes: Container[str]) -> Latency:
        return Latency.of_service(each for each in self.outcomes.values() if each.outcome in outcomes)

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
        if interval.outcome in NO_REQUESTS:
            return
        missing = interval.second + 1 - len(self.requests_by_second)
        if missing > 0:
            self.requests_by_second.extend([0] * missing)
            self.failures_by_second.extend([0] * missing)
        self.requests_by_second[interval.second] += interval.count
        self.failures_by_second[interval.second] += interval.count if interval.failed else 0


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
    """A run as one value. Everything added is summed; what is passed in stays as it was and must stay so.

    warmup: seconds from the start that are left out of every sum, rounded up to whole ones: the warm-up, and what came
    before a reset. They are seen in the window of the last seconds only. times_of: a key of `TIMES_OF`.
    """

    def __init__(self, warmup: float = 0.0, times_of: str = "all") -> None:
        self.warmup = math.ceil(warmup)
        """The first second that counts."""
        self.times_of = times_of
        """Whose times the tables of this run show. All are kept; what judges the generator takes all."""
        self.total = EndpointView("", AGGREGATED)
        self.generator = GeneratorView()
        self._endpoints: dict[tuple[str, str], EndpointView] = {}
        self._failures: dict[tuple[str, str, str, str], Failure] = {}
        self._exceptions: dict[str, CaughtException] = {}
        self._recent: dict[int, list[Interval]] = {}
        self._last = -1

    @classmethod
    def of(cls, run: RecordedRun, times_of: str | None = None) -> RunView:
        """The view of a recorded run, without what is left out. times_of: None for what the run was told."""
        first = first_second(run.manifest, run.facts)
        view = cls(first, times_of or run.manifest.get("times_of") or "all")
        # An exception is kept without its times, so those of the warm-up cannot be told apart.
        failures = (each for each in run.failures() if not first or each.last >= run.started + first)
        left_out = LeftOut.of(run.facts)
        view.add(
            run.intervals(),
            run.health(),
            left_out.rest_of_failures(failures, run.started + first),
            left_out.rest_of_exceptions(run.exceptions()),
        )
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
            self.generator.add(row, warmup=row.second < self.warmup)
            self._reach(row.second)
        for failure in failures:
            if known := self._failures.get(failure.key):
                known.add(failure)
            else:
                self._failures[failure.key] = replace(failure)
        for exception in exceptions:
            if caught := self._exceptions.get(exception.key):
                caught.add(exception)
            else:
                self._exceptions[exception.key] = replace(exception, workers=set(exception.workers))

    def _add_interval(self, interval: Interval) -> None:
        if interval.second >= self.warmup:
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
    def timed(self) -> frozenset[str]:
        """The outcomes that `times_of` names."""
        return TIMES_OF[self.times_of]

    @property
    def endpoints(self) -> list[EndpointView]:
        """Those with requests, by name, then method: the order of every table.

        What was only cancelled or dropped has no row of its own; `total` has it.
        """
        with_requests = (each for each in self._endpoints.values() if each.requests)
        return sorted(with_requests, key=lambda each: (each.name, each.method))

    @property
    def failures(self) -> list[Failure]:
        """The most frequent first."""
        return sorted(self._failures.values(), key=lambda each: (-each.count, each.key))

    @property
    def counted_failures(self) -> list[Failure]:
        """Those among the requests that are counted so far, the most frequent first.

        While a run goes on `failures` are ahead: workers tell of them at once, and of requests by whole seconds.
        """
        failures = self.failures
        endpoints = self._endpoints.values() if failures else ()
        left = {
            (each.method, each.name, outcome.outcome): outcome.count
            for each in endpoints
            for outcome in each.failed_outcomes
        }
        found = []
        for failure in failures:
            of = failure.method, failure.name, failure.outcome
            count = min(failure.count, left.get(of, 0))
            if count:
                left[of] -= count
                found.append(replace(failure, count=count))
        return sorted(found, key=lambda each: (-each.count, each.key))

    @property
    def exceptions(self) -> list[CaughtException]:
        """The most frequent first."""
        return sorted(self._exceptions.values(), key=lambda each: (-each.count, each.message, each.traceback))

    @property
    def last_second(self) -> int:
        """The last second with anything in it; -1 for a run without."""
        return self._last

    @property
    def length(self) -> float | None:
        """Seconds from the run's second 0 to its end, once that is known."""
        return self.generator.length

    @length.setter
    def length(self, seconds: float) -> None:
        self.generator.length = seconds

    @property
    def duration(self) -> float:
        """Seconds that rates are taken over: from the end of the warm-up to the end of the last second, or to the end
        of the run within it. 0 for a run that ended while it warmed up."""
        end = float(self._last + 1)
        if self.length is not None and self._last < self.length < end:
            end = self.length
        return max(0.0, end - self.warmup)

    @property
    def offered_rate(self) -> float:
        """Arrivals of the open model per second, from the end of the warm-up to the last second that had any."""
        last = max((second for second, offered in self.generator.offered_by_second().items() if offered), default=-1)
        end = last + 1.0 if self.length is None else min(last + 1.0, self.length)
        return self.generator.offered / (end - self.warmup) if end > self.warmup else 0.0

    def window(self) -> Window:
        """The last `WINDOW` seconds, or all of a younger run."""
        seconds = min(WINDOW, self._last + 1)
        return Window((each for second in self._recent.values() for each in second), seconds)

"""Sums of intervals: of one endpoint or of all, by outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.record import DROPPED, FAILURES, NO_REQUESTS, TIMED, UNANSWERED, ExchangeCounts, Interval, added_up
from plimsoll.stats.latency.milliseconds import Latency

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

AGGREGATED = "Aggregated"
"""The name of all endpoints together."""


class Totals:
    """The sum of some intervals of one endpoint, or of all endpoints, separately by outcome.

    second: of the intervals, if it is the same for all of them.
    """

    def __init__(self, method: str = "", name: str = "", second: int = 0) -> None:
        self.method = method
        self.name = name
        self.second = second
        self.outcomes: dict[str, Interval] = {}

    @classmethod
    def of(cls, method: str, name: str, intervals: Iterable[Interval], second: int = 0) -> Totals:
        """Of several at once, to be read only: an interval that is alone is itself its sum."""
        totals = cls(method, name, second)
        alike: dict[str, list[Interval]] = {}
        for interval in intervals:
            alike.setdefault(interval.outcome, []).append(interval)
        for outcome, parts in alike.items():
            one = parts[0] if len(parts) == 1 else added_up(second, method, name, outcome, parts)
            totals.outcomes[outcome] = one
        return totals

    def add(self, interval: Interval) -> None:
        into = self.outcomes.get(interval.outcome)
        if into is None:
            into = self.outcomes[interval.outcome] = Interval(self.second, self.method, self.name, interval.outcome)
        into.add(interval)

    def merge(self, other: Totals) -> None:
        for interval in other.outcomes.values():
            self.add(interval)

    def interval_of(self, outcomes: Container[str]) -> Interval:
        """The sum of these outcomes, without an outcome of its own."""
        total = Interval(self.second, self.method, self.name, "")
        for interval in self.outcomes.values():
            if interval.outcome in outcomes:
                total.add(interval)
        return total

    def count_of(self, outcomes: Container[str]) -> int:
        """Exchanges with these outcomes."""
        return sum([interval.count for outcome, interval in self.outcomes.items() if outcome in outcomes])

    @property
    def completed(self) -> int:
        """Exchanges that ended by themselves, well or badly: all but unanswered and dropped ones."""
        return sum(interval.count for interval in self.outcomes.values() if interval.outcome not in NO_REQUESTS)

    @property
    def waited_ns(self) -> int:
        """The sum of the response times of all that was sent, with the waits for responses that did not come."""
        return sum(interval.response_sum for outcome, interval in self.outcomes.items() if outcome != DROPPED)

    @property
    def body_bytes(self) -> int:
        """Of the completed ones: a response whose user was stopped before it was judged is none of them."""
        return sum(interval.bytes_body for interval in self.outcomes.values() if interval.outcome not in NO_REQUESTS)

    @property
    def requests(self) -> int:
        """The completed ones, and those that failed because no response came."""
        return self.completed + self.overdue

    @property
    def failures(self) -> int:
        """Of the requests, those that failed."""
        return self.count_of(FAILURES) + self.overdue

    @property
    def completed_failures(self) -> int:
        """Of the completed ones, those that failed."""
        return self.failures - self.overdue

    @property
    def unanswered(self) -> int:
        """Exchanges without a response when their user was stopped. offered = completed + unanswered + dropped."""
        return self.count_of({UNANSWERED})

    @property
    def overdue(self) -> int:
        """Of the unanswered ones, those that are failures. Only a whole run knows."""
        return 0

    @property
    def dropped(self) -> int:
        """Arrivals that were due but never sent."""
        return self.count_of({DROPPED})

    @property
    def counts(self) -> ExchangeCounts:
        """The counters of all outcomes together, including those that are no requests."""
        total = ExchangeCounts(self.second, self.method, self.name, "")
        for each in self.outcomes.values():
            total.add_counts(each)
        return total

    @property
    def response(self) -> Latency:
        """arrival - due of the outcomes with a meaningful response time."""
        return self.response_of(TIMED)

    @property
    def service(self) -> Latency:
        """arrival - sent of the same exchanges."""
        return self.service_of(TIMED)

    def response_of(self, outcomes: Container[str]) -> Latency:
        times = (each for each in self.outcomes.values() if each.outcome in outcomes)
        return Latency.of_response(times, self._waits_of(outcomes))

    def service_of(self, outcomes: Container[str]) -> Latency:
        times = (each for each in self.outcomes.values() if each.outcome in outcomes)
        return Latency.of_service(times, self._waits_of(outcomes))

    def _waits_of(self, outcomes: Container[str]) -> Interval | None:
        """A response that did not come may have been a success, but it cannot be said to be a failure with one."""
        return self.outcomes.get(UNANSWERED) if "success" in outcomes else None

    @property
    def failed_outcomes(self) -> list[Interval]:
        """Sums of the failure kinds that occurred, the most frequent first."""
        failed = [each for each in self.outcomes.values() if each.outcome in FAILURES and each.count]
        if overdue := self.overdue:
            failed.append(replace(self.outcomes[UNANSWERED], count=overdue))
        return sorted(failed, key=lambda each: (-each.count, each.outcome))

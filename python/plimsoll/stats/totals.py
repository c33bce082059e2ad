"""Sums of intervals: of one endpoint or of all, by outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.record import CANCELLED, DROPPED, FAILURES, NO_REQUESTS, TIMED, ExchangeCounts, Interval, added_up
from plimsoll.stats.latency.milliseconds import Latency

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

AGGREGATED = "Aggregated"
"""The name of all endpoints together."""


class Totals:
    """The sum of some intervals of one endpoint, or of all endpoints, separately by outcome.

    second: of the intervals, if it is the same for all of them.
    """

    def __init__(self, method: str, name: str, second: int = 0) -> None:
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
        """Exchanges cut off by the stop of their user."""
        return self.outcomes[CANCELLED].count if CANCELLED in self.outcomes else 0

    @property
    def dropped(self) -> int:
        """Arrivals that were due but never sent."""
        return self.outcomes[DROPPED].count if DROPPED in self.outcomes else 0

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
        return Latency.of_response(each for each in self.outcomes.values() if each.outcome in outcomes)

    def service_of(self, outcomes: Container[str]) -> Latency:
        return Latency.of_service(each for each in self.outcomes.values() if each.outcome in outcomes)

    @property
    def failed_outcomes(self) -> list[Interval]:
        """Sums of the failure kinds that occurred, the most frequent first."""
        failed = (each for each in self.outcomes.values() if each.outcome in FAILURES and each.count)
        return sorted(failed, key=lambda each: (-each.count, each.outcome))

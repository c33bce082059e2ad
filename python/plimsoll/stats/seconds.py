"""Groups incoming data by second: the one pass that every view of a run reads."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from plimsoll.record import STREAM_ROWS
from plimsoll.stats.totals import AGGREGATED, Totals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from plimsoll.record import Health, Interval

WINDOW = 10
"""Window of "current" numbers in seconds."""

Key = tuple[str, str]
"""(method, name) of an endpoint."""


class SecondSums:
    """Data of one second that arrived together. Immutable."""

    __slots__ = ("_endpoints", "_total", "intervals", "second")

    def __init__(self, second: int, intervals: list[Interval]) -> None:
        self.second = second
        self.intervals = intervals
        self._total: Totals | None = None
        self._endpoints: dict[Key, list[Interval]] | None = None

    @property
    def total(self) -> Totals:
        """All endpoints together. Added up when somebody asks for it."""
        if self._total is None:
            requests = (each for each in self.intervals if each.method not in STREAM_ROWS)
            self._total = Totals.of("", AGGREGATED, requests, self.second)
        return self._total

    @property
    def endpoints(self) -> dict[Key, list[Interval]]:
        """The intervals by endpoint. Grouped on first access."""
        if self._endpoints is None:
            self._endpoints = {}
            for interval in self.intervals:
                self._endpoints.setdefault((interval.method, interval.name), []).append(interval)
        return self._endpoints


def by_second(intervals: Iterable[Interval]) -> Iterator[SecondSums]:
    """Groups consecutive intervals of the same second; a second may occur again."""
    for second, found in groupby(intervals, attrgetter("second")):
        yield SecondSums(second, list(found))


class RecentSeconds:
    """The last `WINDOW` seconds of a run, or all of a younger one: by endpoint, all together, and by worker.

    Late data of these seconds is added; data of an older one is ignored.
    """

    def __init__(self) -> None:
        self.last = -1
        """The last second with data."""
        self.reported: dict[int, int] = {}
        """By the number of a worker: the last second that it reported."""
        self._sums: dict[int, list[SecondSums]] = {}
        self._workers: dict[int, dict[int, Health]] = {}

    def add(self, sums: SecondSums) -> None:
        self._reach(sums.second)
        if self._is_recent(sums.second):
            self._sums.setdefault(sums.second, []).append(sums)

    def add_health(self, row: Health) -> None:
        self._reach(row.second)
        self.reported[row.worker] = max(row.second, self.reported.get(row.worker, -1))
        if not self._is_recent(row.second):
            return
        workers = self._workers.setdefault(row.second, {})
        known = workers.get(row.worker)
        if known is None:
            workers[row.worker] = row
        else:
            both = replace(known, lag=known.lag.copy(), delay=known.delay.copy())
            both.add(row)
            workers[row.worker] = both

    @property
    def seconds(self) -> int:
        """Their number."""
        return min(WINDOW, self.last + 1)

    @property
    def total(self) -> Totals:
        """All endpoints together."""
        return _sum(part.total for parts in self._sums.values() for part in parts)

    def endpoint(self, key: Key) -> list[Interval]:
        """The intervals of an endpoint. They are not added up: most readers need only their response times."""
        intervals: list[Interval] = []
        for parts in self._sums.values():
            for part in parts:
                intervals += part.endpoints.get(key, ())
        return intervals

    def second(self, number: int) -> Totals:
        """All endpoints together in one of these seconds."""
        return _sum((part.total for part in self._sums.get(number, ())), number)

    def workers(self, second: int) -> Mapping[int, Health]:
        """The workers with a report of one of these seconds, by number."""
        return self._workers.get(second, {})

    def is_complete(self, second: int, workers: int) -> bool:
        """Whether so many workers have reported a second, or it is two seconds old."""
        return second <= self.last - 2 or len(self.workers(second)) >= workers

    def _is_recent(self, second: int) -> bool:
        return second > self.last - WINDOW

    def _reach(self, second: int) -> None:
        if second <= self.last:
            return
        self.last = second
        for seconds in (self._sums, self._workers):
            for old in [each for each in seconds if not self._is_recent(each)]:
                del seconds[old]


def _sum(parts: Iterable[Totals], second: int = 0) -> Totals:
    return Totals.of("", AGGREGATED, chain.from_iterable(part.outcomes.values() for part in parts), second)

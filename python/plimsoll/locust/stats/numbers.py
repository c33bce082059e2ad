"""The numbers of one row of the statistics: recorded ones, or those that code logs itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from plimsoll._engine import Histogram

if TYPE_CHECKING:
    from plimsoll.locust.stats.source import Endpoint, StatsSource

RECENT = 60
"""Seconds for which requests are counted separately."""
_MS = 1_000_000


class RowSums(NamedTuple):
    """The sums of a row, in the order of `plimsoll.record.TotalTuple`."""

    requests: int = 0
    failures: int = 0
    timed: int = 0
    """Requests whose times are in averages and percentiles."""
    size: int = 0
    """Bytes of decoded response bodies."""
    sum: int = 0
    """Of the response times, in ns, like the next two."""
    smallest: int = 0
    largest: int = 0
    first: int = 0
    """Stamp of the first arrival."""
    last: int = 0
    untimed: int = 0
    """Requests without any response time."""

    def plus(self, other: RowSums) -> RowSums:
        """The sum of both. Their stamps must be of the same clock."""
        both = self, other
        return RowSums(
            self.requests + other.requests,
            self.failures + other.failures,
            self.timed + other.timed,
            self.size + other.size,
            self.sum + other.sum,
            min((each.smallest for each in both if each.timed), default=0),
            max(self.largest, other.largest),
            min((each.first for each in both if each.requests), default=0),
            max(self.last, other.last),
            self.untimed + other.untimed,
        )


class RecordedNumbers:
    """A row of recorded numbers. endpoint: None for the sum of all."""

    def __init__(self, source: StatsSource, endpoint: Endpoint | None) -> None:
        self._source = source
        self._endpoint = endpoint
        self.unix = source.unix

    def total(self) -> RowSums:
        return self._source.total(self._endpoint)

    def latency(self) -> Histogram:
        return self._source.latency(self._endpoint)

    def recent(self) -> list[tuple[int, int, int]]:
        return self._source.recent(self._endpoint)

    def recent_latency(self, seconds: int) -> Histogram:
        return self._source.recent_latency(self._endpoint, seconds)

    @property
    def start_time(self) -> float:
        """Arrival of its first request; for the sum, the start of counting."""
        total = self.total()
        return self.unix(total.first) if self._endpoint and total.requests else self._source.since

    def log(self, response_ms: float | None, size: float) -> None:
        self._source.log_request(self._row(), response_ms, size)

    def log_error(self, error: BaseException | str | None) -> None:
        self._source.log_error(self._row(), error)

    def add(self, other: Numbers) -> None:
        """Add counts and times; their distribution over time is not added."""
        total = other.total()
        first, last = (max(0, round((other.unix(stamp) - self.unix(0)) * 1e9)) for stamp in (total.first, total.last))
        self._source.absorb(self._row(), total._replace(first=first, last=last), other.latency())

    def reset(self) -> None:
        self._source.reset_endpoint(self._endpoint)

    def _row(self) -> Endpoint:
        if self._endpoint is None:
            raise ValueError("the row of all endpoints is their sum; log requests under a method and a name")
        return self._endpoint


class CountedNumbers:
    """A row counted by its owner. Its stamps are Unix time in ns."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.start_time = time.time()
        self.sums = RowSums()
        self.times = Histogram()
        self.seconds: dict[int, tuple[int, int]] = {}
        """{Unix second: (requests, failures)} of the last seconds."""
        self._times_of_second: dict[int, Histogram] = {}

    def total(self) -> RowSums:
        return self.sums

    def latency(self) -> Histogram:
        return self.times

    def recent(self) -> list[tuple[int, int, int]]:
        return [(second, *counts) for second, counts in sorted(self.seconds.items())]

    def recent_latency(self, seconds: int) -> Histogram:
        sum = Histogram()
        for second, times in self._times_of_second.items():
            if second >= int(time.time()) - seconds:
                sum.add(times)
        return sum

    def unix(self, stamp: int) -> float:
        return stamp / 1e9

    def log(self, response_ms: float | None, size: float) -> None:
        unix = time.time()
        stamp = round(unix * 1e9)
        logged = RowSums(requests=1, size=int(size), first=stamp, last=stamp, untimed=1)
        self._count(int(unix), 1, 0)
        if response_ms is not None:
            nanos = round(response_ms * _MS)
            logged = logged._replace(timed=1, untimed=0, sum=nanos, smallest=nanos, largest=nanos)
            for times in (self.times, self._times_of_second.setdefault(int(unix), Histogram())):
                times.record(round(response_ms * 1000))
        self.sums = self.sums.plus(logged)

    def log_error(self, error: BaseException | str | None) -> None:
        self.sums = self.sums._replace(failures=self.sums.failures + 1)
        self._count(int(time.time()), 0, 1)

    def add(self, other: Numbers) -> None:
        total = other.total()
        first, last = (round(other.unix(stamp) * 1e9) if total.requests else 0 for stamp in (total.first, total.last))
        self.start_time = min(self.start_time, other.start_time)
        self.sums = self.sums.plus(total._replace(first=first, last=last))
        self.times.add(other.latency())
        for second, *counts in other.recent():
            self._count(second, *counts)

    def _count(self, second: int, requests: int, failures: int) -> None:
        before = self.seconds.get(second, (0, 0))
        self.seconds[second] = before[0] + requests, before[1] + failures
        if len(self.seconds) > RECENT:
            newest = max(self.seconds)
            self.seconds = {each: counts for each, counts in self.seconds.items() if each > newest - RECENT}
            for each in self._times_of_second.keys() - self.seconds.keys():
                del self._times_of_second[each]


Numbers = RecordedNumbers | CountedNumbers
"""The numbers behind a row."""

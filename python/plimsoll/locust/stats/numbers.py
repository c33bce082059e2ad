"""The numbers of one row of the statistics: recorded ones, or those that code adds itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from plimsoll._engine import Histogram

if TYPE_CHECKING:
    from plimsoll.locust.stats.source import Endpoint, StatsSource
    from plimsoll.record import TotalTuple

RECENT = 60
"""Seconds of which requests are counted apart."""
_MS = 1_000_000


class Numbers(Protocol):
    """What a row is made of."""

    def total(self) -> TotalTuple: ...
    def latency(self) -> Histogram: ...
    def recent(self) -> list[tuple[int, int, int]]: ...
    def recent_latency(self, seconds: int) -> Histogram: ...
    def unix(self, stamp: int) -> float: ...
    @property
    def start_time(self) -> float: ...
    def log(self, response_ms: float | None, size: float) -> None: ...
    def log_error(self, error: BaseException | str | None) -> None: ...
    def add(self, other: Numbers) -> None: ...
    def reset(self) -> None: ...


class RecordedNumbers:
    """A row of what is recorded. endpoint: None for the sum of all."""

    def __init__(self, source: StatsSource, endpoint: Endpoint | None) -> None:
        self._source = source
        self._endpoint = endpoint

    def total(self) -> TotalTuple:
        return self._source.total(self._endpoint)

    def latency(self) -> Histogram:
        return self._source.latency(self._endpoint)

    def recent(self) -> list[tuple[int, int, int]]:
        return self._source.recent(self._endpoint)

    def recent_latency(self, seconds: int) -> Histogram:
        return self._source.recent_latency(self._endpoint, seconds)

    def unix(self, stamp: int) -> float:
        return self._source.unix(stamp)

    @property
    def start_time(self) -> float:
        """When its first request arrived; of the sum, when it was begun."""
        total = self.total()
        return self.unix(total[7]) if self._endpoint and total[0] else self._source.since

    def log(self, response_ms: float | None, size: float) -> None:
        self._source.log_request(self._row(), response_ms, size)

    def log_error(self, error: BaseException | str | None) -> None:
        self._source.log_error(self._row(), error)

    def add(self, other: Numbers) -> None:
        """Counts and times; what was when is not taken over."""
        *counts, first, last, untimed = other.total()
        stamps = (self._stamp(other.unix(stamp)) for stamp in (first, last))
        self._source.absorb(self._row(), (*counts, *stamps, untimed), other.latency())  # type: ignore[arg-type]

    def reset(self) -> None:
        self._source.reset_endpoint(self._endpoint)

    def _stamp(self, unix: float) -> int:
        return max(0, round((unix - self._source.unix(0)) * 1e9))

    def _row(self) -> Endpoint:
        if self._endpoint is None:
            raise ValueError("the row of all endpoints is their sum; log requests under a method and a name")
        return self._endpoint


class CountedNumbers:
    """A row that its owner counts by hand. Its stamps are Unix time in ns."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.start_time = time.time()
        self.requests = self.failures = self.timed = self.untimed = 0
        self.size: float = 0
        self.sum = self.smallest = self.largest = 0
        """Sum, minimum and maximum of the response times, in ns."""
        self.first = self.last = 0
        self.times = Histogram()
        self.seconds: dict[int, tuple[int, int]] = {}
        """{Unix second: (requests, failures)} of the last seconds."""
        self._times_of_second: dict[int, Histogram] = {}

    def total(self) -> TotalTuple:
        times = self.sum, self.smallest, self.largest
        stamps = self.first, self.last
        return self.requests, self.failures, self.timed, int(self.size), *times, *stamps, self.untimed

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
        self.last = round(unix * 1e9)
        self.first = self.first or self.last
        self.requests += 1
        self.size += size
        self._count(int(unix), 1, 0)
        if response_ms is None:
            self.untimed += 1
            return
        nanos = round(response_ms * _MS)
        self._extend(1, nanos, nanos, nanos)
        for times in (self.times, self._times_of_second.setdefault(int(unix), Histogram())):
            times.record(round(response_ms * 1000))

    def log_error(self, error: BaseException | str | None) -> None:
        self.failures += 1
        self._count(int(time.time()), 0, 1)

    def add(self, other: Numbers) -> None:
        requests, failures, timed, size, total, smallest, largest, first, last, untimed = other.total()
        self.start_time = min(self.start_time, other.start_time)
        if requests:
            stamps = [round(other.unix(stamp) * 1e9) for stamp in (first, last)]
            self.first = min(self.first or stamps[0], stamps[0])
            self.last = max(self.last, stamps[1])
        self._extend(timed, total, smallest, largest)
        self.requests += requests
        self.failures += failures
        self.untimed += untimed
        self.size += size
        self.times.add(other.latency())
        for second, *counts in other.recent():
            self._count(second, *counts)

    def _extend(self, count: int, total: int, smallest: int, largest: int) -> None:
        if count:
            self.smallest = min(self.smallest, smallest) if self.timed else smallest
            self.largest = max(self.largest, largest)
            self.sum += total
            self.timed += count

    def _count(self, second: int, requests: int, failures: int) -> None:
        before = self.seconds.get(second, (0, 0))
        self.seconds[second] = before[0] + requests, before[1] + failures
        if len(self.seconds) > RECENT:
            newest = max(self.seconds)
            self.seconds = {each: counts for each, counts in self.seconds.items() if each > newest - RECENT}
            for each in self._times_of_second.keys() - self.seconds.keys():
                del self._times_of_second[each]

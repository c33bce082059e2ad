"""StatsEntry: one row of the statistics, and all numbers derived from its counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict

from plimsoll.locust.stats import settings
from plimsoll.locust.stats.numbers import CountedNumbers, RowSums
from plimsoll.locust.stats.percentiles import avg
from plimsoll.record import Interval
from plimsoll.stats.latency.milliseconds import Latency
from plimsoll.stats.seconds import WINDOW
from plimsoll.stats.table import live_total_of
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from plimsoll._engine import Histogram
    from plimsoll.locust.stats.numbers import Numbers
    from plimsoll.locust.stats.request_stats import RequestStats
    from plimsoll.stats.table import LiveRow

_MS = 1_000_000


class StatsEntryDict(TypedDict):
    """A row as plain values; times in ms."""

    name: str
    method: str
    last_request_timestamp: float | None
    start_time: float
    num_requests: int
    num_none_requests: int
    num_failures: int
    total_response_time: float
    max_response_time: float
    min_response_time: float | None
    total_content_length: int
    response_times: dict[float, int]
    num_reqs_per_sec: dict[int, int]
    num_fail_per_sec: dict[int, int]


class StatsEntry:
    """The requests of one endpoint, or of all of them.

    Entries of a RequestStats show the recorded state at the time of reading. An entry created by other code counts the
    calls of `log` and `log_error`, and is in no table. Times are in ms.
    """

    def __init__(
        self,
        stats: RequestStats,
        name: str,
        method: str,
        use_response_times_cache: bool = False,
        numbers: Numbers | None = None,
    ) -> None:
        """use_response_times_cache has no effect: current percentiles are always available."""
        self.stats = stats
        self.name = name
        self.method = method
        self.use_response_times_cache = use_response_times_cache
        self._numbers: Numbers = CountedNumbers() if numbers is None else numbers
        self._latency: tuple[RowSums, Latency] | None = None
        """The latency, and the total for which it was computed."""

    # Counts

    @property
    def num_requests(self) -> int:
        return self._numbers.total().requests

    @property
    def num_failures(self) -> int:
        return self._numbers.total().failures

    @property
    def num_none_requests(self) -> int:
        """Requests without a response time. Averages and percentiles may leave out more: the time until a connection is
        refused is not among theirs."""
        return self._numbers.total().untimed

    @property
    def total_content_length(self) -> int:
        """Bytes of decoded response bodies."""
        return self._numbers.total().size

    @property
    def fail_ratio(self) -> float:
        """Failures per request, 0…1."""
        total = self._numbers.total()
        return total.failures / total.requests if total.requests else float(total.failures > 0)

    @property
    def avg_content_length(self) -> float:
        total = self._numbers.total()
        return total.size / total.requests if total.requests else 0

    # Response times

    @property
    def total_response_time(self) -> float:
        return self._numbers.total().sum / _MS

    @property
    def min_response_time(self) -> float | None:
        """None if nothing was timed."""
        total = self._numbers.total()
        return total.smallest / _MS if total.timed else None

    @property
    def max_response_time(self) -> float:
        """0 if nothing was timed."""
        total = self._numbers.total()
        return total.largest / _MS if total.timed else 0

    @property
    def avg_response_time(self) -> float:
        total = self._numbers.total()
        return total.sum / _MS / total.timed if total.timed else 0.0

    @property
    def median_response_time(self) -> float:
        return self.get_response_time_percentile(0.5)

    def get_response_time_percentile(self, percent: float) -> float:
        """The response time at rank ⌈percent · n⌉, percent from 0 to 1. Three significant digits, never above the
        maximum; 0 if nothing was timed."""
        total = self._numbers.total()
        if self._latency is None or self._latency[0] != total:
            self._latency = total, _latency(total, self._numbers.latency())
        value = self._latency[1].quantile(percent)
        return value.value if value else 0

    def get_current_response_time_percentile(self, percent: float) -> float | None:
        """The percentile of the last CURRENT_RESPONSE_TIME_PERCENTILE_WINDOW seconds; None without a timed request."""
        times = self._numbers.recent_latency(settings.CURRENT_RESPONSE_TIME_PERCENTILE_WINDOW)
        return min(times.value_at(percent) / 1000, self.max_response_time) if times.count else None

    @property
    def response_times(self) -> dict[float, int]:
        """{response time: requests}. Three significant digits; `bucket_response_time` maps the keys."""
        total = self._numbers.total()
        smallest, largest = total.smallest / _MS, total.largest / _MS
        times: dict[float, int] = {}
        for micros, count in self._numbers.latency().buckets():
            key = settings.bucket_response_time(min(max(micros / 1000, smallest), largest))
            times[key] = times.get(key, 0) + count
        return times

    # When

    @property
    def start_time(self) -> float:
        """Unix time of the first request; for the row of all endpoints, the start of counting."""
        return self._numbers.start_time

    @property
    def last_request_timestamp(self) -> float | None:
        """Unix time at which the last response arrived."""
        total = self._numbers.total()
        return self._numbers.unix(total.last) if total.requests else None

    @property
    def num_reqs_per_sec(self) -> dict[int, int]:
        """{Unix second: requests} of the last 60 seconds that had any."""
        return {second: requests for second, requests, _ in self._numbers.recent()}

    @property
    def num_fail_per_sec(self) -> dict[int, int]:
        """{Unix second: failures} of the last 60 seconds that had any requests."""
        return {second: failures for second, _, failures in self._numbers.recent() if failures}

    @property
    def current_rps(self) -> float:
        """Requests per second over the 10 seconds before that of the last request, or fewer in a younger test."""
        return self._current(self.num_reqs_per_sec)

    @property
    def current_fail_per_sec(self) -> float:
        """Failures per second, over the same seconds as `current_rps`."""
        return self._current(self.num_fail_per_sec)

    def _current(self, by_second: dict[int, int]) -> float:
        newest = max(self.stats.total.num_reqs_per_sec, default=None)
        if newest is None:
            return 0.0
        first = max(newest - WINDOW, int(self.stats.total.start_time))
        return avg([by_second.get(second, 0) for second in range(first, newest)])

    @property
    def total_rps(self) -> float:
        return self._rate(self.num_requests)

    @property
    def total_fail_per_sec(self) -> float:
        return self._rate(self.num_failures)

    def _rate(self, count: int) -> float:
        """Per second from the start to the last request of all."""
        last = self.stats.total.last_request_timestamp
        seconds = last - self.stats.total.start_time if last else 0.0
        return count / seconds if seconds > 0 else 0.0

    # Counting by hand

    def log(self, response_time: float | None, content_length: float) -> None:
        """Count a request. In a row of a RequestStats, this records it for the test."""
        self._numbers.log(response_time, content_length)

    def log_error(self, error: BaseException | str | None) -> None:
        """Count a failure of the request just logged."""
        self._numbers.log_error(error)

    def extend(self, other: StatsEntry) -> None:
        """Add the counts of another row. The stored run does not change."""
        self._numbers.add(other._numbers)

    def reset(self) -> None:
        """Start counting again at zero. The stored run does not change."""
        self._numbers.reset()

    # As text and as plain values

    def to_string(self, current: bool = True) -> str:
        """A line of the table. current: with the rates of the last 10 seconds, else of the whole time."""
        rates = (self.current_rps, self.current_fail_per_sec) if current else (self.total_rps, self.total_fail_per_sec)
        name = max(1, settings.STATS_NAME_WIDTH - settings.STATS_TYPE_WIDTH + 4)
        return (
            f"{self.method + ' ' if self.method else '':<{settings.STATS_TYPE_WIDTH}} {self.name:<{name}} "
            f"{self.num_requests:7d} {f'{self.num_failures}({100 * self.fail_ratio:.2f}%)':>12} |"
            f"{self.avg_response_time:7.0f} {self.min_response_time or 0:7.0f} {self.max_response_time:7.0f}"
            f"{self.median_response_time:7.0f} | {rates[0]:7.2f} {rates[1]:11.2f}"
        )

    def __str__(self) -> str:
        return self.to_string(current=True)

    def percentile(self) -> str:
        """A line of the table of percentiles. Raises ValueError without requests."""
        if not self.num_requests:
            raise ValueError(f"there are no percentiles of {self.method} {self.name}, as there was no request")
        values = [round(self.get_response_time_percentile(each)) for each in settings.PERCENTILES_TO_REPORT]
        return (
            f"{self.method or '':<{settings.STATS_TYPE_WIDTH}} {self.name:<{settings.STATS_NAME_WIDTH}} "
            f"{values[0] if values else '':>8} {' '.join(f'{value:6d}' for value in values[1:])} {self.num_requests:6d}"
        )

    def to_dict(self, escape_string_values: bool = False) -> dict[str, Any]:
        """Its numbers in the format for Locust's web page. escape_string_values has no effect."""
        percentiles = {
            f"response_time_percentile_{each}": self.get_response_time_percentile(each)
            for each in settings.PERCENTILES_TO_STATISTICS
        }
        return {
            "method": self.method,
            "name": self.name,
            "num_requests": self.num_requests,
            "num_failures": self.num_failures,
            "min_response_time": self.min_response_time or 0,
            "max_response_time": self.max_response_time,
            "current_rps": self.current_rps,
            "current_fail_per_sec": self.current_fail_per_sec,
            "avg_response_time": self.avg_response_time,
            "median_response_time": self.median_response_time,
            "total_rps": self.total_rps,
            "total_fail_per_sec": self.total_fail_per_sec,
            **percentiles,
            "avg_content_length": self.avg_content_length,
        }

    def serialize(self) -> StatsEntryDict:
        """Its counts as plain values."""
        return {key: getattr(self, key) for key in StatsEntryDict.__annotations__}  # type: ignore[return-value]

    @classmethod
    def unserialize(cls, data: StatsEntryDict, stats: RequestStats) -> StatsEntry:
        """The inverse of `serialize`: a row that is counted by hand."""
        counted = CountedNumbers()
        counted.start_time = data["start_time"]
        stamps = (data["start_time"], data["last_request_timestamp"] or data["start_time"])
        first, last = (round(unix * 1e9) if data["num_requests"] else 0 for unix in stamps)
        counted.sums = RowSums(
            data["num_requests"],
            data["num_failures"],
            sum(data["response_times"].values()),
            data["total_content_length"],
            round(data["total_response_time"] * _MS),
            round((data["min_response_time"] or 0) * _MS),
            round(data["max_response_time"] * _MS),
            first,
            last,
            data["num_none_requests"],
        )
        for milliseconds, count in data["response_times"].items():
            counted.times.record(round(float(milliseconds) * 1000), count)
        failures = data["num_fail_per_sec"]
        counted.seconds = {
            int(second): (count, failures.get(second, 0)) for second, count in data["num_reqs_per_sec"].items()
        }
        return cls(stats, data["name"], data["method"], numbers=counted)

    def as_row(self) -> LiveRow:
        """The row of the same numbers."""
        total, recent = (
            self._numbers.total(),
            self._numbers.recent_latency(settings.CURRENT_RESPONSE_TIME_PERCENTILE_WINDOW),
        )
        longest = RowSums(timed=recent.count, largest=min(recent.max * 1000, total.largest))
        return replace(
            live_total_of(RunView()),
            method=self.method,
            name=self.name,
            completed=total.requests,
            failures=total.failures,
            rps=self.total_rps,
            failures_per_s=self.total_fail_per_sec,
            average_size=self.avg_content_length,
            response_ms=_latency(total, self._numbers.latency()),
            current_rps=self.current_rps,
            current_failures_per_s=self.current_fail_per_sec,
            current_ms=_latency(longest, recent),
        )

    def get_stripped_report(self) -> StatsEntryDict:
        """Return the entry as `serialize` does, and reset it."""
        report = self.serialize()
        self.reset()
        return report


def _latency(sums: RowSums, times: Histogram) -> Latency:
    """The latency of a row with these sums and response times."""
    interval = Interval(0, "", "", "success", count=sums.timed, response=times, response_sum=sums.sum)
    interval.response_min, interval.response_max = sums.smallest, sums.largest
    return Latency.of_response([interval])

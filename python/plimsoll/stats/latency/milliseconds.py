"""Durations of exchanges, summed first and only then converted to milliseconds and percentiles.

Each has the generator's share: how much of it the generator may have added. For a percentile it is R - R0, where R is
that of the response times and R0 that of their values with a generator that sends on time. The true value is between R0
and R. The kernel stamps the service time, so that has no share.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

from plimsoll._engine import Histogram
from plimsoll.record import CENSORED, sum_to_read
from plimsoll.stats.latency.censored import Survival

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from plimsoll.record import Interval

Clock = Literal["response", "service"]
"""From when a request was due, or was sent, to its response."""
CLEAN_PART = 0.05
"""Of a value: a share up to this is insignificant."""
CLEAN_MS = 0.1
"""A share of so few ms is insignificant, however small the value."""
CLEAN_THROUGHPUT = 0.02
"""Of the time from one request of a user to the next: lag and delay up to this cost no significant throughput."""


def is_clean(value: float, share: float) -> bool:
    """value, share: in ms."""
    return share <= max(CLEAN_MS, CLEAN_PART * value)


def ms_at(times: Histogram, quantile: float) -> float | None:
    """The percentile of times in µs, in ms; None without a time."""
    return times.value_at(quantile) / 1000 if times.count else None


class Milliseconds(NamedTuple):
    """A duration for people. `at_least`: the true value may be greater because of timeouts, or of requests without a
    response. `share`: how much of the value the generator may have added."""

    value: float
    at_least: bool = False
    share: float = 0.0

    @property
    def is_clean(self) -> bool:
        """Whether the generator's share is insignificant."""
        return is_clean(self.value, self.share)


class Latency:
    """A multiset of durations: exact count, mean and extremes, percentiles to histogram precision.

    A timeout is kept at its limit. A percentile is `at_least` if it would grow with infinite timeouts, so a few
    timeouts far above the median leave the median exact. Requests without a response count as `Survival` says, and a
    value beyond what was seen is `at_least`. Everything is None if nothing was timed and nothing waited.

    It reads the histograms of its intervals: use it before they grow.
    """

    __slots__ = (
        "_all", "_complete", "_max_ns", "_min_ns", "_on_time_ns", "_on_time_parts", "_overflow", "_sum_ns", "_waits",
        "_waits_on_time",
    )  # fmt: skip

    def __init__(self, timed: Sequence[Interval] = (), histograms: Sequence[Histogram] = ()) -> None:
        """histograms: one for each of `timed`. They are read, not copied."""
        self._waits: Histogram | None = None
        """The waits for responses that did not come; None without any."""
        self._waits_on_time: Histogram | None = None
        """The same with a generator that sends on time."""
        complete = [times for each, times in zip(timed, histograms, strict=True) if each.outcome not in CENSORED]
        self._all = sum_to_read(histograms)
        self._complete = self._all if len(complete) == len(histograms) else sum_to_read(complete)
        self._overflow = sum(each.overflow for each in timed)
        self._sum_ns = 0
        self._min_ns = -1
        self._max_ns = -1
        self._on_time_parts: list[Histogram] | None = None
        """The same with a generator that sends on time, by interval; None if it has no share in the times."""
        self._on_time_ns = 0.0
        """Their sum."""

    @classmethod
    def of_response(cls, intervals: Iterable[Interval], waits: Interval | None = None) -> Latency:
        """The response time for a user: arrival - due. With the generator's share of it. waits: for responses that did
        not come."""
        timed = [each for each in intervals if each.timed]
        latency = cls(timed, [each.response for each in timed])
        latency._on_time_parts = [interval.response_on_time for interval in timed]
        for each in timed:
            latency._extend(each.response_sum, each.response_min, each.response_max)
            latency._on_time_ns += each.on_time_sum
        if waits is not None and waits.timed:
            latency._waits, latency._waits_on_time = waits.response, waits.response_on_time
        return latency

    @classmethod
    def of_service(cls, intervals: Iterable[Interval], waits: Interval | None = None) -> Latency:
        """The target's time: arrival - sent, in which the generator has no share. Its extremes are known to histogram
        precision only.

        The maximum never exceeds that of the responses: an exchange is not sent before it is due.
        """
        timed = [each for each in intervals if each.timed]
        latency = cls(timed, [each.service for each in timed])
        for each in timed:
            largest = min(each.service.max * 1000, each.response_max)
            latency._extend(each.service_sum, min(each.service.min * 1000, largest), largest)
        if waits is not None and waits.timed:
            latency._waits = latency._waits_on_time = waits.service
        return latency

    @property
    def _on_time(self) -> Histogram | None:
        """The sum of the parts. Tables without the generator's share never need it."""
        if self._on_time_parts is not None and len(self._on_time_parts) != 1:
            self._on_time_parts = [sum_to_read(self._on_time_parts)]
        return None if self._on_time_parts is None else self._on_time_parts[0]

    def _extend(self, total: int, smallest: int, largest: int) -> None:
        self._sum_ns += total
        self._min_ns = smallest if self._min_ns < 0 else min(self._min_ns, smallest)
        self._max_ns = max(self._max_ns, largest)

    @property
    def count(self) -> int:
        return self._all.count

    @property
    def censored(self) -> int:
        """How many of `count` timed out."""
        return self._all.count - self._complete.count

    @property
    def overflow(self) -> int:
        """How many of `count` exceeded 1 h, the limit of a histogram."""
        return self._overflow

    @property
    def mean_of_responses(self) -> float | None:
        """Of those that came, as a plain number of ms."""
        return self._sum_ns / self.count / 1e6 if self.count else None

    @property
    def waited(self) -> int:
        """How many responses did not come; they are not in `count`."""
        return 0 if self._waits is None else self._waits.count

    @property
    def mean(self) -> Milliseconds | None:
        if not self.count:
            return None if self._waits is None else Milliseconds(self._waits.mean / 1000, at_least=True)
        on_time = self._sum_ns if self._on_time is None else self._on_time_ns
        share = max(0.0, self._sum_ns - on_time) / self.count / 1e6
        mean, at_least = self._sum_ns / self.count / 1e6, self.censored > 0
        if self._waits is not None:
            # The sum is exact and the estimate is of histograms, so only what the waits add to theirs counts.
            survival = Survival.of(self._all, self._waits)
            mean += (survival.mean - self._all.mean) / 1000
            at_least = at_least or not survival.is_complete
        return Milliseconds(mean, at_least, share)

    @property
    def min(self) -> Milliseconds | None:
        if not self.count:
            return None if self._waits is None else Milliseconds(self._waits.min / 1000, at_least=True)
        return self._extreme(0.0, self._min_ns, self._grows(1))

    @property
    def max(self) -> Milliseconds | None:
        if self._waits is not None and self._waits.max * 1000 > self._max_ns:
            return Milliseconds(self._waits.max / 1000, at_least=True)
        return self._extreme(1.0, self._max_ns, self.censored > 0) if self.count else None

    @property
    def median(self) -> Milliseconds | None:
        return self.quantile(0.5)

    def quantile(self, q: float) -> Milliseconds | None:
        """The duration at rank ⌈q · count⌉ of the sorted durations; q from 0 to 1, and 1 is the exact maximum. With
        waits, the duration that the share q of all requests reach."""
        return self.quantiles((q,))[0]

    def quantiles(self, qs: Sequence[float]) -> list[Milliseconds | None]:
        """Several at once, reading each histogram once."""
        _check(qs)
        if self._waits is not None:
            return self._quantiles_with_waits(qs, self._waits)
        count = self.count
        if not count:
            return [None] * len(qs)
        micros = self._all.values_at(qs)
        on_time = micros if self._on_time is None else self._on_time.values_at(qs)
        is_whole = self._complete is self._all and not self._overflow
        found: list[Milliseconds | None] = []
        for q, value, without in zip(qs, micros, on_time, strict=True):
            if q == 1:
                found.append(self.max)
                continue
            # Both from histograms, so that equal values differ by nothing.
            share = (value - without) / 1000 if value > without else 0.0
            at_least = not is_whole and self._grows(max(1, math.ceil(q * count)))
            found.append(Milliseconds(self._ms(q, value), at_least, share))
        return found

    def named(self, quantiles: Mapping[str, float]) -> dict[str, Milliseconds | None]:
        """The same, by the names that the quantiles have."""
        return dict(zip(quantiles, self.quantiles(tuple(quantiles.values())), strict=True))

    def _quantiles_with_waits(self, qs: Sequence[float], waits: Histogram) -> list[Milliseconds | None]:
        found: list[Milliseconds | None] = []
        known = Survival.of(self._all, waits).quantiles(qs)
        without, longer = known, known
        if self._on_time is not None and self._waits_on_time is not None:
            without = Survival.of(self._on_time, self._waits_on_time).quantiles(qs)
        if timeouts := self.censored:
            longer = Survival.of(self._complete, Histogram.sum([waits, self._timeouts(timeouts)])).quantiles(qs)
        for q, (micros, is_beyond), (on_time, _), (most, is_more) in zip(qs, known, without, longer, strict=True):
            if q == 1:
                found.append(self.max)
                continue
            value = micros / 1000 if is_beyond else self._ms(q, micros)
            found.append(Milliseconds(value, is_beyond or is_more or most > micros, max(0, micros - on_time) / 1000))
        return found

    def _timeouts(self, count: int) -> Histogram:
        """Those of all times that are limits."""
        timeouts, complete = Histogram(), dict(self._complete.buckets())
        for micros, counted in self._all.buckets():
            if more := counted - complete.get(micros, 0):
                timeouts.record(micros, more)
        assert timeouts.count == count
        return timeouts

    def values(self, qs: Sequence[float]) -> list[float | None]:
        """The same of the responses that came, as plain numbers of ms."""
        _check(qs)
        if not self.count:
            return [None] * len(qs)
        return [self._ms(q, micros) for q, micros in zip(qs, self._all.values_at(qs), strict=True)]

    def _ms(self, q: float, micros: int) -> float:
        """The value of a bucket. A bucket may reach beyond the extremes, which are exact."""
        nanos, least, most = micros * 1000, self._min_ns, self._max_ns
        if q == 1 or nanos > most:
            return most / 1e6
        return (least if nanos < least else nanos) / 1e6

    @property
    def extremes(self) -> tuple[float, float] | tuple[None, None]:
        """The shortest and the longest of those that came, as plain numbers of ms."""
        return (self._min_ns / 1e6, self._max_ns / 1e6) if self.count else (None, None)

    def _extreme(self, q: float, nanos: int, at_least: bool) -> Milliseconds:
        """The smallest or largest value, with the generator's share of it."""
        micros = 0 if self._on_time is None else self._all.value_at(q) - self._on_time.value_at(q)
        return Milliseconds(nanos / 1e6, at_least, max(0, micros) / 1000)

    def counts_above(self, ms: Sequence[float]) -> list[int]:
        """How many were longer than each of these, which ascend; to histogram precision."""
        return self._all.counts_above([round(each * 1000) for each in ms])

    def _grows(self, rank: int) -> bool:
        """Whether the value at this rank would be greater with infinite timeouts."""
        if rank > self.count - self._overflow:
            return True
        complete = self._complete.count
        if rank > complete:
            return True
        if complete == self.count:
            return False
        # Half a rank below, so that rounding in the product cannot reach the next rank.
        return self._complete.value_at((rank - 0.5) / complete) > self._all.value_at((rank - 0.5) / self.count)


def _check(qs: Sequence[float]) -> None:
    for q in qs:
        if not 0 <= q <= 1:
            raise ValueError(f"a quantile is between 0 and 1, not {q}")

"""Sums of exchanges over any range of seconds, with cheap sliding windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from plimsoll.record import CENSORED, NO_REQUESTS, TIMED, UNANSWERED, Interval
from plimsoll.stats.latency.milliseconds import Latency

if TYPE_CHECKING:
    from collections.abc import Collection, Container

Clock = Literal["response", "service"]


class TimeSums:
    """The times of some exchanges by one clock, which can be added up."""

    __slots__ = ("_complete", "_given_up", "_waits")

    def __init__(self) -> None:
        # `response` has the times of either clock, and `service` those without the generator's share, as `Latency`
        # reads them.
        self._complete = Interval(0, "", "", "success")
        self._given_up: Interval | None = None
        self._waits: Interval | None = None
        """For responses that did not come."""

    def add(self, interval: Interval, clock: Clock) -> None:
        if not interval.timed:
            return
        into = self._part(interval.outcome)
        if clock == "response":
            smallest, largest = interval.response_min, interval.response_max
            _extend(into, interval.timed, interval.response_sum, interval.on_time_sum, smallest, largest)
            into.response.add(interval.response)
            into.service.add(interval.response_on_time)
        else:
            times, total = interval.service, interval.service_sum
            # As in `Latency.of_service`: to the histogram's precision, but never above the response.
            largest = min(times.max * 1000, interval.response_max)
            _extend(into, interval.timed, total, total, min(times.min * 1000, largest), largest)
            into.response.add(times)
            into.service.add(times)
        into.overflow += interval.overflow

    def merge(self, other: TimeSums) -> None:
        for part in (*other._parts(), *(() if other._waits is None else (other._waits,))):
            if part.count:
                into = self._part(part.outcome)
                smallest, largest = part.response_min, part.response_max
                _extend(into, part.count, part.response_sum, part.service_sum, smallest, largest)
                into.response.add(part.response)
                into.service.add(part.service)
                into.overflow += part.overflow

    @property
    def count(self) -> int:
        return sum(part.count for part in self._parts())

    def latency(self) -> Latency:
        return Latency.of_response(self._parts(), self._waits)

    def _parts(self) -> list[Interval]:
        return [self._complete] if self._given_up is None else [self._complete, self._given_up]

    def _part(self, outcome: str) -> Interval:
        if outcome == UNANSWERED:
            self._waits = self._waits or Interval(0, "", "", UNANSWERED)
            return self._waits
        if outcome not in CENSORED:
            return self._complete
        self._given_up = self._given_up or Interval(0, "", "", outcome)
        return self._given_up


def _extend(into: Interval, count: int, total: int, on_time: float, smallest: int, largest: int) -> None:
    into.response_min = min(into.response_min, smallest) if into.count else smallest
    into.response_max = max(into.response_max, largest)
    into.response_sum += total
    into.service_sum += round(on_time)
    into.count += count


class Tally:
    """Counts by outcome, and the times by the requested clocks. timed: the outcomes whose times count."""

    __slots__ = ("_timed", "outcomes", "times", "waits")

    def __init__(self, clocks: Collection[Clock] = (), timed: Container[str] = TIMED) -> None:
        self._timed = timed
        self.outcomes: dict[str, int] = {}
        self.times: dict[Clock, TimeSums] = {clock: TimeSums() for clock in clocks}
        self.waits: Interval | None = None
        """For responses that did not come."""

    def add(self, interval: Interval) -> None:
        self.outcomes[interval.outcome] = self.outcomes.get(interval.outcome, 0) + interval.count
        if interval.outcome == UNANSWERED:
            self._wait(interval)
        if interval.outcome in self._timed or interval.outcome == UNANSWERED:
            for clock, times in self.times.items():
                times.add(interval, clock)

    def merge(self, other: Tally) -> None:
        for outcome, count in other.outcomes.items():
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + count
        for clock, times in self.times.items():
            times.merge(other.times[clock])
        if other.waits is not None:
            self._wait(other.waits)

    def _wait(self, interval: Interval) -> None:
        if self.waits is None:
            self.waits = Interval(0, "", "", UNANSWERED)
        self.waits.add(interval)

    @property
    def exchanges(self) -> int:
        """All, including unanswered ones and those never sent."""
        return sum(self.outcomes.values())

    @property
    def completed(self) -> int:
        """Those that ended by themselves, as in `Totals.completed`."""
        return sum(count for outcome, count in self.outcomes.items() if outcome not in NO_REQUESTS)


class Seconds:
    """A tally of each of the last seconds, and of each pair, four, eight, … of them: any window of w seconds is the sum
    of at most 2 log2 w tallies, and late data of a past second is added like any other."""

    def __init__(self, longest: int, clocks: Collection[Clock]) -> None:
        """longest: seconds of the longest window."""
        self._clocks = tuple(clocks)
        self._levels: list[dict[int, Tally]] = [{} for _ in range(longest.bit_length())]
        """levels[k][n]: seconds n * 2**k up to, not including, (n + 1) * 2**k."""
        self._oldest = 0

    def add(self, second: int, tally: Tally) -> None:
        """Seconds dropped by `forget` are ignored. tally: of at least these clocks; unchanged."""
        if second < self._oldest:
            return
        for level, tallies in enumerate(self._levels):
            into = tallies.get(second >> level)
            if into is None:
                into = tallies[second >> level] = Tally(self._clocks)
            into.merge(tally)

    def window(self, first: int, seconds: int) -> Tally:
        """The sum of this many seconds."""
        total = Tally(self._clocks)
        end = first + seconds
        while first < end:
            level = len(self._levels) - 1
            while first & ((1 << level) - 1) or first + (1 << level) > end:
                level -= 1
            if tally := self._levels[level].get(first >> level):
                total.merge(tally)
            first += 1 << level
        return total

    def forget(self, before: int) -> None:
        """Drop seconds before this one."""
        if before <= self._oldest:
            return
        self._oldest = before
        for level, tallies in enumerate(self._levels):
            for index in [each for each in tallies if (each + 1) << level <= before]:
                del tallies[index]

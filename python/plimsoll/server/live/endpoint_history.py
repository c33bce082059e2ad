"""The past of every endpoint of a run in progress, for charts that a viewer may request.

The last seconds are kept one by one, and older ones in columns. An endpoint has some 600 columns at most, and the
columns of all endpoints stay within a budget of bytes. Above either limit two neighbouring columns become one, so a
column stands for 1, 2, 4, … seconds. Their counts are added and their histograms merged: no request is left out.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Self

from plimsoll._engine import Histogram
from plimsoll.record import NO_REQUESTS
from plimsoll.report.charts.columns import QUANTILES, ColumnValues, Second, Value, quantiles
from plimsoll.report.charts.thin import MOST_POINTS

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Mapping

    from plimsoll.record import Interval
    from plimsoll.stats.seconds import Key, SecondSums

BUDGET = 64_000_000
"""Bytes of all columns. 2,000 endpoints with few requests per second have some 80 columns each, 200 of them 600."""
OVERHEAD = 140
"""Bytes of a column besides its packed data."""
MOST_HALVED = 10
"""Endpoints per second that get wider columns because they have too many. One takes some 20 ms."""
_HEAD = struct.Struct("<IQQI")
"""Seconds with requests, requests, failures, length of the first histogram in bytes."""
_LINES = ("requests", "failures", *(line for line, (times, _) in QUANTILES.items() if times in ("response", "service")))
_EXTREMES = struct.Struct(f"<{2 * len(_LINES)}f")
"""The least and the greatest value of each line in one of several seconds. Those of one second are its values."""


@dataclass(slots=True)
class _Packed:
    """Some seconds of an endpoint together, as they are packed."""

    seconds: int
    """Those with requests."""
    requests: int
    failures: int
    response: Histogram
    service: Histogram
    lows: tuple[float, ...] = ()
    """By line; infinite if there is no value. Of several seconds, like `highs`."""
    highs: tuple[float, ...] = ()

    @classmethod
    def read(cls, packed: bytes) -> Self:
        seconds, requests, failures, length = _HEAD.unpack_from(packed)
        start, extremes = _HEAD.size, ()
        if seconds > 1:
            extremes = _EXTREMES.unpack_from(packed, start)
            start += _EXTREMES.size
        parts = packed[start : start + length], packed[start + length :]
        response, service = (Histogram.decode(each) if each else Histogram() for each in parts)
        count = len(_LINES)
        return cls(seconds, requests, failures, response, service, extremes[:count], extremes[count:])

    def pack(self) -> bytes:
        response, service = (each.encode(compressed=False) if each.count else b"" for each in self._times.values())
        head = _HEAD.pack(self.seconds, self.requests, self.failures, len(response))
        return head + (_EXTREMES.pack(*self.lows, *self.highs) if self.seconds > 1 else b"") + response + service

    def add(self, other: Self, *, is_late: bool) -> None:
        """is_late: these are further requests of the same seconds. Which second had them is no longer known, so the
        extremes of several seconds stay as they were."""
        if not is_late:
            (lows, highs), (other_lows, other_highs) = self._extremes(), other._extremes()
            self.lows, self.highs = tuple(map(min, lows, other_lows)), tuple(map(max, highs, other_highs))
            self.seconds += other.seconds
        self.requests += other.requests
        self.failures += other.failures
        self.response.add(other.response)
        self.service.add(other.service)

    def column(self) -> ColumnValues:
        values = self._values()
        lows, highs = (dict(zip(_LINES, each, strict=True)) for each in self._extremes())
        # The extremes are rounded.
        found = {
            line: Value(value, min(value, lows[line]), max(value, highs[line]), self.seconds)
            for line, value in values.items()
        }
        packed = {name: each.encode(compressed=False) for name, each in self._times.items() if each.count}
        return ColumnValues(self.seconds, found, packed)

    @property
    def _times(self) -> dict[str, Histogram]:
        return {"response": self.response, "service": self.service}

    def _values(self) -> dict[str, float]:
        """Means of counts, and percentiles of all requests together; those that are known."""
        counts = {"requests": self.requests / self.seconds, "failures": self.failures / self.seconds}
        return counts | dict(quantiles({name: each for name, each in self._times.items() if each.count}))

    def _extremes(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        if self.seconds > 1:
            return self.lows, self.highs
        values = self._values()
        return tuple(values.get(line, inf) for line in _LINES), tuple(values.get(line, -inf) for line in _LINES)


@dataclass(slots=True)
class PastColumns:
    """Columns of one endpoint."""

    width: int = 1
    """Seconds of a column."""
    columns: dict[int, bytes] = field(default_factory=dict)
    """By first second; only those with requests. The bytes never change."""
    size: int = 0
    """Bytes."""

    def add(self, second: int, packed: bytes, *, is_late: bool = False) -> None:
        """is_late: the second has been added before, without these requests."""
        start = second - second % self.width
        known = self.columns.get(start)
        if known is not None:
            self.size -= len(known) + OVERHEAD
            column = _Packed.read(known)
            column.add(_Packed.read(packed), is_late=is_late)
            packed = column.pack()
        self.columns[start] = packed
        self.size += len(packed) + OVERHEAD

    def halve(self) -> None:
        """Make the columns twice as wide."""
        before = self.columns
        self.width, self.columns, self.size = 2 * self.width, {}, 0
        for start, packed in before.items():
            self.add(start, packed)


@dataclass(frozen=True, slots=True)
class EndpointPast:
    """One endpoint up to now."""

    until: int
    """The seconds before this one are in columns."""
    width: int
    """Seconds of a column."""
    columns: Mapping[int, bytes]
    seconds: Mapping[int, bytes]
    """The other seconds with requests."""

    def second(self, number: int) -> Second:
        return _second(number, self.seconds.get(number))


class EndpointHistory:
    """Seconds and columns of endpoints. timed: the outcomes whose times count. Not thread-safe."""

    def __init__(self, timed: Container[str], budget: int = BUDGET) -> None:
        self.settled = 0
        """The seconds before this one are in columns."""
        self._timed = timed
        self._budget = budget
        self._size = 0
        """Bytes of all columns."""
        self._seconds: dict[int, dict[Key, bytes]] = {}
        self._past: dict[Key, PastColumns] = {}

    def add(self, seconds: Iterable[SecondSums]) -> None:
        """Add new data of any second."""
        for sums in seconds:
            for key, found in sums.endpoints.items():
                parts = [each for each in found if each.outcome not in NO_REQUESTS]
                if parts and sums.second < self.settled:
                    self._add_column(key, sums.second, _pack_second(parts, self._timed, None), is_late=True)
                elif parts:
                    entries = self._seconds.setdefault(sums.second, {})
                    entries[key] = _pack_second(parts, self._timed, entries.get(key))

    def settle(self, until: int) -> None:
        """Put the seconds before this one into columns: they are drawn, and will not be drawn again."""
        for second in sorted(each for each in self._seconds if each < until):
            for key, packed in self._seconds.pop(second).items():
                self._add_column(key, second, packed)
        self.settled = max(self.settled, until)
        self._thin()

    def past(self, key: Key) -> EndpointPast:
        """A copy of what is kept of an endpoint."""
        columns = self._past.get(key, PastColumns())
        seconds = {second: found[key] for second, found in self._seconds.items() if key in found}
        return EndpointPast(self.settled, columns.width, dict(columns.columns), seconds)

    def second(self, number: int, key: Key) -> Second:
        """One second of an endpoint that is not in a column; empty if there is no entry."""
        return _second(number, self._seconds.get(number, {}).get(key))

    def _add_column(self, key: Key, second: int, packed: bytes, *, is_late: bool = False) -> None:
        past = self._past.setdefault(key, PastColumns())
        self._size -= past.size
        past.add(second, packed, is_late=is_late)
        self._size += past.size

    def _thin(self) -> None:
        halved = 0
        while self._past:
            longest = max(self._past.values(), key=lambda past: len(past.columns))
            count = len(longest.columns)
            is_too_long = count > MOST_POINTS and halved < MOST_HALVED
            is_over_budget = self._size > self._budget and count > 1
            if not (is_too_long or is_over_budget):
                return
            self._size -= longest.size
            longest.halve()
            self._size += longest.size
            halved += 1


def _second(number: int, packed: bytes | None) -> Second:
    if packed is None:
        return Second(number, 0, 0, Histogram(), Histogram())
    found = _Packed.read(packed)
    return Second(number, found.requests, found.failures, found.response, found.service)


def _pack_second(parts: list[Interval], timed: Container[str], before: bytes | None) -> bytes:
    """before: what has been packed of this second."""
    requests = sum(each.count for each in parts)
    failures = sum(each.count for each in parts if each.failed)
    times = [(each.response, each.service) for each in parts if each.outcome in timed and each.timed]
    if before is not None:
        earlier = _second(0, before)
        requests, failures = requests + earlier.requests, failures + earlier.failures
        times.append((earlier.response, earlier.service))
    # Most endpoints have one outcome in a second: there is nothing to add up.
    sums = times[0] if len(times) == 1 else [together([each[place] for each in times]) for place in (0, 1)]
    return _Packed(1, requests, failures, *sums).pack()


def together(histograms: Collection[Histogram]) -> Histogram:
    """The sum of several histograms."""
    total = Histogram()
    for each in histograms:
        total.add(each)
    return total


def column_of(packed: bytes) -> ColumnValues:
    """One column, or one second."""
    return _Packed.read(packed).column()

"""Each second of single endpoints of a run in progress, for charts that a viewer may request.

Entries are packed, within a memory budget: above it the oldest seconds are dropped. An entry of an endpoint with few
requests per second takes some 250 bytes. The budget lasts 2,000 such endpoints for four minutes and 50 for almost three
hours; older seconds are in the store.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from plimsoll._engine import Histogram
from plimsoll.record import NO_REQUESTS
from plimsoll.report.charts.columns import Second

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable

    from plimsoll.record import Interval
    from plimsoll.stats.seconds import Key, SecondSums

BUDGET = 128_000_000
"""Bytes."""
OVERHEAD = 140
"""Bytes of an entry besides its packed data."""
_HEAD = struct.Struct("<III")
"""Requests, failures, length of the first histogram in bytes."""


class EndpointHistory:
    """Seconds of endpoints. timed: the outcomes whose times count. Not thread-safe."""

    def __init__(self, timed: Container[str], budget: int = BUDGET) -> None:
        self.first = 0
        """The first second kept."""
        self._timed = timed
        self._budget = budget
        self._size = 0
        self._seconds: dict[int, dict[Key, bytes]] = {}

    def add(self, seconds: Iterable[SecondSums]) -> None:
        """Add new data of any second."""
        for sums in seconds:
            if sums.second >= self.first:
                self._add_second(sums)
        while self._size > self._budget and len(self._seconds) > 1:
            oldest = min(self._seconds)
            self._size -= sum(len(each) + OVERHEAD for each in self._seconds.pop(oldest).values())
            self.first = oldest + 1

    def _add_second(self, sums: SecondSums) -> None:
        for key, found in sums.endpoints.items():
            parts = [each for each in found if each.outcome not in NO_REQUESTS]
            if parts:
                entries = self._seconds.setdefault(sums.second, {})
                before = entries.get(key)
                if before is not None:
                    self._size -= len(before) + OVERHEAD
                entries[key] = _pack(parts, self._timed, before)
                self._size += len(entries[key]) + OVERHEAD

    def packed(self, key: Key) -> dict[int, bytes]:
        """The seconds in which an endpoint had requests; the bytes never change."""
        return {second: found[key] for second, found in self._seconds.items() if key in found}

    def second(self, number: int, key: Key) -> Second:
        """One second of an endpoint; empty if there is no entry."""
        packed = self._seconds.get(number, {}).get(key)
        return unpack(number, packed) if packed else Second(number, 0, 0, Histogram(), Histogram())


def _pack(parts: list[Interval], timed: Container[str], before: bytes | None) -> bytes:
    requests = sum(each.count for each in parts)
    failures = sum(each.count for each in parts if each.failed)
    times = [(each.response, each.service) for each in parts if each.outcome in timed and each.timed]
    if before is not None:
        earlier = unpack(0, before)
        requests, failures = requests + earlier.requests, failures + earlier.failures
        times.append((earlier.response, earlier.service))
    # Most endpoints have one outcome in a second: there is nothing to add up.
    sums = times[0] if len(times) == 1 else [together([each[place] for each in times]) for place in (0, 1)]
    response, service = (each.encode(compressed=False) for each in sums)
    return _HEAD.pack(requests, failures, len(response)) + response + service


def together(histograms: Collection[Histogram]) -> Histogram:
    """The sum of several histograms."""
    total = Histogram()
    for each in histograms:
        total.add(each)
    return total


def unpack(second: int, packed: bytes) -> Second:
    requests, failures, length = _HEAD.unpack_from(packed)
    middle = _HEAD.size + length
    response, service = Histogram.decode(packed[_HEAD.size : middle]), Histogram.decode(packed[middle:])
    return Second(second, requests, failures, response, service)

"""Builds the seconds of a trial while a run is read: sums, and packed histograms."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np

from plimsoll._engine import Histogram
from plimsoll.record import NO_REQUESTS, TIMED
from plimsoll.stats.study import Course, GeneratorCourse

if TYPE_CHECKING:
    from plimsoll.record import Health, Interval


class PackedHistograms(Sequence["Histogram | None"]):
    """Histograms second by second, kept as their V2 bytes and decoded on access.

    A decoded one takes some 70 KiB, a packed one some 160 bytes: an hour of ten endpoints is 2.4 GB or 6 MB.
    """

    __slots__ = ("_packed",)

    def __init__(self, packed: Sequence[bytes | None]) -> None:
        self._packed = tuple(packed)

    def __len__(self) -> int:
        return len(self._packed)

    @overload
    def __getitem__(self, index: int) -> Histogram | None: ...
    @overload
    def __getitem__(self, index: slice) -> PackedHistograms: ...
    def __getitem__(self, index: int | slice) -> Histogram | PackedHistograms | None:
        if isinstance(index, slice):
            return PackedHistograms(self._packed[index])
        packed = self._packed[index]
        return None if packed is None else Histogram.decode(packed)


@dataclass(slots=True)
class _Second:
    """Sums over the outcomes of one endpoint in one second; times in ns."""

    requests: int = 0
    failures: int = 0
    timed: int = 0
    total: int = 0
    longest: int = 0
    body: int = 0


class _Packer:
    """Packs histograms second by second. Seconds come in order, so only one of them is open at a time."""

    def __init__(self, packed: Mapping[int, bytes] | None = None) -> None:
        self._packed = dict(packed or {})
        self._open = -1
        self._parts: list[Histogram] = []
        """Of the open second."""

    def add(self, second: int, histogram: Histogram) -> None:
        """histogram: is not changed, and must not change."""
        if second != self._open:
            self._pack()
            self._open = second
        self._parts.append(histogram)

    def copy(self) -> _Packer:
        self._pack()
        return _Packer(self._packed)

    def packed(self, seconds: int) -> PackedHistograms:
        self._pack()
        return PackedHistograms([self._packed.get(second) for second in range(seconds)])

    def _pack(self) -> None:
        parts, self._parts = self._parts, []
        if parts and self._open in self._packed:
            parts.append(Histogram.decode(self._packed[self._open]))
        found = parts[0] if len(parts) == 1 else Histogram.sum(parts)
        if found.count:
            self._packed[self._open] = found.encode(compressed=False)


class CourseBuilder:
    """Adds up the intervals of one endpoint, second by second. timed: the outcomes whose times count."""

    def __init__(self, timed: Container[str] = TIMED) -> None:
        self._timed = timed
        self._seconds: dict[int, _Second] = {}
        self._response = _Packer()
        self._service = _Packer()
        self._on_time: _Packer | None = None
        """None while it is the same as `_service`."""

    def add(self, second: int, intervals: Iterable[Interval]) -> None:
        """Some of this second."""
        sums = self._seconds.get(second)
        if sums is None:
            sums = self._seconds[second] = _Second()
        for interval in intervals:
            if interval.outcome in NO_REQUESTS:
                continue
            sums.requests += interval.count
            sums.failures += interval.count if interval.failed else 0
            sums.body += interval.bytes_body
            if interval.timed and interval.outcome in self._timed:
                sums.timed += interval.timed
                sums.total += interval.response_sum
                sums.longest = max(sums.longest, interval.response_max)
                self._add_times(second, interval)

    def _add_times(self, second: int, interval: Interval) -> None:
        if self._on_time is None and interval.on_time is not None:
            self._on_time = self._service.copy()
        self._response.add(second, interval.response)
        self._service.add(second, interval.service)
        if self._on_time is not None:
            self._on_time.add(second, interval.response_on_time)

    def course(self, seconds: int, warmup: int) -> Course:
        none = _Second()
        rows = [self._seconds.get(second, none) for second in range(seconds)]
        return Course(
            requests=np.array([row.requests for row in rows], dtype=np.int64),
            failures=np.array([row.failures for row in rows], dtype=np.int64),
            means=np.array([row.total / row.timed / 1e6 if row.timed else math.nan for row in rows]),
            maxima=np.array([row.longest / 1e6 if row.timed else math.nan for row in rows]),
            sizes=np.array([row.body / row.requests if row.requests else math.nan for row in rows]),
            histograms=self._response.packed(seconds),
            measured=slice(min(warmup, seconds), seconds),
            service=self._service.packed(seconds),
            on_time=() if self._on_time is None else self._on_time.packed(seconds),
        )


class GeneratorCourseBuilder:
    """Adds up the health of all workers, second by second."""

    def __init__(self) -> None:
        self._lag = _Packer()
        self._delay = _Packer()
        self._states: dict[int, dict[int, tuple[int, int]]] = {}
        """Exchanges in flight and waiting arrivals, by second and worker."""
        self._offered: dict[int, int] = {}

    def add(self, row: Health) -> None:
        self._lag.add(row.second, row.lag)
        self._delay.add(row.second, row.delay)
        workers = self._states.setdefault(row.second, {})
        # A second may have several rows; only one of them has the worker's state, the others have 0.
        in_flight, waiting = workers.get(row.worker, (0, 0))
        workers[row.worker] = max(in_flight, row.in_flight), max(waiting, row.waiting)
        self._offered[row.second] = self._offered.get(row.second, 0) + row.offered

    def course(self, seconds: int) -> GeneratorCourse | None:
        """None if no worker reported anything."""
        if not self._states:
            return None
        states = [self._states.get(second, {}).values() for second in range(seconds)]
        return GeneratorCourse(
            lag=self._lag.packed(seconds),
            delay=self._delay.packed(seconds),
            in_flight=np.array([sum(each for each, _ in state) if state else math.nan for state in states]),
            waiting=np.array([sum(each for _, each in state) if state else math.nan for state in states]),
            offered=np.array([self._offered.get(second, math.nan) for second in range(seconds)]),
        )

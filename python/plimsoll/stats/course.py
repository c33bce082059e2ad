"""Builds the seconds of a trial while a run is read: sums, and packed histograms."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from itertools import compress, groupby
from typing import TYPE_CHECKING, overload

import numpy as np

from plimsoll._engine import Histogram
from plimsoll.record import FAILURES, NO_REQUESTS, TIMED
from plimsoll.stats.columns import take
from plimsoll.stats.study import Course, GeneratorCourse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plimsoll.record import Health
    from plimsoll.stats.columns import IntervalColumns


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


def _packed(at: Sequence[int], packed: Sequence[bytes], seconds: int) -> PackedHistograms:
    """at: their seconds, in any order. Those of one second are added up."""
    found: list[bytes | None] = [None] * seconds
    several: dict[int, list[bytes]] = {}
    for second, data in zip(at, packed, strict=True):
        first = found[second]
        if first is None:
            found[second] = data
        else:
            several.setdefault(second, [first]).append(data)
    for second, parts in several.items():
        found[second] = Histogram.sum([Histogram.decode(each) for each in parts]).encode(compressed=False)
    return PackedHistograms(found)


class CourseBuilder:
    """Collects the intervals of one endpoint, or of all. timed: the outcomes whose times count."""

    def __init__(self, timed: Container[str] = TIMED) -> None:
        self._timed = timed
        self._counts: list[NDArray[np.int64]] = []
        """Rows of the second, the requests, the failures, and the bytes of the bodies."""
        self._times: list[NDArray[np.int64]] = []
        """Rows of the second, the number of times, their sum and their maximum in ns."""
        self._seconds: list[int] = []
        """Of the packed histograms below."""
        self._response: list[bytes] = []
        self._service: list[bytes] = []
        self._on_time: list[bytes] = []
        """Shorter than the others as long as these are the service times."""

    def add(self, columns: IntervalColumns, rows: Mapping[str, Sequence[int]]) -> None:
        """rows: by outcome."""
        timed: list[int] = []
        for outcome, found in rows.items():
            if outcome in NO_REQUESTS:
                continue
            counts = take(columns.numbers["count"], found)
            failures = counts if outcome in FAILURES else [0] * len(counts)
            bodies = take(columns.numbers["bytes_body"], found)
            self._counts.append(np.array([take(columns.seconds, found), counts, failures, bodies], dtype=np.int64))
            if outcome in self._timed:
                timed += compress(found, take(columns.is_timed, found))
        if timed:
            self._add_times(columns, sorted(timed))

    def _add_times(self, columns: IntervalColumns, rows: Sequence[int]) -> None:
        count, untimed, total, longest = (
            np.array(take(columns.numbers[name], rows), dtype=np.int64)
            for name in ("count", "untimed", "response_sum", "response_max")
        )
        seconds = take(columns.seconds, rows)
        self._times.append(np.array([seconds, count - untimed, total, longest]))
        parts = [list(same) for _, same in groupby(range(len(rows)), seconds.__getitem__)]
        if self._on_time or columns.has_waited(rows):
            self._on_time += self._service[len(self._on_time) :]
            self._on_time += _sums(columns.response_on_time(rows), parts)
        self._seconds += (seconds[each[0]] for each in parts)
        self._response += _sums(take(columns.response, rows), parts)
        self._service += _sums(take(columns.service, rows), parts)

    def course(self, seconds: int, warmup: int) -> Course:
        """seconds: more than the last second of any interval."""
        at, counts, failed, bytes_body = _joined(self._counts)
        requests, failures, bodies, timed, total, maxima = np.zeros((6, seconds), dtype=np.int64)
        np.add.at(requests, at, counts)
        np.add.at(failures, at, failed)
        np.add.at(bodies, at, bytes_body)
        at, numbers, totals, longest = _joined(self._times)
        np.add.at(timed, at, numbers)
        np.add.at(total, at, totals)
        np.maximum.at(maxima, at, longest)
        return Course(
            requests=requests,
            failures=failures,
            means=_where(timed, total / np.maximum(timed, 1) / 1e6),
            maxima=_where(timed, maxima / 1e6),
            sizes=_where(requests, bodies / np.maximum(requests, 1)),
            histograms=_packed(self._seconds, self._response, seconds),
            measured=slice(min(warmup, seconds), seconds),
            service=_packed(self._seconds, self._service, seconds),
            on_time=_packed(self._seconds, self._on_time, seconds) if self._on_time else (),
        )


def _joined(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate(parts, axis=1) if parts else np.zeros((4, 0), dtype=np.int64)


def _sums(histograms: Sequence[Histogram], parts: Sequence[Sequence[int]]) -> list[bytes]:
    """Packed; parts: places of those that belong together."""
    if len(parts) == len(histograms):
        return [each.encode(compressed=False) for each in histograms]
    return [Histogram.sum(take(histograms, part)).encode(compressed=False) for part in parts]


def _where(counts: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values of the seconds with a count; NaN in others."""
    return np.where(counts > 0, values, math.nan)


class GeneratorCourseBuilder:
    """Adds up the health of all workers, second by second."""

    def __init__(self) -> None:
        self._seconds: list[int] = []
        """Of each row, and so of the packed histograms."""
        self._lag: list[bytes] = []
        self._delay: list[bytes] = []
        self._states: dict[int, dict[int, tuple[int, int]]] = {}
        """Exchanges in flight and waiting arrivals, by second and worker."""
        self._offered: dict[int, int] = {}

    def add(self, row: Health) -> None:
        self._seconds.append(row.second)
        self._lag.append(row.lag.encode(compressed=False))
        self._delay.append(row.delay.encode(compressed=False))
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
            lag=_packed(self._seconds, self._lag, seconds),
            delay=_packed(self._seconds, self._delay, seconds),
            in_flight=np.array([sum(each for each, _ in state) if state else math.nan for state in states]),
            waiting=np.array([sum(each for _, each in state) if state else math.nan for state in states]),
            offered=np.array([self._offered.get(second, math.nan) for second in range(seconds)]),
        )

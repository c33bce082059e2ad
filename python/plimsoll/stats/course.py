"""Builds the seconds of a trial while a run is read: sums, and histograms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from plimsoll._engine import Histogram
from plimsoll.record import FAILURES, NO_REQUESTS, TIMED
from plimsoll.stats.columns import take
from plimsoll.stats.study import Course, GeneratorCourse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plimsoll.record import Health
    from plimsoll.stats.columns import IntervalColumns


_NUMBERS = ("count", "untimed", "bytes_body", "response_sum", "response_max")


def numbers_of(columns: IntervalColumns) -> dict[str, NDArray[np.int64]]:
    """The columns that courses are made from, as arrays: "second" is the first."""
    numbers = {name: np.array(columns.numbers[name], dtype=np.int64) for name in _NUMBERS}
    return {"second": np.array(columns.seconds, dtype=np.int64), **numbers}


def _by_second(at: Sequence[int], histograms: Sequence[Histogram], seconds: int) -> tuple[Histogram | None, ...]:
    """at: their seconds, in any order. Those of one second are added up."""
    found = dict(zip(at, histograms, strict=True))
    if len(found) < len(at):
        sizes = dict(sorted(Counter(at).items()))
        parts = take(histograms, sorted(range(len(at)), key=at.__getitem__))
        found = dict(zip(sizes, Histogram.packed_sums(parts, list(sizes.values())), strict=True))
    return tuple(map(found.get, range(seconds)))


class CourseBuilder:
    """Collects the intervals of one endpoint, or of all. timed: the outcomes whose times count."""

    def __init__(self, timed: Container[str] = TIMED) -> None:
        self._timed = timed
        self._counts: list[NDArray[np.int64]] = []
        """Rows of the second, the requests, the failures, and the bytes of the bodies."""
        self._times: list[NDArray[np.int64]] = []
        """Rows of the second, the number of times, their sum and their maximum in ns."""
        self._seconds: list[int] = []
        """Of the histograms below, which are packed."""
        self._response: list[Histogram] = []
        self._service: list[Histogram] = []
        self._on_time: list[Histogram] = []
        """Shorter than the others as long as these are the service times."""

    def add(
        self, columns: IntervalColumns, numbers: Mapping[str, NDArray[np.int64]], rows: Mapping[str, Sequence[int]]
    ) -> None:
        """columns: of a stored run, so their histograms are packed, and their seconds ascend. numbers: theirs, as
        `numbers_of` gives them. rows: by outcome."""
        timed = []
        for outcome, found in rows.items():
            if outcome in NO_REQUESTS:
                continue
            chosen = np.array(found)
            second, count, untimed, bodies, *_ = (each[chosen] for each in numbers.values())
            failures = count if outcome in FAILURES else np.zeros_like(count)
            self._counts.append(np.array([second, count, failures, bodies]))
            if outcome in self._timed:
                timed.append(chosen[count > untimed])
        if any(map(len, timed)):
            self._add_times(columns, numbers, np.sort(np.concatenate(timed)))

    def _add_times(
        self, columns: IntervalColumns, numbers: Mapping[str, NDArray[np.int64]], chosen: NDArray[np.int64]
    ) -> None:
        second, count, untimed, _, total, longest = (each[chosen] for each in numbers.values())
        self._times.append(np.array([second, count - untimed, total, longest]))
        # Rows of one second follow each other.
        first = np.flatnonzero(np.diff(second, prepend=-1))
        sizes = np.diff(first, append=len(second)).tolist()
        rows = chosen.tolist()
        if self._on_time or columns.has_waited(rows):
            self._on_time += self._service[len(self._on_time) :]
            self._on_time += _sums(columns.response_on_time(rows), sizes)
        self._seconds += second[first].tolist()
        self._response += _sums(take(columns.response, rows), sizes)
        self._service += _sums(take(columns.service, rows), sizes)

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
            histograms=_by_second(self._seconds, self._response, seconds),
            measured=slice(min(warmup, seconds), seconds),
            service=_by_second(self._seconds, self._service, seconds),
            on_time=_by_second(self._seconds, self._on_time, seconds) if self._on_time else (),
        )


def _joined(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate(parts, axis=1) if parts else np.zeros((4, 0), dtype=np.int64)


def _sums(histograms: Sequence[Histogram], sizes: Sequence[int]) -> Sequence[Histogram]:
    """histograms: packed, like the sums. sizes: how many belong together, in their order."""
    return histograms if len(sizes) == len(histograms) else Histogram.packed_sums(histograms, sizes)


def _where(counts: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values of the seconds with a count; NaN in others."""
    return np.where(counts > 0, values, math.nan)


class GeneratorCourseBuilder:
    """Adds up the health of all workers, second by second."""

    def __init__(self) -> None:
        self._seconds: list[int] = []
        """Of each row, and so of the histograms, which are packed."""
        self._lag: list[Histogram] = []
        self._delay: list[Histogram] = []
        self._states: dict[int, dict[int, tuple[int, int]]] = {}
        """Exchanges in flight and waiting arrivals, by second and worker."""
        self._offered: dict[int, int] = {}

    def add(self, row: Health) -> None:
        self._seconds.append(row.second)
        self._lag.append(row.lag)
        self._delay.append(row.delay)
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
            lag=_by_second(self._seconds, self._lag, seconds),
            delay=_by_second(self._seconds, self._delay, seconds),
            in_flight=np.array([sum(each for each, _ in state) if state else math.nan for state in states]),
            waiting=np.array([sum(each for _, each in state) if state else math.nan for state in states]),
            offered=np.array([self._offered.get(second, math.nan) for second in range(seconds)]),
        )

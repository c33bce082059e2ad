"""A run second by second, put together in columns: at most so many of them, however long the run is.

What adds up is added up, a percentile is that of all requests of a column together, and each line keeps the least and
the greatest value that it had in a single second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from plimsoll._engine import Histogram

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

COUNTS = ("requests", "failures", "offered", "users", "in flight", "waiting")
"""Lines that show a number of each second as it is."""
QUANTILES: dict[str, tuple[str, float]] = {
    "p50": ("response", 0.50),
    "p95": ("response", 0.95),
    "p99": ("response", 0.99),
    "service p50": ("service", 0.50),
    "service p99": ("service", 0.99),
    "lag p99": ("lag", 0.99),
    "delay p99": ("delay", 0.99),
}
"""Lines that show a percentile in ms: of which times, and which."""
_LINES = {name: [(line, q) for line, (of, q) in QUANTILES.items() if of == name] for name, _ in QUANTILES.values()}
PER_DECADE = 10
"""Buckets of the heat map for each power of ten of the time."""
LATE = 10
"""Seconds for which a column that is complete can still change."""


@dataclass(frozen=True, slots=True, eq=False)
class Second:
    """What one second of a run was like, over all workers. Histograms are in µs, and are not kept."""

    second: int
    """From second 0 of the run."""
    requests: int
    failures: int
    """Of the requests."""
    response: Histogram
    service: Histogram
    users: int | None = None
    """At the second's end, like `in_flight` and `waiting`. None, here and below: not known, or not of one endpoint."""
    in_flight: int | None = None
    waiting: int | None = None
    """Arrivals of the open model that wait for a user."""
    offered: int | None = None
    """Arrivals of the open model that were due in it."""
    dropped: int | None = None
    """Of these, never sent."""
    lag: Histogram | None = None
    delay: Histogram | None = None
    cpu: float | None = None
    """Of the busiest worker, 0…1 for one thread."""


class Value(NamedTuple):
    """Of one line in one column."""

    value: float
    low: float
    """Of a single second, like `high`."""
    high: float
    seconds: int = 1
    """Those in which it is known."""


@dataclass(slots=True)
class ColumnValues:
    """One second, or several together."""

    seconds: int = 1
    values: dict[str, Value] = field(default_factory=dict)
    """By line; one that is not known is not there."""
    packed: dict[str, bytes] = field(default_factory=dict)
    """Histograms by what they are of, as V2."""


def part_of(second: Second) -> ColumnValues:
    times = _times(second)
    return ColumnValues(
        1, _values(second, times), {name: each.encode(compressed=False) for name, each in times.items()}
    )


def no_requests(seconds: int) -> ColumnValues:
    """Seconds of an endpoint without requests."""
    return ColumnValues(seconds, dict.fromkeys(("requests", "failures"), Value(0, 0, 0, seconds)))


def _times(second: Second) -> dict[str, Histogram]:
    times = {"response": second.response, "service": second.service, "lag": second.lag, "delay": second.delay}
    return {name: each for name, each in times.items() if each is not None and each.count}


def _values(second: Second, times: Mapping[str, Histogram]) -> dict[str, Value]:
    known: dict[str, float | None] = {
        "requests": second.requests,
        "failures": second.failures,
        "offered": second.offered,
        "users": second.users,
        "in flight": second.in_flight,
        "waiting": second.waiting,
    }
    for line, value in quantiles(times):
        known[line] = value
    return {line: Value(each, each, each) for line, each in known.items() if each is not None}


def merged(parts: Sequence[ColumnValues]) -> ColumnValues:
    """parts: at least one."""
    if len(parts) == 1:
        return parts[0]
    values = _all_values([part.values for part in parts])
    times: dict[str, Histogram] = {}
    for part in parts:
        for name, data in part.packed.items():
            if name in times:
                times[name].add(Histogram.decode(data))
            else:
                times[name] = Histogram.decode(data)
    for line, milliseconds in quantiles(times):
        values[line] = values[line]._replace(value=milliseconds)
    packed = {name: each.encode(compressed=False) for name, each in times.items()}
    return ColumnValues(sum(part.seconds for part in parts), values, packed)


def time_columns(
    counts: Mapping[str, NDArray[np.float64]], times: Mapping[str, Sequence[Histogram | None]], width: int
) -> list[tuple[int, ColumnValues]]:
    """The same of all seconds of a run at once, `width` of them in each column: (first second, all of it together). Its
    parts are not to be merged with others.

    counts: by line. times: by what they are of. Both have an entry for each second from 0 on, NaN or None where it is
    not known, and are equally long.
    """
    lines = dict(counts)
    together: dict[str, NDArray[np.float64]] = {}
    for name, histograms in times.items():
        lines |= _quantile_columns(name, histograms)
        if width > 1:
            parts = list(_parts(histograms, width))
            sums = Histogram.packed_sums(list(chain.from_iterable(parts)), [len(part) for part in parts])
            together |= _quantile_columns(name, sums)
    seconds = len(next(iter(lines.values())))
    columns = [(start, ColumnValues(min(width, seconds - start))) for start in range(0, seconds, width)]
    for line, values in lines.items():
        grid = np.full((len(columns), width), math.nan)
        grid.flat[:seconds] = values
        known = np.count_nonzero(~np.isnan(grid), axis=1)
        value = together[line] if line in together else np.nansum(grid, axis=1) / np.maximum(known, 1)
        parts_of_line = zip(
            value.tolist(),
            np.fmin.reduce(grid, 1).tolist(),
            np.fmax.reduce(grid, 1).tolist(),
            known.tolist(),
            strict=True,
        )
        for (_, column), of in zip(columns, parts_of_line, strict=True):
            if of[3]:
                column.values[line] = Value(*of)
    return columns


def cell_columns(response: Sequence[Histogram | None], width: int) -> list[tuple[int, Cells]]:
    """The same for the heat map."""
    parts = enumerate(_parts(response, width))
    sizes = range(len(response), 0, -width)
    return [
        (place * width, Cells(min(width, left), _counts(Histogram.sum(part))))
        for (place, part), left in zip(parts, sizes, strict=True)
    ]


def _parts(histograms: Sequence[Histogram | None], width: int) -> Iterator[list[Histogram]]:
    """Those of each column."""
    for start in range(0, len(histograms), width):
        yield [each for each in histograms[start : start + width] if each is not None]


def _quantile_columns(name: str, histograms: Sequence[Histogram | None]) -> dict[str, NDArray[np.float64]]:
    """What `quantiles` says of each; NaN where nothing was timed."""
    lines = _LINES[name]
    known = [(place, each) for place, each in enumerate(histograms) if each is not None and each.count]
    table = Histogram.table([each for _, each in known], [q for _, q in lines])
    found = np.full((len(lines), len(histograms)), math.nan)
    found[:, [place for place, _ in known]] = np.maximum(np.frombuffer(table, "<u8").reshape(len(lines), -1), 1) / 1000
    return {line: values for (line, _), values in zip(lines, found, strict=True)}


def _all_values(several: Iterable[Mapping[str, Value]]) -> dict[str, Value]:
    lines: dict[str, list[Value]] = {}
    for values in several:
        for line, value in values.items():
            lines.setdefault(line, []).append(value)
    return {line: _together(found) for line, found in lines.items()}


def quantiles(times: Mapping[str, Histogram]) -> Iterator[tuple[str, float]]:
    """Percentiles of these times by line, in ms. A time under 1 µs is drawn as that: a logarithmic axis has no 0."""
    for name, lines in _LINES.items():
        if name in times:
            found = times[name].values_at([q for _, q in lines])
            yield from ((line, max(1, micros) / 1000) for (line, _), micros in zip(lines, found, strict=True))


def _together(values: Sequence[Value]) -> Value:
    """The mean of what is counted; for a percentile only the extremes are right."""
    seconds = sum(each.seconds for each in values)
    mean = math.fsum(each.value * each.seconds for each in values) / seconds
    return Value(mean, min(each.low for each in values), max(each.high for each in values), seconds)


@dataclass(slots=True)
class Cells:
    """How many requests of some seconds took how long: a column of the heat map."""

    seconds: int = 1
    counts: dict[int, int] = field(default_factory=dict)
    """By bucket: n has the times from 10^(n/10) to 10^((n+1)/10) µs, to the histogram's precision."""


def cells_of(second: Second) -> Cells:
    return Cells(1, _counts(second.response))


def cells_of_column(part: ColumnValues) -> Cells:
    """The same of several seconds together."""
    response = part.packed.get("response")
    return Cells(part.seconds, {} if response is None else _counts(Histogram.decode(response)))


def _counts(times: Histogram) -> dict[int, int]:
    counts: dict[int, int] = {}
    left = times.count
    for bucket, above in enumerate(times.counts_above(_ENDS)):
        if left > above:
            counts[bucket] = left - above
        left = above
    return counts


_ENDS = [math.ceil(10 ** ((bucket + 1) / PER_DECADE) - 1e-9) - 1 for bucket in range(10 * PER_DECADE)]
"""The last µs of each bucket; that of the last one is beyond the longest time."""


def merged_cells(parts: Sequence[Cells]) -> Cells:
    """parts: at least one."""
    if len(parts) == 1:
        return parts[0]
    counts: dict[int, int] = {}
    for part in parts:
        for bucket, count in part.counts.items():
            counts[bucket] = counts.get(bucket, 0) + count
    return Cells(sum(part.seconds for part in parts), counts)


class _Part(Protocol):
    @property
    def seconds(self) -> int: ...


P = TypeVar("P", bound=_Part)


class ColumnGrid(Generic[P]):
    """Seconds in columns of the same width, at most `most` of them.

    A column is shown once it is complete: when its last second is there, or a later one. Columns that have been
    complete for `LATE` seconds are kept as one part, so memory does not grow with the run.
    """

    def __init__(self, most: int, merge: Callable[[Sequence[P]], P]) -> None:
        self.width = 1
        """Seconds of a column."""
        self.most = most
        self._merge = merge
        self._columns: dict[int, dict[int, P]] = {}
        """By first second; its parts by second."""
        self._newest = -1
        self._sealed = 0
        """Columns before this second are one part."""

    def begin(self, parts: Iterable[tuple[int, P]], width: int, until: int, empty: Callable[[int], P]) -> None:
        """Begin with the seconds before `until`. parts: (first second, some of `width` seconds together), ascending.
        empty: so many seconds of which there is no part. Both widths are powers of two."""
        self.width = max(self.width, width)
        columns: dict[int, list[P]] = {start: [] for start in range(0, until, self.width)}
        for second, part in parts:
            columns[self._start(second)].append(part)
        for start, found in columns.items():
            missing = min(self.width, until - start) - sum(part.seconds for part in found)
            self._columns[start] = {start: self._merge([*found, empty(missing)] if missing else found)}
        self._newest = until - 1
        self._sealed = self._start(until)

    def fit(self, seconds: int) -> None:
        """Be so wide that this many seconds are at most `most` columns; never narrower than before. Wider columns hold
        whole ones, as long as each length is a multiple of the one before where the width grows."""
        width = max(1, math.ceil(seconds / self.most))
        if width <= self.width:
            return
        self.width = width
        columns: dict[int, dict[int, P]] = {}
        for parts in self._columns.values():
            for second, part in parts.items():
                columns.setdefault(self._start(second), {})[second] = part
        self._sealed = self._start(self._sealed)
        for start, parts in columns.items():
            one = start < self._sealed and len(parts) > 1
            columns[start] = {start: self._merge(list(parts.values()))} if one else parts
        self._columns = columns

    def put(self, second: int, part: P) -> tuple[list[tuple[int, P]], bool]:
        """Columns that are complete now, and were not; and whether one changed that was complete before. A second that
        comes too late for its column is left out."""
        start = self._start(second)
        is_late = self._is_complete(start)
        if start < self._sealed and self.width > 1:
            return [], False
        before = self._columns.get(start, {}).get(second)
        self._columns.setdefault(start, {})[second] = part
        first = self._start(self._newest + 1)
        self._newest = max(self._newest, second)
        found = [] if is_late else [each for each in range(first, second + 1, self.width) if self._is_complete(each)]
        new = [(each, self._merge(list(self._columns[each].values()))) for each in found if each in self._columns]
        self._seal()
        return new, is_late and before != part

    def end(self, seconds: int) -> None:
        """There are so many seconds: what is later is left out, and the last column is complete."""
        for start in [each for each in self._columns if self._start(seconds - 1) <= each]:
            kept = {second: part for second, part in self._columns[start].items() if second < seconds}
            if kept:
                self._columns[start] = kept
            else:
                del self._columns[start]
        self._newest = self._start(seconds - 1) + self.width - 1

    def complete(self) -> list[tuple[int, P]]:
        """(first second, all of it together), ascending."""
        return [
            (start, self._merge(list(self._columns[start].values())))
            for start in sorted(self._columns)
            if self._is_complete(start)
        ]

    def _start(self, second: int) -> int:
        return second - second % self.width

    def _is_complete(self, start: int) -> bool:
        return start + self.width - 1 <= self._newest

    def _seal(self) -> None:
        while self._sealed + self.width + LATE <= self._newest:
            parts = self._columns.get(self._sealed)
            if parts is not None and len(parts) > 1:
                self._columns[self._sealed] = {self._sealed: self._merge(list(parts.values()))}
            self._sealed += self.width

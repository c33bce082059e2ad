"""The rows of a run's tables as they were at the end of each of its seconds, by column."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from plimsoll._engine import Histogram
from plimsoll.record import FAILURES, NO_REQUESTS, STREAM_ROWS
from plimsoll.stats.columns import take
from plimsoll.stats.course import numbers_of
from plimsoll.stats.latency.columns import where_timed
from plimsoll.stats.seconds import WINDOW
from plimsoll.stats.summary import SummaryColumns
from plimsoll.stats.totals import AGGREGATED

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from numpy.typing import NDArray

    from plimsoll.stats.columns import IntervalColumns
    from plimsoll.stats.latency.columns import Column
    from plimsoll.stats.seconds import Key

    Numbers = NDArray[np.int64]
    Sums = Mapping[str, Numbers]

_REDUCED: dict[str, tuple[np.ufunc, int]] = {
    **dict.fromkeys(("requests", "failures", "bodies", "times", "time"), (np.add, 0)),
    "least": (np.minimum, np.iinfo(np.int64).max),
    "most": (np.maximum, -1),
}
"""How several rows become one, and what no rows are: counts, bytes, and of the times their number, and their sum and
extremes in ns."""
_NUMBERS = ("count", "bytes_body", "response_sum", "response_min", "response_max")
_ALL = 0
"""The number of all endpoints together."""


class RunHistory:
    """Rows for each second of a stored run: the endpoints with requests, by name, then method, and all together.

    first: the first second that the sums of the run so far have; those of the last seconds have all. timed: the
    outcomes whose times count. quantiles: of the percentiles; 1 is the exact maximum. full: with the endpoints, and
    with percentiles of the last seconds instead of the run so far.
    """

    def __init__(self, first: int, timed: Container[str], quantiles: Sequence[float], *, full: bool) -> None:
        self._first = first
        self._timed = timed
        self._quantiles = tuple(quantiles)
        self._full = full
        self._keys: list[Key] = [("", AGGREGATED)]
        """By the number of the endpoint, like all that follows."""
        self._numbers: dict[Key, int] = {}
        self._so_far: dict[str, Numbers] = {name: np.full(1, none) for name, (_, none) in _REDUCED.items()}
        self._times_so_far: dict[int, Histogram] = {}
        self._seconds = np.zeros(0, dtype=np.int64)
        """Those that were asked for and are still recent."""
        self._rows = _Rows(dict.fromkeys(("second", "endpoint", *_REDUCED), self._seconds), ())
        """Of these and later ones."""

    @property
    def most_rows(self) -> int:
        """Of one second, so far."""
        return len(self._keys)

    def add(self, columns: IntervalColumns) -> None:
        """columns: whole seconds, after those that were asked for."""
        endpoint = np.zeros(len(columns.seconds), dtype=np.int64)
        is_request, failed, timed, in_total = np.zeros((4, len(endpoint)), dtype=np.bool)
        for (method, name, outcome), rows in columns.rows.items():
            endpoint[rows] = self._number(method, name) if self._full else _ALL
            is_request[rows] = outcome not in NO_REQUESTS
            failed[rows] = outcome in FAILURES
            timed[rows] = outcome in self._timed
            in_total[rows] = method not in STREAM_ROWS
        timed &= np.array(columns.is_timed, dtype=np.bool)
        second, count, bodies, time, least, most = numbers_of(columns, _NUMBERS).values()
        numbers = {
            "second": second,
            "endpoint": endpoint,
            "requests": count * is_request,
            "failures": count * failed,
            "bodies": bodies * is_request,
            "times": timed * np.fromiter(map(attrgetter("count"), columns.response), dtype=np.int64),
            "time": time * timed,
            "least": np.where(timed, least, _REDUCED["least"][1]),
            "most": np.where(timed, most, _REDUCED["most"][1]),
        }
        of_endpoints = _Rows(numbers, columns.response)
        of_all = of_endpoints.where(in_total)
        of_all.numbers["endpoint"] = np.full(len(of_all.histograms), _ALL)
        self._rows = _Rows.joined([self._rows, of_endpoints, of_all] if self._full else [self._rows, of_all])

    def at_the_ends_of(self, seconds: Sequence[int]) -> tuple[list[int], SummaryColumns]:
        """The place in `seconds` of each row, ascending, and the rows.

        seconds: one or more, ascending, after those that were asked for; up to the last of them, all with intervals.
        """
        span = _Span(self._seconds, np.array(seconds, dtype=np.int64), self._rows, len(self._keys))
        recent, so_far = span.recent_sums(), self._continued(span)
        has_row = so_far["requests"] > 0
        has_row[_ALL] = True
        endpoint, place = np.nonzero(has_row)
        order = np.lexsort((self._ranks()[endpoint], place))
        medians, micros = (each[:, order] for each in self._micros(span, endpoint, place))
        self._seconds, self._rows = span.still_recent(self._rows)

        endpoint, place = endpoint[order], place[order]
        recent, so_far = ({name: each[endpoint, place] for name, each in of.items()} for of in (recent, so_far))
        per = np.minimum(span.new + 1, WINDOW)[place]
        of = [self._keys[each] for each in endpoint.tolist()]
        columns = SummaryColumns(
            methods=[method for method, _ in of],
            names=[name for _, name in of],
            current_rps=(recent["requests"] / per).tolist(),
            current_failures_per_s=(recent["failures"] / per).tolist(),
            percentiles=_percentiles(micros, self._quantiles, recent if self._full else so_far),
            requests=so_far["requests"].tolist(),
            failures=so_far["failures"].tolist(),
            median=_percentiles(medians, (0.5,), so_far)[0],
            # Sums may have more digits than a float.
            mean=[None if each is None else each / 1e6 for each in _ratios(so_far["time"], so_far["times"])],
            min=where_timed(so_far["least"] / 1e6, so_far["times"].tolist()),
            max=where_timed(so_far["most"] / 1e6, so_far["times"].tolist()),
            average_size=[each or 0.0 for each in _ratios(so_far["bodies"], so_far["requests"])],
        )
        return place.tolist(), columns

    def _number(self, method: str, name: str) -> int:
        number = self._numbers.setdefault((method, name), len(self._keys))
        if number == len(self._keys):
            self._keys.append((method, name))
        return number

    def _ranks(self) -> Numbers:
        """The place of each endpoint among the rows of a second."""
        order = sorted(range(1, len(self._keys)), key=lambda number: self._keys[number][::-1])
        ranks = np.zeros(len(self._keys), dtype=np.int64)
        ranks[[*order, _ALL]] = np.arange(len(ranks))
        return ranks

    def _continued(self, span: _Span) -> dict[str, Numbers]:
        """The sums of the run so far: a row for each endpoint, a column for each second."""
        found = {}
        for name, (reduce, none) in _REDUCED.items():
            before = np.full((len(self._keys), 1), none)
            before[: len(self._so_far[name]), 0] = self._so_far[name]
            new = np.where(span.new >= self._first, span.grids[name][:, span.old :], none)
            found[name] = reduce.accumulate(np.concatenate((before, new), axis=1), axis=1)[:, 1:]
            self._so_far[name] = found[name][:, -1]
        return found

    def _micros(self, span: _Span, endpoint: Numbers, place: Numbers) -> tuple[Numbers, Numbers]:
        """The median of the run so far, and the percentiles, in µs: a row for each quantile, a column for each endpoint
        and place. These ascend, in this order."""
        rows, at = span.rows, span.at
        timed = rows.numbers["times"] > 0
        counted = timed & (at >= span.old) & (rows.numbers["second"] >= self._first)
        new, before = rows.where(counted), self._times_so_far
        so_far = _Times(
            np.concatenate((np.array(list(before), dtype=np.int64), new.numbers["endpoint"])),
            np.concatenate((np.zeros(len(before), dtype=np.int64), at[counted] - span.old + 1)),
            [*before.values(), *new.histograms],
        )
        self._times_so_far = so_far.sums()
        since_start = endpoint, np.zeros_like(place), place + 2
        if not self._full:
            micros = so_far.quantiles(*since_start, (0.5, *self._quantiles))
            return micros[:1], micros[1:]
        chosen = rows.where(timed)
        recent = _Times(chosen.numbers["endpoint"], at[timed], chosen.histograms)
        ends = endpoint, span.first[place], span.old + place + 1
        return so_far.quantiles(*since_start, (0.5,)), recent.quantiles(*ends, self._quantiles)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Of one endpoint, second and outcome each, in any order."""

    numbers: dict[str, Numbers]
    """second, endpoint, and those of `_REDUCED`."""
    histograms: Sequence[Histogram]
    """Of the times, packed."""

    @classmethod
    def joined(cls, parts: Sequence[_Rows]) -> _Rows:
        numbers = {name: np.concatenate([each.numbers[name] for each in parts]) for name in parts[0].numbers}
        return cls(numbers, [histogram for each in parts for histogram in each.histograms])

    def where(self, chosen: NDArray[np.bool]) -> _Rows:
        numbers = {name: each[chosen] for name, each in self.numbers.items()}
        return _Rows(numbers, take(self.histograms, np.flatnonzero(chosen).tolist()))


class _Span:
    """New seconds, and before them the old ones that are recent for one of these.

    A place among both is counted from the first old one.
    """

    def __init__(self, old: Numbers, new: Numbers, rows: _Rows, endpoints: int) -> None:
        """rows: of the seconds, and perhaps of later ones. endpoints: their number."""
        self._seconds = np.concatenate((old, new))
        self.old = len(old)
        """The number of these."""
        self.new = new
        self.rows = rows.where(rows.numbers["second"] <= new[-1])
        self.at = np.searchsorted(self._seconds, self.rows.numbers["second"])
        """The place of each row."""
        self.first = np.searchsorted(self._seconds, new - WINDOW, side="right")
        """For each new second, the place of the first that is recent at its end."""
        self.grids = {name: self._grid(name, endpoints) for name in _REDUCED}
        """A row for each endpoint, a column for each second."""

    def recent_sums(self) -> dict[str, Numbers]:
        """The same of the seconds that are recent at the end of each new one."""
        ends = np.column_stack((self.first, np.arange(self.old, len(self._seconds)) + 1)).ravel()
        found = {}
        for name, (reduce, none) in _REDUCED.items():
            # The last window ends there.
            beyond = np.full((len(self.grids[name]), 1), none)
            sums = reduce.reduceat(np.concatenate((self.grids[name], beyond), axis=1), ends, axis=1)
            # Every other sum goes from the end of one window to the beginning of the next.
            found[name] = sums[:, ::2]
        return found

    def _grid(self, name: str, endpoints: int) -> Numbers:
        reduce, none = _REDUCED[name]
        grid = np.full(endpoints * len(self._seconds), none)
        reduce.at(grid, self.rows.numbers["endpoint"] * len(self._seconds) + self.at, self.rows.numbers[name])
        return grid.reshape(endpoints, -1)

    def still_recent(self, rows: _Rows) -> tuple[Numbers, _Rows]:
        """The seconds and the rows that the next span may need."""
        after = self.new[-1] + 1 - WINDOW
        return self._seconds[self._seconds > after], rows.where(rows.numbers["second"] > after)


class _Times:
    """Histograms of several endpoints, each at a place."""

    def __init__(self, endpoint: Numbers, at: Numbers, histograms: Sequence[Histogram]) -> None:
        order = np.lexsort((at, endpoint))
        self._ends = endpoint[order], at[order]
        self._histograms = take(histograms, order.tolist())

    def sums(self) -> dict[int, Histogram]:
        """All of each endpoint; packed."""
        endpoints, sizes = np.unique(self._ends[0], return_counts=True)
        sums = Histogram.packed_sums(self._histograms, sizes.tolist())
        return dict(zip(endpoints.tolist(), sums, strict=True))

    def quantiles(self, endpoint: Numbers, first: Numbers, end: Numbers, quantiles: Sequence[float]) -> Numbers:
        """µs: a row for each quantile, a column for each sum of an endpoint, from place `first` up to `end` without it.
        The columns ascend by endpoint, then by both places."""
        width = int(end.max(initial=0)) + 1
        known = self._ends[0] * width + self._ends[1]
        firsts, ends = (np.searchsorted(known, endpoint * width + each).tolist() for each in (first, end))
        table = Histogram.moving_table(self._histograms, firsts, ends, quantiles)
        return np.frombuffer(table, "<i8").reshape(len(quantiles), -1)


def _percentiles(micros: Numbers, quantiles: Sequence[float], of: Sums) -> list[Column]:
    """ms. A bucket may reach beyond the extremes, which are exact."""
    most, times = of["most"], of["times"].tolist()
    values = (
        most if quantile == 1 else np.clip(row * 1000, of["least"], most)
        for quantile, row in zip(quantiles, micros, strict=True)
    )
    return [where_timed(each / 1e6, times) for each in values]


def _ratios(amounts: Numbers, per: Numbers) -> Column:
    """Exact, however large; None of nothing."""
    return [amount / each if each else None for amount, each in zip(amounts.tolist(), per.tolist(), strict=True)]

"""Intervals as columns. What adds up a whole run works on thousands of intervals at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter, gt, itemgetter
from typing import TYPE_CHECKING, Self, TypeVar

from plimsoll.record import COUNTERS, Interval, sum_to_read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from plimsoll._engine import Histogram

    Key = tuple[str, str, str]
    """(method, name, outcome)"""

T = TypeVar("T")

SUMS = (*COUNTERS, "response_sum", "service_sum")
NUMBERS = (*COUNTERS, "response_sum", "response_min", "response_max", "service_sum")
"""Columns of whole numbers, in the order of the fields of `Interval`."""
_numbers_of = attrgetter(*NUMBERS)


@dataclass(slots=True, eq=False)
class IntervalColumns:
    """Some intervals of a run. Immutable. A row is a place in all columns, from 0."""

    rows: Mapping[Key, Sequence[int]]
    """Of each endpoint and outcome, ascending."""
    seconds: Sequence[int]
    numbers: Mapping[str, Sequence[int]]
    """A column for each of `NUMBERS`."""
    response: Sequence[Histogram]
    service: Sequence[Histogram]
    on_time: Sequence[Histogram | None]
    is_timed: list[bool] = field(init=False)
    """Whether any of its exchanges has a response time."""
    _has_waited: bool = field(init=False)
    _used: list[str] = field(init=False)
    """`SUMS` that are not 0 everywhere. Most counters nearly always are."""

    def __post_init__(self) -> None:
        self.is_timed = list(map(gt, self.numbers["count"], self.numbers["untimed"]))
        self._has_waited = self.on_time.count(None) < len(self.on_time)
        self._used = [name for name in SUMS if any(self.numbers[name])]

    @classmethod
    def of(cls, intervals: Sequence[Interval]) -> Self:
        rows: dict[Key, list[int]] = {}
        for row, each in enumerate(intervals):
            rows.setdefault((each.method, each.name, each.outcome), []).append(row)
        numbers = zip(*map(_numbers_of, intervals), strict=True) if intervals else [()] * len(NUMBERS)
        return cls(
            rows,
            [each.second for each in intervals],
            dict(zip(NUMBERS, numbers, strict=True)),
            [each.response for each in intervals],
            [each.service for each in intervals],
            [each.on_time for each in intervals],
        )

    def intervals(self, first: int = 0) -> Iterator[Interval]:
        """Row by row, from row `first` on."""
        keys: list[Key] = [("", "", "")] * len(self.seconds)
        for key, rows in self.rows.items():
            for row in rows:
                keys[row] = key
        numbers = zip(*(self.numbers[name][first:] for name in NUMBERS), strict=True)
        for row, values in enumerate(numbers, first):
            times = self.response[row], self.service[row], self.on_time[row]
            method, name, outcome = keys[row]
            yield Interval(self.seconds[row], method, name, outcome, *values, *times)  # type: ignore[call-arg]

    def sum(self, key: Key, rows: Sequence[int]) -> Interval:
        """Rows of this key, at least one, added up, to be read only; the second is that of the first one."""
        timed = [row for row in rows if self.is_timed[row]]
        total = Interval(
            self.seconds[rows[0]],
            *key,
            response_min=min(take(self.numbers["response_min"], timed), default=0),
            response_max=max(take(self.numbers["response_max"], timed), default=0),
            response=sum_to_read(take(self.response, rows)),
            service=sum_to_read(take(self.service, rows)),
            on_time=sum_to_read(self.response_on_time(rows)) if self.has_waited(rows) else None,
        )
        for name in self._used:
            setattr(total, name, sum(take(self.numbers[name], rows)))
        return total

    def has_waited(self, rows: Iterable[int]) -> bool:
        """Whether an arrival waited for a user, so that the next differs from the service times."""
        return self._has_waited and any(self.on_time[row] is not None for row in rows)

    def response_on_time(self, rows: Iterable[int]) -> list[Histogram]:
        """As in `Interval`."""
        pairs = ((self.on_time[row], self.service[row]) for row in rows)
        return [service if on_time is None else on_time for on_time, service in pairs]


def take(column: Sequence[T], rows: Sequence[int]) -> Sequence[T]:
    """The entries of these rows."""
    # Of one row it would be no sequence.
    return itemgetter(*rows)(column) if len(rows) > 1 else [column[row] for row in rows]

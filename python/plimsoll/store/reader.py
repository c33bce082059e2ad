"""Reads one run back."""

from __future__ import annotations

import zlib
from bisect import bisect_left
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from plimsoll._engine import Histogram
from plimsoll.errors import StoreError
from plimsoll.record import OUTCOMES, CaughtException, Failure, Health, Interval
from plimsoll.stats.columns import NUMBERS, IntervalColumns
from plimsoll.store import schema
from plimsoll.store.checks import check_counts, check_row, check_seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy import Result, Row, Select

    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.study import Series
    from plimsoll.store.database import Database

    IntervalRow = Row[*tuple[Any, ...]]

_ROWS_AT_ONCE = 500
_COLUMN = 5000
"""Rows of the intervals that are read for their sums: each list of them costs one sum of histograms."""

_OBSERVED = 128 << 20
"""Most bytes of one series of what was observed; a damaged one may pretend to have any number."""

_ENDPOINT = (schema.endpoint.c.method, schema.endpoint.c.name)
_INTERVAL = tuple(
    schema.interval.c[name] for name in ("second", "endpoint", "outcome", *NUMBERS, "response", "service", "on_time")
)
_COUNTS = tuple(schema.interval.c[name] for name in ("second", "outcome", *NUMBERS))
_HEALTH_PLAIN = schema.plain_columns(schema.health, Health)
_HEALTH_COUNTS = tuple(schema.health.c[name] for name in _HEALTH_PLAIN)
_HEALTH = (schema.health.c.lag, schema.health.c.delay, schema.health.c.response, *_HEALTH_COUNTS)
_FAILURE = (
    *_ENDPOINT,
    *(schema.failure.c[name] for name in ("outcome", "message", "count", "first", "last", "example", "is_varied")),
)


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run of the store. started, ended: Unix seconds.

    status: "running", "finished", "stopped", "failed", or "interrupted" when its writer died without closing it; in a
    list also "damaged".
    """

    id: str
    status: str
    started: float
    ended: float | None
    experiment: str | None
    manifest: Manifest
    notes: list[str]
    facts: RunFacts
    """What was found out while it went on."""
    written: float
    """When its writer last wrote to it: as long as this is the same, so is the run."""
    tags: tuple[str, ...]
    note: str
    """What people say of it, as its tags."""
    database: Database = field(repr=False, compare=False)
    damage: str = ""
    """Why it cannot be read, and what to do; "" for a run that can. Of a damaged one only its times are known."""

    def check(self) -> None:
        """Raises StoreError for a damaged run."""
        if self.damage:
            raise StoreError(self.damage)

    def intervals(self, first: int = 0) -> Iterator[Interval]:
        """Second by second, from second `first` on. Raises StoreError, here as below."""
        for columns in self.columns(_ROWS_AT_ONCE, first):
            yield from columns.intervals()

    def columns(self, most: int = _COLUMN, first: int = 0) -> Iterator[IntervalColumns]:
        """The same, about `most` at a time: those of one second come together."""
        endpoints = self._endpoints()
        query = select(*_INTERVAL).where(schema.interval.c.run == self.id)
        query = query.where(schema.interval.c.second >= first) if first else query
        query = query.order_by(schema.interval.c.second, schema.interval.c.id)
        last = first
        with self._result(query, most) as result:
            for found in _whole_seconds(result.partitions()):
                seconds, endpoint, outcomes, *numbers, response, service, on_time = zip(*found, strict=True)
                check_counts(_COUNTS, (seconds, outcomes, *numbers))
                check_seconds(last, seconds)
                last = seconds[-1]
                if unknown := set(outcomes).difference(OUTCOMES):
                    raise ValueError(f"interval.outcome is none: {min(unknown)!r}")
                rows: dict[tuple[int, str], list[int]] = {}
                for row, key in enumerate(zip(endpoint, outcomes, strict=True)):
                    rows.setdefault(key, []).append(row)
                if any(key not in endpoints for key, _ in rows):
                    # The run goes on, and has had its first request of this name since.
                    endpoints = self._endpoints()
                yield IntervalColumns(
                    {(*endpoints[key], outcome): each for (key, outcome), each in rows.items()},
                    seconds,
                    dict(zip(NUMBERS, numbers, strict=True)),
                    self._histograms(response),
                    self._histograms(service),
                    [None if each is None else self._histogram(each) for each in on_time],
                )

    def health(self) -> Iterator[Health]:
        """Second by second and worker by worker."""
        query = select(*_HEALTH).where(schema.health.c.run == self.id)
        query = query.order_by(schema.health.c.second, schema.health.c.worker, schema.health.c.id)
        last = 0
        with self._result(query, _ROWS_AT_ONCE) as result:
            for found in result.partitions():
                lag, delay, response, *plain = zip(*found, strict=True)
                check_counts(_HEALTH_COUNTS, plain)
                seconds = plain[_HEALTH_PLAIN.index("second")]
                check_seconds(last, seconds)
                last = seconds[-1]
                by_worker = [None if each is None else self._histogram(each) for each in response]
                times = *map(self._histograms, (lag, delay)), by_worker
                for row_lag, row_delay, row_response, *values in zip(*times, *plain, strict=True):
                    numbers = dict(zip(_HEALTH_PLAIN, values, strict=True))
                    yield Health(lag=row_lag, delay=row_delay, response=row_response, **numbers)

    def failures(self) -> Iterator[Failure]:
        query = select(*_FAILURE).join_from(schema.failure, schema.endpoint).where(schema.endpoint.c.run == self.id)
        for row in self._rows(query.order_by(schema.failure.c.endpoint, schema.failure.c.first)):
            check_row(_FAILURE, row)
            yield Failure(*row)

    def exceptions(self) -> Iterator[CaughtException]:
        column = schema.exception.c
        columns = column.message, column.traceback, column.count, column.workers
        query = select(*columns).where(column.run == self.id)
        for row in self._rows(query.order_by(column.digest)):
            check_row(columns, row)
            message, traceback, count, workers = row
            yield CaughtException(message, traceback, count, set(workers))

    def observed(self) -> tuple[Series, ...]:
        """What was observed of the target, in the order in which it was kept."""
        # Only here: a run that begins reads nothing of the kind, and both take long to import.
        import numpy as np

        from plimsoll.stats.study import Series

        def floats(data: bytes) -> NDArray[np.float64]:
            inflating = zlib.decompressobj()
            plain = inflating.decompress(data, _OBSERVED)
            if not inflating.eof:
                raise ValueError("what was observed has no end")
            return np.frombuffer(plain, "<f8").astype(np.float64)

        column = schema.observation.c
        columns = column.source, column.name, column.unit, column.seconds, column["values"]
        found = []
        try:
            for row in self._rows(select(*columns).where(column.run == self.id).order_by(column.id)):
                check_row(columns, row)
                source, name, unit, seconds, values = row
                found.append(Series(source, name, unit, floats(seconds), floats(values)))
        except (zlib.error, ValueError) as error:
            raise self._damaged(error) from error
        return tuple(found)

    def _endpoints(self) -> dict[int, tuple[str, str]]:
        column = schema.endpoint.c
        columns = column.id, *_ENDPOINT
        found = {}
        for row in self._rows(select(*columns).where(column.run == self.id)):
            check_row(columns, row)
            key, method, name = row
            found[key] = method, name
        return found

    def _rows(self, query: Select[*tuple[Any, ...]]) -> Iterator[Row[*tuple[Any, ...]]]:
        with self._result(query, _ROWS_AT_ONCE) as rows:
            yield from rows

    @contextmanager
    def _result(self, query: Select[*tuple[Any, ...]], most: int) -> Iterator[Result[*tuple[Any, ...]]]:
        """most: rows that are read at a time."""
        self.check()
        with (
            self.database.read(f"read run {self.id}") as connection,
            connection.execute(query, execution_options={"yield_per": most}) as result,
        ):
            yield result

    def _histogram(self, data: bytes) -> Histogram:
        return self._histograms([data])[0]

    def _histograms(self, data: Iterable[bytes]) -> list[Histogram]:
        try:
            return list(map(Histogram.decode, data))
        except ValueError as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> StoreError:
        return StoreError(f"store {self.database.name}: run {self.id} is damaged: {error}")


def _whole_seconds(parts: Iterable[Sequence[IntervalRow]]) -> Iterator[Sequence[IntervalRow]]:
    """The same rows, cut between two seconds. A row begins with its second; they ascend."""
    held: list[IntervalRow] = []
    for part in parts:
        found = [*held, *part]
        cut = bisect_left(found, found[-1][0], key=itemgetter(0))
        held = found[cut:]
        if cut:
            yield found[:cut]
    if held:
        yield held

"""Writes one run, second by second."""

from __future__ import annotations

import hashlib
import time
import zlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Boolean, bindparam, case, delete, insert, or_, select, update

from plimsoll.errors import StoreError
from plimsoll.record import LARGEST, Health, Interval
from plimsoll.record.facts import RunFacts
from plimsoll.redact import storable, storable_json
from plimsoll.store import schema
from plimsoll.store.fitting import fitting
from plimsoll.store.owner import this_process

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy import BindParameter, ColumnElement, Connection, Update

    from plimsoll._engine import Histogram
    from plimsoll.record import CaughtException, Failure
    from plimsoll.stats.study import Series
    from plimsoll.store.database import Database

_INTERVAL = schema.plain_columns(schema.interval, Interval)
_HEALTH = schema.plain_columns(schema.health, Health)
_COUNTED = ("count", "first", "last")
MOST_PLAIN = 512
"""Bytes of a histogram that is stored without compression; about 200 buckets."""


class RunWriter:
    """The one writer of a run. Made by `Store.start_run` and `Store.resume_run`. batch: the last one that is kept."""

    def __init__(self, database: Database, run: str, batch: int = 0) -> None:
        self.id = run
        self._database = database
        self._batch = batch
        self._owner = this_process()
        self._kept: _Kept | None = None

    def commit(
        self,
        intervals: Collection[Interval],
        health: Collection[Health] = (),
        failures: Collection[Failure] = (),
        exceptions: Collection[CaughtException] = (),
    ) -> Mapping[str, int]:
        """Keeps all of it, or raises StoreError and keeps none of it. Returns how many numbers are left out because no
        database holds them, by column.

        After a StoreError the next call must bring the same again. Nothing is then counted twice, not even when the
        database kept it and only the news of that was lost.
        """
        kept, self._kept = self._kept, None
        left_out: Counter[str] = Counter()
        with self._database.write("keep a second of the run") as connection:
            kept = kept or _Kept.read(connection, self.id)
            if kept.batch < self._batch:
                raise StoreError(f"store {self._database.name}: seconds of run {self.id} that it had are gone from it")
            if kept.batch == self._batch:
                kept.batch += 1
                _add_intervals(connection, kept, intervals, left_out)
                _add_health(connection, kept, health, left_out)
                _add_failures(connection, kept, failures, left_out)
                _add_exceptions(connection, kept, exceptions, left_out)
                self._update(connection, batch=kept.batch, written=time.time())
        # Only now is it certain; after an error what is kept will be read again.
        self._kept, self._batch = kept, kept.batch
        return left_out

    def finish(
        self,
        status: str,
        ended: float,
        notes: Collection[str] = (),
        facts: RunFacts | None = None,
        observed: Sequence[Series] = (),
    ) -> None:
        """Closes the run: "finished", "stopped" or "failed" at a Unix time. May be repeated. Raises StoreError.

        facts: what a verdict on the run needs besides its numbers; passwords in URLs are masked. observed: all
        that was observed of the target.
        """
        values = {
            "status": status,
            "ended": ended,
            "notes": storable_json(list(notes)),
            "facts": storable_json(facts.to_json() if facts is not None else {}),
            "written": time.time(),
        }
        with self._database.write("close the run") as connection:
            self._update(connection, **values)
            connection.execute(delete(schema.observation).where(schema.observation.c.run == self.id))
            if observed:
                connection.execute(insert(schema.observation), [_observation(self.id, each) for each in observed])

    def _update(self, connection: Connection, **values: Any) -> None:
        """Raises StoreError if the run is gone, or another process goes on with it because this one seemed dead."""
        mine = update(schema.run).where(schema.run.c.id == self.id, schema.run.c.writer == self._owner)
        if not connection.execute(mine.values(values)).rowcount:
            raise StoreError(f"store {self._database.name}: run {self.id} is gone, or another process goes on with it")


@dataclass(slots=True)
class _Kept:
    """What the database already has of the run."""

    run: str
    batch: int
    endpoints: dict[str, int]
    failures: set[tuple[int, str, str]]
    exceptions: dict[str, set[int]]

    @classmethod
    def read(cls, connection: Connection, run: str) -> _Kept:
        batch = connection.scalar(select(schema.run.c.batch).where(schema.run.c.id == run))
        if batch is None:
            raise StoreError(f"run {run} is no longer in the store")
        endpoint, failure, exception = schema.endpoint.c, schema.failure.c, schema.exception.c
        endpoints = connection.execute(select(endpoint.digest, endpoint.id).where(endpoint.run == run))
        failures = connection.execute(
            select(failure.endpoint, failure.outcome, failure.digest).join(schema.endpoint).where(endpoint.run == run)
        )
        exceptions = connection.execute(select(exception.digest, exception.workers).where(exception.run == run))
        workers_of = {digest: set(workers) for digest, workers in exceptions}
        return cls(run, batch, dict(endpoints.all()), set(failures.all()), workers_of)

    def endpoint(self, connection: Connection, method: str, name: str) -> int:
        method, name = storable(method), storable(name)
        digest = _digest(method, name)
        number = self.endpoints.get(digest)
        if number is None:
            row = {"run": self.run, "method": method, "name": name, "digest": digest}
            number = connection.scalar(insert(schema.endpoint).returning(schema.endpoint.c.id), row)
            assert number is not None
            self.endpoints[digest] = number
        return number


def _add_intervals(
    connection: Connection, kept: _Kept, intervals: Collection[Interval], left_out: Counter[str]
) -> None:
    rows = [
        {
            "run": kept.run,
            "endpoint": kept.endpoint(connection, each.method, each.name),
            "response": _packed(each.response),
            "service": _packed(each.service),
            "on_time": None if each.on_time is None else _packed(each.on_time),
            **_fields(each, _INTERVAL),
        }
        for each in intervals
    ]
    if rows := fitting(schema.interval, rows, left_out):
        connection.execute(insert(schema.interval), rows)


def _add_health(connection: Connection, kept: _Kept, health: Collection[Health], left_out: Counter[str]) -> None:
    rows = [
        {
            "run": kept.run,
            "lag": _packed(each.lag),
            "delay": _packed(each.delay),
            "response": None if each.response is None else _packed(each.response),
            **_fields(each, _HEALTH),
        }
        for each in health
    ]
    if rows := fitting(schema.health, rows, left_out):
        connection.execute(insert(schema.health), rows)


def _packed(histogram: Histogram) -> bytes:
    """Few values are not compressed: that would save a fifth of their room, and reading them would take three times as
    long."""
    plain = histogram.encode(compressed=False)
    return plain if len(plain) <= MOST_PLAIN else histogram.encode()


def _add_failures(connection: Connection, kept: _Kept, failures: Collection[Failure], left_out: Counter[str]) -> None:
    for each in failures:
        message, example = storable(each.message), storable(each.example)
        row = {
            "endpoint": kept.endpoint(connection, each.method, each.name),
            "outcome": each.outcome,
            "digest": _digest(message),
            "message": message,
            "example": example,
            "is_varied": each.is_varied,
            **_fields(each, _COUNTED),
        }
        key = row["endpoint"], row["outcome"], row["digest"]
        if not fitting(schema.failure, [row], left_out):
            continue
        if key in kept.failures:
            where = {"endpoint_": key[0], "outcome_": key[1], "digest_": key[2]}
            texts = {"example_": example, "is_varied_": each.is_varied}
            connection.execute(_MORE_FAILURES, {**where, **texts, **{name: row[name] for name in _COUNTED}})
        else:
            connection.execute(insert(schema.failure), row)
            kept.failures.add(key)


def _add_exceptions(
    connection: Connection, kept: _Kept, exceptions: Collection[CaughtException], left_out: Counter[str]
) -> None:
    for each in exceptions:
        message, traceback = storable(each.message), storable(each.traceback)
        digest = _digest(storable(each.key))
        workers = kept.exceptions.get(digest, set()) | each.workers
        texts = {"message": message, "traceback": traceback}
        row = {"run": kept.run, "digest": digest, **texts, "count": each.count, "workers": sorted(workers)}
        if not fitting(schema.exception, [row], left_out):
            continue
        if digest in kept.exceptions:
            values = {"run_": kept.run, "digest_": digest, "count": each.count, "workers": sorted(workers)}
            connection.execute(_MORE_EXCEPTIONS, values)
        else:
            connection.execute(insert(schema.exception), row)
        kept.exceptions[digest] = workers


def _observation(run: str, series: Series) -> dict[str, Any]:
    return {
        "run": run,
        "source": storable(series.source),
        "name": storable(series.name),
        "unit": storable(series.unit),
        "seconds": zlib.compress(series.seconds.astype("<f8").tobytes()),
        "values": zlib.compress(series.values.astype("<f8").tobytes()),
    }


def _more_failures() -> Update:
    column = schema.failure.c
    first: BindParameter[float] = bindparam("first")
    last: BindParameter[float] = bindparam("last")
    example: BindParameter[str] = bindparam("example_")
    is_varied: BindParameter[bool] = bindparam("is_varied_", type_=Boolean)
    return (
        update(schema.failure)
        .where(column.endpoint == bindparam("endpoint_"))
        .where(column.outcome == bindparam("outcome_"))
        .where(column.digest == bindparam("digest_"))
        .values(
            count=_sum_of(column.count),
            is_varied=or_(column.is_varied, is_varied, column.example != example),
            first=case((column.first < first, column.first), else_=first),
            last=case((column.last > last, column.last), else_=last),
        )
    )


def _sum_of(count: ColumnElement[int]) -> ColumnElement[int]:
    """The count and the parameter `count` together, or the largest number of the column."""
    more: BindParameter[int] = bindparam("count", type_=BigInteger)
    return case((count > LARGEST - more, LARGEST), else_=count + more)


def _more_exceptions() -> Update:
    column = schema.exception.c
    return (
        update(schema.exception)
        .where(column.run == bindparam("run_"))
        .where(column.digest == bindparam("digest_"))
        .values(count=_sum_of(column.count), workers=bindparam("workers"))
    )


_MORE_FAILURES = _more_failures()
_MORE_EXCEPTIONS = _more_exceptions()


def _fields(value: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()

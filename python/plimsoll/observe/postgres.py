"""The activity of a PostgreSQL database, from its own statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from plimsoll.distribution import pip_install
from plimsoll.errors import UsageError
from plimsoll.observe.sampler import Probe, ProbeError
from plimsoll.record.observed import ObservedSource, ObservedStatement
from plimsoll.redact import redact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psycopg import Connection

COUNTERS = {
    "commits": "xact_commit",
    "rollbacks": "xact_rollback",
    "blocks read": "blks_read",
    "blocks hit": "blks_hit",
    "rows returned": "tup_returned",
    "rows fetched": "tup_fetched",
    "deadlocks": "deadlocks",
    "temporary bytes": "temp_bytes",
}
"""Columns of pg_stat_database: numbers of events so far."""

UNITS = {
    **dict.fromkeys(COUNTERS, "/s"), "temporary bytes": "bytes/s", "connections": "", "active": "",
    "waiting for locks": "", "cache hits": "%", "replication lag": "bytes", "replication delay": "s",
}  # fmt: skip

QUERY_TIMEOUT_S = 2
"""Timeout in whole seconds for connecting, and for a response."""
MOST_QUERY = 500
"""Maximum characters of a statement."""
MOST_STATEMENTS = 20
"""Those of a run with the most time."""

# A replica reports its own delay; a primary reports that of the replica with the longest delay.
_QUERY = f"""
SELECT numbackends - 1, active, waiting, lag, delay, {", ".join(COUNTERS.values())}
FROM pg_stat_database,
  (SELECT count(*) FILTER (WHERE state = 'active') AS active,
          count(*) FILTER (WHERE wait_event_type = 'Lock') AS waiting
   FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()) AS sessions,
  (SELECT CASE WHEN pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())
          ELSE (SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)) FROM pg_stat_replication) END AS lag,
          CASE WHEN pg_is_in_recovery() THEN
            CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
            ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) END
          ELSE (SELECT max(extract(epoch FROM coalesce(replay_lag, '0'))) FROM pg_stat_replication) END AS delay
  ) AS replication
WHERE datname = current_database()"""

MOST_READ = 5000
"""Statements that are compared; those with the most time. The extension keeps 5,000 by default."""

_STATEMENTS = f"""
SELECT queryid::text, left(min(query), {4 * MOST_QUERY}), sum(calls), sum(total_exec_time), sum(rows)
FROM pg_stat_statements JOIN pg_database ON pg_database.oid = dbid
WHERE datname = current_database() AND query NOT LIKE '%pg_stat_%' AND queryid IS NOT NULL
GROUP BY queryid ORDER BY sum(total_exec_time) DESC LIMIT {MOST_READ + 1}"""


class _Statement(NamedTuple):
    """Sums so far."""

    query: str
    calls: int
    ms: float
    rows: int


class Postgres(Probe):
    """Commits, blocks read and hit, sessions that wait for locks, … of the database in a connection string.

    Counters are per second between samples. Our own connection is not counted, but its one commit per sample is in
    `commits`. The server updates its counts with up to a second of delay. A primary reports the delay of its replicas,
    a replica its own delay.
    """

    def __init__(self, url: str, source: str = "") -> None:
        """url: postgresql://… Raises UsageError if psycopg is not installed. Connects on the first reading."""
        try:
            import psycopg
        except ImportError as error:
            raise UsageError(f"to observe PostgreSQL, install psycopg: {pip_install('postgresql')}") from error
        self._psycopg = psycopg
        self._url = url
        self.source = source or redact(url)
        self._is_named = bool(source)
        self._connection: Connection[tuple[Any, ...]] | None = None
        self._last: tuple[float, tuple[int, ...]] | None = None
        self._first: dict[str, _Statement] | None = None
        """Without their texts."""
        self._left_out = False
        """Whether there were more statements than are read."""

    def read(self, now: float) -> Mapping[str, float]:
        try:
            connection = self._connection or self._connect()
            row = connection.execute(_QUERY).fetchone()
        except self._psycopg.Error as error:
            self._disconnect()
            raise ProbeError(" ".join(redact(str(error)).split())) from error
        assert row is not None  # of the connected database
        connections, active, waiting, lag, delay, *counts = row
        figures = {
            "connections": float(max(0, connections)),
            "active": float(active),
            "waiting for locks": float(waiting),
        }
        figures |= {} if lag is None else {"replication lag": float(lag)}
        figures |= {} if delay is None else {"replication delay": float(delay)}
        if self._last is not None and now > self._last[0]:
            then, before = self._last
            grown = {name: count - old for name, count, old in zip(COUNTERS, counts, before, strict=True)}
            # Statistics start at 0 again after a reset.
            figures |= {name: more / (now - then) for name, more in grown.items() if more >= 0}
            blocks = grown["blocks hit"] + grown["blocks read"]
            if grown["blocks hit"] >= 0 and grown["blocks read"] >= 0 and blocks:
                figures["cache hits"] = 100 * grown["blocks hit"] / blocks
        self._last = now, tuple(counts)
        return figures

    def unit(self, name: str) -> str:
        return UNITS[name]

    def facts(self) -> ObservedSource | None:
        """statements: those with the most execution time in ms since the first sample, longest first, as counted by the
        extension pg_stat_statements."""
        if self._connection is None or self._first is None:
            return None
        try:
            last = self._read_statements(self._connection)
        except self._psycopg.Error:
            return None
        grown = [
            ObservedStatement(
                query=now.query, calls=now.calls - before.calls, ms=now.ms - before.ms, rows=now.rows - before.rows
            )
            for key, now in last.items()
            for before in (self._first.get(key, _Statement("", 0, 0.0, 0)),)
        ]
        called = sorted((grew for grew in grown if grew.calls > 0), key=lambda grew: -grew.ms)
        return ObservedSource(statements=tuple(called[:MOST_STATEMENTS])) if called else None

    def notes(self) -> Sequence[str]:
        if not self._left_out:
            return ()
        return (f"{self.source}: only the {MOST_READ:,} statements with the most time are compared",)

    def close(self) -> None:
        self._disconnect()

    def _connect(self) -> Connection[tuple[Any, ...]]:
        limits: dict[str, Any] = {
            "connect_timeout": QUERY_TIMEOUT_S,
            "tcp_user_timeout": QUERY_TIMEOUT_S * 1000,
            "application_name": "plimsoll",
        }
        self._connection = connection = self._psycopg.connect(self._url, autocommit=True, **limits)
        connection.execute(f"SET statement_timeout = {QUERY_TIMEOUT_S * 1000}")
        if not self._is_named:
            self.source = f"postgresql {connection.info.dbname}"
        if self._first is None:
            try:
                first = self._read_statements(connection)
                self._first = {key: each._replace(query="") for key, each in first.items()}
            except self._psycopg.errors.Error:
                # The extension is missing, or this user may not read it.
                self._first = None
        return connection

    def _read_statements(self, connection: Connection[tuple[Any, ...]]) -> dict[str, _Statement]:
        rows = connection.execute(_STATEMENTS).fetchall()
        self._left_out |= len(rows) > MOST_READ
        return {
            key: _Statement(" ".join(redact(query or "").split())[:MOST_QUERY], int(calls), float(ms), int(count))
            for key, query, calls, ms, count in rows[:MOST_READ]
        }

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

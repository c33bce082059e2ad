"""What a PostgreSQL database does, from its own statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.observe.sampler import ProbeError
from plimsoll.store.redact import redact

if TYPE_CHECKING:
    from collections.abc import Mapping

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
"""Of pg_stat_database: how often something has happened so far."""

UNITS = {**dict.fromkeys(COUNTERS, "/s"), "connections": ""}

QUERY_TIMEOUT_S = 2
"""Whole seconds that connecting, or an answer, may take."""

_QUERY = f"""SELECT numbackends - 1, {", ".join(COUNTERS.values())}
FROM pg_stat_database WHERE datname = current_database()"""


class Postgres:
    """Commits, blocks read and hit, deadlocks, connections, … of the database that a connection string names.

    All but connections are per second, between one sample and the next. Our own connection is not counted, and its one
    commit per sample is in `commits`. The server takes up to a second to count what its sessions do.
    """

    units: Mapping[str, str] = UNITS

    def __init__(self, url: str) -> None:
        """Connects. url: postgresql://… Raises UsageError when psycopg is not installed, ProbeError when there is no
        connection."""
        try:
            import psycopg
        except ImportError as error:
            raise UsageError("to observe PostgreSQL, install psycopg: pip install 'plimsoll[postgresql]'") from error
        self._failure = psycopg.Error
        self._shown = redact(url)
        self._last: tuple[float, tuple[int, ...]] | None = None
        limits: dict[str, Any] = {
            "connect_timeout": QUERY_TIMEOUT_S,
            "tcp_user_timeout": QUERY_TIMEOUT_S * 1000,
            "application_name": "plimsoll",
        }
        try:
            self._connection = psycopg.connect(url, autocommit=True, **limits)
            self._connection.execute(f"SET statement_timeout = {QUERY_TIMEOUT_S * 1000}")
        except psycopg.Error as error:
            raise ProbeError(f"{self._shown} cannot be observed: {_one_line(error)}") from error
        self.source = f"postgresql {self._connection.info.dbname}"

    def read(self, now: float) -> Mapping[str, float]:
        try:
            row = self._connection.execute(_QUERY).fetchone()
        except self._failure as error:
            raise ProbeError(f"{self._shown} is not observed any more: {_one_line(error)}") from error
        assert row is not None  # of the database that we are connected to
        connections, *counts = row
        figures = {"connections": float(max(0, connections))}
        if self._last is not None and now > self._last[0]:
            then, before = self._last
            rates = [(count - old) / (now - then) for count, old in zip(counts, before, strict=True)]
            # Statistics that somebody reset begin again at 0.
            figures |= {name: rate for name, rate in zip(COUNTERS, rates, strict=True) if rate >= 0}
        self._last = now, tuple(counts)
        return figures

    def close(self) -> None:
        self._connection.close()


def _one_line(error: Exception) -> str:
    return " ".join(redact(str(error)).split())

"""Connections to SQLite or PostgreSQL, and their errors in words."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sqlalchemy import URL, NullPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from plimsoll.distribution import pip_install
from plimsoll.errors import ReadOnlyError, StoreError
from plimsoll.redact import redact
from plimsoll.store.checks import damage_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Dialect, Engine
    from sqlalchemy.pool import ConnectionPoolEntry

DEFAULT = "plimsoll.db"

CACHE_KIB = 256
"""Of SQLite, per connection. What a run writes each second and what a report reads in order needs no more; SQLite's
default of 2 MiB fills during the first hour of a run and looks like a leak."""

# How long a statement may wait for another writer, or for a database that hangs, before the run goes on without it.
STATEMENT_TIMEOUT_S = 5

_WRITES = "plimsoll_writes"

_OPENED = "plimsoll_file"
"""Which file a connection has opened."""

_READ_ONLY = ("readonly database", "read-only transaction", "permission denied for")

_HINTS = {
    "database or disk is full": "free some space",
    "disk I/O error": "the disk is full or failing",
    "file is not a database": "name another file with --store",
    "unable to open database file": "does the directory exist, and may you write there?",
    "attempt to write a readonly database": "may you write there?",
    "database is locked": "another process holds it",
}


class Database:
    """A place for runs, named by a path (SQLite) or an SQLAlchemy URL. None: `plimsoll.db` here."""

    def __init__(self, location: str | None) -> None:
        self._url = _url(location)
        self.name = self._url.database or "" if self.is_sqlite else redact(str(location))
        self._engine = _engine(self._url)
        # SQLite's readers always see one state; PostgreSQL's must ask for it.
        options = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        self._reader = self._engine.execution_options(**options)
        self._writer = self._engine.execution_options(**{_WRITES: True})

    @property
    def is_sqlite(self) -> bool:
        return self._url.get_backend_name() == "sqlite"

    @property
    def file(self) -> Path | None:
        """The path of the SQLite file; None for PostgreSQL and for a store in memory."""
        return Path(self._url.database) if self.is_sqlite and self._url.database else None

    @contextmanager
    def read(self, doing: str) -> Iterator[Connection]:
        """A transaction that sees one state of the database. doing: completes "cannot …" if it fails."""
        with damage_named(self.name, doing), self.translated(doing), self._reader.connect() as connection:
            yield connection

    @contextmanager
    def write(self, doing: str) -> Iterator[Connection]:
        """A transaction that is committed at the end, or leaves nothing behind."""
        with self.translated(doing), self._writer.begin() as connection:
            yield connection
            self._check_file(connection)

    @contextmanager
    def translated(self, doing: str) -> Iterator[None]:
        """Every error of the database as a StoreError."""
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error, OSError) as error:
            reason = _reason(error)
            hint = next((f" ({hint})" for text, hint in _HINTS.items() if text in reason), "")
            refused = any(text in reason for text in _READ_ONLY)
            made = ReadOnlyError if refused else StoreError
            raise made(f"store {self.name}: cannot {doing}: {reason}{hint}") from error

    def close(self) -> None:
        self._engine.dispose()

    def _check_file(self, connection: Connection) -> None:
        """Raises StoreError when a commit would go into a file that nobody finds any more."""
        opened, file = connection.info.get(_OPENED), self.file
        if opened is None or file is None:
            return
        found = _identity(file)
        if found != opened:
            happened = "the file was deleted" if found is None else "another file was put in its place"
            raise StoreError(f"store {self.name}: {happened} while it was open; what it had is lost")


def absolute(location: str | None) -> str:
    """What names the same place from any directory."""
    location = location or DEFAULT
    return location if "://" in location else str(Path(location).expanduser().absolute())


def _url(location: str | None) -> URL:
    location = location or DEFAULT
    if "://" not in location:
        return URL.create("sqlite", database=str(Path(location).expanduser().absolute()))
    try:
        url = make_url(location)
    except (ArgumentError, ValueError):
        raise StoreError(f"store {redact(location)}: not a URL; give a path or postgresql://user@host/name") from None
    match url.get_backend_name():
        case "sqlite" if url.database not in (None, "", ":memory:"):
            return url
        case "postgresql" | "postgres":
            return url.set(drivername="postgresql+psycopg")
        case _:
            raise StoreError(f"store {redact(location)}: only SQLite files and PostgreSQL can hold runs")


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        return _sqlite_engine(url)
    try:
        engine = create_engine(
            url,
            pool_pre_ping=True,
            connect_args={"connect_timeout": STATEMENT_TIMEOUT_S, "tcp_user_timeout": STATEMENT_TIMEOUT_S * 1000},
        )
    except ImportError:
        raise StoreError(f"PostgreSQL needs its driver: {pip_install('postgresql')}") from None
    event.listen(engine, "begin", _begin_postgresql)
    return engine


def _sqlite_engine(url: URL) -> Engine:
    file = Path(str(url.database))
    arguments: dict[str, Any] = {"timeout": STATEMENT_TIMEOUT_S}
    if not _is_for_reading(file):
        engine = create_engine(url, connect_args=arguments)
        event.listen(engine, "do_connect", _create_for_owner)
        event.listen(engine, "connect", partial(_prepare_sqlite, file))
    else:
        # Each connection again: whether somebody else is writing is found out when it is made.
        engine = create_engine(url, connect_args=arguments, poolclass=NullPool)
        event.listen(engine, "do_connect", _connect_for_reading)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _is_for_reading(file: Path) -> bool:
    """A store that is there, and in which this user may change nothing."""
    effective = os.access in os.supports_effective_ids
    may_write = all(os.access(each, os.W_OK, effective_ids=effective) for each in (file, file.parent))
    return file.is_file() and not may_write


def _connect_for_reading(
    _dialect: Dialect, _record: ConnectionPoolEntry, arguments: list[Any], options: dict[str, Any]
) -> None:
    file = Path(arguments[0])
    # The log of a store that somebody has open is read along with it. Without one there is nothing but the file, and
    # `immutable` says so to SQLite, which otherwise creates the log; that is not allowed here.
    closed = "" if file.with_name(f"{file.name}-wal").exists() else "?immutable=1"
    arguments[0], options["uri"] = f"file:{quote(str(file))}{closed}", True


def _create_for_owner(
    _dialect: Dialect, _record: ConnectionPoolEntry, arguments: list[Any], _options: dict[str, Any]
) -> None:
    """A new store can be read by its owner only: it has URLs, failures and output of users. SQLite gives its log the
    permissions of the file; what is wrong with the path, it says better than we could."""
    with suppress(OSError):
        create_for_owner(arguments[0])


def create_for_owner(path: str) -> None:
    """Creates a file that only its owner can read. One that is there stays as it is. Raises OSError."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _identity(file: Path) -> tuple[int, int] | None:
    """Device and inode; None for a file that is not there."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _prepare_sqlite(file: Path, connection: sqlite3.Connection, record: ConnectionPoolEntry) -> None:
    record.info[_OPENED] = _identity(file)
    # Python's module would begin transactions by itself, too late for reads and for DDL.
    connection.isolation_level = None
    # In WAL mode readers and the writer do not wait for each other, and with NORMAL every committed second survives the
    # death of any process; only a power cut can take the last ones.
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", f"cache_size=-{CACHE_KIB}"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    # IMMEDIATE: wait for another writer here, where waiting is possible, not in the middle of the transaction.
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _begin_postgresql(connection: Connection) -> None:
    if connection.get_execution_options().get(_WRITES):
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT_S}s'")


def _reason(error: BaseException) -> str:
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    lines = str(cause).strip().splitlines()
    return redact(lines[0]) if lines else type(cause).__name__

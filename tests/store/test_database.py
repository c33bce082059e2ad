from __future__ import annotations

import os
import pwd
import shutil
import socket
import sqlite3
import stat
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from plimsoll.errors import ReadOnlyError, StoreError
from plimsoll.record.manifest import Manifest
from plimsoll.store import Store
from plimsoll.store.database import Database


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("mysql://ann:s3cret@host/db", r"mysql://ann:\*\*\*@host/db: only SQLite files and PostgreSQL"),
        ("sqlite://", "only SQLite files and PostgreSQL"),
        ("sqlite:///:memory:", "only SQLite files and PostgreSQL"),
        ("://", "not a URL"),
        ("postgresql://host:port/db", "not a URL"),
        ("/nonexistent/runs.db", "there is no folder /nonexistent; make it first, or choose another"),
        ("/", "unable to open database file"),
    ],
)
def test_places_that_cannot_hold_runs(location, message):
    with pytest.raises(StoreError, match=message):
        Store.open(location)


def test_a_file_that_is_not_a_database(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, not a database\n" * 100)
    with pytest.raises(StoreError, match="file is not a database"):
        Store.open(str(path))
    assert path.read_text().startswith("these are notes")


def test_a_server_that_is_not_there():
    with socket.socket() as taken:
        # Bound but not listening: refuses, and nobody else can take the port meanwhile.
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(StoreError, match=r"postgresql://ann:\*\*\*@127.0.0.1:\d+/db: cannot .*refused"):
            Store.open(f"postgresql://ann:s3cret@127.0.0.1:{port}/db")


def test_a_missing_driver_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"pip install 'plimsoll-lab\[postgresql\]'"):
        Store.open("postgresql://127.0.0.1/db")


def test_sqlite_survives_the_death_of_its_writer_and_lets_others_read(tmp_path):
    database = Database(str(tmp_path / "runs.db"))
    with database.read("look") as connection:
        settings = {
            name: connection.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "cache_size")
        }
    database.close()
    wanted = {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1, "busy_timeout": 5000, "cache_size": -256}
    assert settings == wanted


def test_a_transaction_that_fails_leaves_nothing(store_location):
    database = Database(store_location)
    with database.write("make a table") as connection:
        connection.execute(text("CREATE TABLE t (x INTEGER PRIMARY KEY)"))
    with pytest.raises(StoreError, match="cannot add twice"), database.write("add twice") as connection:
        connection.execute(text("INSERT INTO t VALUES (1)"))
        connection.execute(text("INSERT INTO t VALUES (1)"))
    with database.read("count") as connection:
        assert connection.scalar(text("SELECT count(*) FROM t")) == 0
    database.close()


def test_a_reader_sees_one_state_of_the_database(store_location):
    database = Database(store_location)
    with database.write("make a table") as connection:
        connection.execute(text("CREATE TABLE t (x INTEGER)"))
    with database.read("count") as reading:
        assert reading.scalar(text("SELECT count(*) FROM t")) == 0
        with database.write("add") as connection:
            connection.execute(text("INSERT INTO t VALUES (1)"))
        assert reading.scalar(text("SELECT count(*) FROM t")) == 0
    database.close()


def test_a_locked_file_is_waited_for_and_then_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("plimsoll.store.database.STATEMENT_TIMEOUT_S", 0.1)
    path = tmp_path / "runs.db"
    with Store.open(str(path)) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"database is locked .another process holds it"):
            store.start_run(Manifest(started=0.0))
        other.execute("ROLLBACK")
        other.close()
        store.start_run(Manifest(started=0.0))


@contextmanager
def only_reading(folder):
    """Nobody may write into the folder and its files, not even root."""
    for path in (*folder.iterdir(), folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    if os.geteuid():
        yield
        return
    os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def folder():
    """One that other users can see, which those of pytest are not."""
    made = Path(tempfile.mkdtemp(prefix="plimsoll-test-"))
    yield made
    made.chmod(0o755)
    shutil.rmtree(made)


@pytest.mark.parametrize("is_open", [False, True])
def test_a_file_that_may_only_be_read_is_read(folder, is_open):
    path = folder / "runs%20?#.db"  # none of which means anything in a file's name
    with Store.open(str(path)) as store:
        run = store.start_run(Manifest(started=0.0)).id
        if is_open:
            # Its log is there, and somebody may write on.
            with only_reading(folder), Store.open(str(path), create=False) as other:
                assert [each.id for each in other.runs()] == [run]
                with pytest.raises(ReadOnlyError, match=r"attempt to write a readonly database .may you write there"):
                    other.labels.of_run(run, note="x")
            assert store.run(run).note == ""
            return
    assert list(folder.iterdir()) == [path]
    with only_reading(folder), Store.open(str(path), create=False) as store:
        assert store.run(run).id == run
        with pytest.raises(ReadOnlyError, match="attempt to write a readonly database"):
            store.labels.of_run(run, note="x")
        assert store.summaries.of(store.runs(), lambda _: {}, "1").keys() <= {run}


@pytest.mark.parametrize(
    ("change", "said"), [("unlink", "the file was deleted"), ("replace", "another file was put in its place")]
)
def test_nothing_is_committed_to_a_file_that_is_no_longer_there(tmp_path, make_interval, change, said):
    path, other = tmp_path / "runs.db", tmp_path / "other.db"
    Store.open(str(other)).close()
    with Store.open(str(path)) as store:
        writer = store.start_run(Manifest(started=0.0))
        writer.commit([make_interval([1])])
        path.unlink() if change == "unlink" else other.replace(path)
        for attempt in (lambda: writer.commit([make_interval([2])]), lambda: writer.finish("finished", 1.0)):
            with pytest.raises(StoreError, match=f"{said} while it was open; what it had is lost"):
                attempt()


def test_a_new_store_can_be_read_by_its_owner_only(tmp_path, make_interval):
    before = os.umask(0)
    try:
        with Store.open(str(tmp_path / "runs.db")) as store:
            store.start_run(Manifest(started=0.0)).commit([make_interval([1])])
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == {"runs.db": 0o600, "runs.db-wal": 0o600, "runs.db-shm": 0o600}


def test_permissions_of_a_store_that_is_there_are_its_owners_choice(tmp_path):
    path = tmp_path / "runs.db"
    Store.open(str(path)).close()
    path.chmod(0o644)
    Store.open(str(path)).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644

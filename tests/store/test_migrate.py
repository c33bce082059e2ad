from __future__ import annotations

import re

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from plimsoll.errors import StoreError
from plimsoll.store import Store
from plimsoll.store.database import Database
from plimsoll.store.schema import VERSION, VERSION_TABLE, metadata


@pytest.fixture
def database(store_location):
    opened = Database(store_location)
    yield opened
    opened.close()


def upgrade_to(connection, version):
    config = Config()
    config.set_main_option("script_location", "plimsoll.store:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, version)


def tables_of(database):
    """What the database itself knows of its tables.

    Neither the order of columns nor their defaults, which a migration gives to the rows that it finds: the code always
    writes every column by its name.
    """
    with database.read("look") as connection:
        found = inspect(connection)
        return {
            name: {
                "columns": {
                    each["name"]: (repr(each["type"]), each["nullable"], each.get("autoincrement"))
                    for each in found.get_columns(name)
                },
                "key": found.get_pk_constraint(name),
                "foreign": sorted(found.get_foreign_keys(name), key=repr),
                "unique": sorted(found.get_unique_constraints(name), key=repr),
                "indexes": sorted(found.get_indexes(name), key=repr),
                "checks": found.get_check_constraints(name),
            }
            for name in found.get_table_names()
        }


def test_the_version_is_that_of_the_last_migration():
    config = Config()
    config.set_main_option("script_location", "plimsoll.store:migrations")
    assert ScriptDirectory.from_config(config).get_current_head() == VERSION


def test_migrations_make_the_tables_that_the_code_uses(store_location, database):
    Store.open(store_location).close()
    with database.read("compare") as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []


def test_a_new_store_is_what_all_migrations_come_to(request, store_location, database, tmp_path):
    Store.open(store_location).close()
    if store_location.startswith("postgresql"):
        migrated = Database(request.getfixturevalue("another_postgresql_url"))
    else:
        migrated = Database(str(tmp_path / "migrated.db"))
    with migrated.write("make the tables step by step") as connection:
        upgrade_to(connection, "head")
    assert tables_of(database) == tables_of(migrated)
    migrated.close()


def test_runs_of_the_first_version_are_kept_and_can_be_read(store_location, database, make_health):
    with database.write("make the tables of long ago") as connection:
        upgrade_to(connection, "0001")
        empty = {"empty": make_health().lag.encode()}
        for statement in OF_LONG_AGO:
            connection.execute(text(statement), empty if ":empty" in statement else {})
    for _ in range(2):
        with Store.open(store_location) as store:
            run = store.run("old")
            (health,) = run.health()
    assert (run.status, run.manifest.to_json(), run.notes, run.facts.to_json()) == (
        "finished",
        {"users": 5},
        ["a note"],
        {},
    )
    assert (health.second, health.users, health.in_flight, health.dropped) == (3, 50, 9, 8)
    assert (health.waiting, health.offered, health.exhausted, health.retransmissions) == (0, 0, 0, None)
    with database.read("look") as connection:
        assert connection.execute(text(f"SELECT * FROM {VERSION_TABLE}")).all() == [(VERSION,)]


OF_LONG_AGO = (
    """INSERT INTO run (id, status, started, ended, writer, written, batch, manifest, notes)
       VALUES ('old', 'finished', 1.0, 5.0, 'somebody', 5.0, 4, '{"users": 5}', '["a note"]')""",
    """INSERT INTO health (id, run, second, worker, lag, delay, user_stamps, rejected_stamps, cpu, users, in_flight,
       dropped) VALUES (1, 'old', 3, 0, :empty, :empty, 7, 6, 0.5, 50, 9, 8)""",
)


def test_a_store_without_labels_gets_them_and_its_runs_are_found(store_location, database):
    with database.write("make the tables of the version before") as connection:
        upgrade_to(connection, "0004")
        for statement in WITHOUT_LABELS:
            connection.exec_driver_sql(statement)
    with Store.open(store_location) as store:
        assert [run.id for run in store.runs()] == ["b", "a"]
        assert [run.id for run in store.runs(search="winter Äpfel")] == ["b"]
        assert [run.id for run in store.runs(search="C0FFEE")] == ["a"]
        assert [(run.tags, run.note) for run in store.runs()] == [((), "")] * 2
        assert store.labels.tags() == []
        store.labels.of_run("a", tags=["x"])
        store.labels.of_experiment("Winter", note="y")
        assert (store.run("a").tags, store.experiments.find("Winter").note) == (("x",), "y")
        assert store.imports.find("old").tags == ()


WITHOUT_LABELS = (
    "INSERT INTO experiment (id, name, created, status) VALUES (1, 'Winter', 1.0, 'finished')",
    """INSERT INTO run (id, experiment, status, started, ended, writer, written, batch, manifest, notes) VALUES
       ('a', NULL, 'finished', 1.0, 5.0, 'x', 5.0, 4, '{"git": {"commit": "c0ffee"}}', '[]'),
       ('b', 1, 'finished', 2.0, 5.0, 'x', 5.0, 4, '{"host": "http://\u00c4pfel", "scenario": null}', '[]')""",
    """INSERT INTO study (id, name, created, source, digest, document) VALUES
       ('s1', 'old', 1.0, '/x', 'd', '{"trials": [1, 2], "question": "Why?"}')""",
)


def test_opening_again_changes_nothing(store_location, database):
    for _ in range(2):
        Store.open(store_location).close()
    with database.read("look") as connection:
        assert connection.execute(text(f"SELECT * FROM {VERSION_TABLE}")).all() == [(VERSION,)]


@pytest.mark.parametrize("version", ["", "abc", "0000", "00001", "\x1b[2J"])
def test_a_version_that_no_plimsoll_has_is_refused(store_location, database, version):
    Store.open(store_location).close()
    with database.write("change it") as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = :version"), {"version": version})
    with pytest.raises(StoreError, match=f"no Plimsoll has tables of version {re.escape(repr(version))}$"):
        Store.open(store_location)


def test_a_store_of_a_newer_version_is_refused(store_location, database):
    Store.open(store_location).close()
    with database.write("change it") as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(StoreError, match=f"newer Plimsoll .tables 9999, this one knows {VERSION}.; upgrade"):
        Store.open(store_location)


def test_a_database_of_something_else_is_left_alone(store_location, database):
    with database.write("be something else") as connection:
        connection.execute(text("CREATE TABLE run (speed INTEGER)"))
    with pytest.raises(StoreError, match=r"holds tables of something else .run."):
        Store.open(store_location)
    with database.read("look") as connection:
        assert connection.execute(text("SELECT speed FROM run")).all() == []


def test_a_postgresql_database_may_be_shared(postgresql_url):
    database = Database(postgresql_url)
    with database.write("be something else") as connection:
        connection.execute(text("CREATE TABLE todos (id INTEGER)"))
        connection.execute(text("CREATE TABLE alembic_version (version_num TEXT)"))
    database.close()
    Store.open(postgresql_url).close()

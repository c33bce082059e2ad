"""Stores with values that no Plimsoll wrote: a verb reports, or says in one line what is wrong. Nothing of them steers
the terminal."""

from __future__ import annotations

import json
import shutil
import sqlite3
from random import Random

import pytest

from plimsoll.errors import StoreError
from plimsoll.load.url import url_scenario
from plimsoll.run.plan import RunPlan
from plimsoll.store import Store
from plimsoll.store.checks import LONGEST_GAP

WRONG = (None, -1, 2**62, 1e308, "", "\x1b[31m", b"\xff\x00", "[5]", "{}", "{", "null", '["\\ud800"]')
VERBS = (
    ("show",), ("show", "--json"), ("runs",), ("runs", "--json"),
    ("report", "last"), ("report", "last", "--format", "md"), ("compare", "last", "last"),
    ("export", "--format", "csv", "-o", "-"), ("reproduce", "--dry-run"),
)  # fmt: skip
PLACES = [
    ("run", "id status started ended writer written batch manifest notes facts tags note words"),
    ("endpoint", "id run method name digest"),
    (
        "interval",
        "run second endpoint outcome count untimed bytes_in response_sum response_min response response on_time",
    ),
    ("health", "second worker lag delay offered cpu users in_flight silence_ms"),
    ("failure", "endpoint outcome message example is_varied count first last"),
]


@pytest.fixture
def whole(stored_run_ids, tmp_path):
    """A copy of the store."""
    with sqlite3.connect(tmp_path / "plimsoll.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return shutil.copy(tmp_path / "plimsoll.db", tmp_path / "whole.db")


def damage(whole, table, column, value, where=""):
    """A store that is whole but for this value."""
    file = whole.with_name("plimsoll.db")
    for each in file.parent.glob("plimsoll.db-*"):
        each.unlink()
    shutil.copy(whole, file)
    connection = sqlite3.connect(file)
    try:
        with connection:
            connection.execute(f'UPDATE {table} SET "{column}" = ? {where}', (value,))
    except sqlite3.IntegrityError:
        pass  # SQLite itself refuses it
    connection.close()


def check(done, what):
    assert done.exception is None or isinstance(done.exception, SystemExit), (what, done.exception)
    assert done.exit_code in (0, 2, 3), (what, done.output)
    lines = done.stderr.splitlines()
    if done.exit_code == 2:
        assert len(lines) == 1 and lines[0].startswith("plimsoll: ") and len(lines[0]) < 600, (what, done.stderr)
    assert "\x1b" not in done.output, what


@pytest.mark.parametrize(("table", "columns"), PLACES, ids=[table for table, _ in PLACES])
def test_a_damaged_value_is_one_line(plimsoll, whole, table, columns):
    chance = Random(table)
    for column in columns.split():
        for value in chance.sample(WRONG, 4):
            damage(whole, table, column, value)
            verb = chance.choice(VERBS)
            check(plimsoll(*verb), (table, column, value, verb))


def changed(value, chance):
    """Another value in a random place of a JSON document."""
    if isinstance(value, dict | list) and value and chance.random() < 0.8:
        key = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
        if chance.random() < 0.2:
            del value[key]
        else:
            value[key] = changed(value[key], chance)
        return value
    return chance.choice((None, True, -1, 2**70, 0.5, "", "\x1b[31m\n", "\0", [], {}, [[1]], {"a": None}))


@pytest.mark.parametrize("column", ["manifest", "facts", "notes", "tags"])
def test_a_document_with_other_values_is_read_or_refused(plimsoll, whole, column):
    chance = Random(column)
    with sqlite3.connect(whole) as connection:
        (text,) = connection.execute(f"SELECT {column} FROM run ORDER BY started").fetchone()
    connection.close()
    for _ in range(20):
        value = json.dumps(changed(json.loads(text), chance))
        damage(whole, "run", column, value)
        verb = chance.choice(VERBS)
        check(plimsoll(*verb), (column, value, verb))


@pytest.mark.parametrize(
    ("table", "column", "value", "where", "said"),
    [
        ("run", "tags", "5", "", "run.tags is no list: 5"),
        ("run", "tags", '[{"a": 1}]', "", "run.tags has something else than texts"),
        ("run", "notes", '"x"', "", "run.notes is no list: 'x'"),
        ("run", "manifest", "[]", "", "run.manifest is no dict: []"),
        ("run", "started", 1e308, "", "run.started is no time: 1e+308"),
        ("endpoint", "name", b"\xff", "", "endpoint.name is no str"),
        ("interval", "count", "x", "", "interval.count is no int: 'x'"),
        ("interval", "count", -1, "", "interval.count is below 0: -1"),
        ("interval", "outcome", 5.5, "", "interval.outcome is none: '5.5'"),
        ("interval", "second", LONGEST_GAP + 2, "WHERE second = 1", f"second {LONGEST_GAP + 2} follows second 0"),
        ("health", "second", 2**62, "", f"second {2**62} follows second 0"),
        ("failure", "count", "{}", "", "failure.count is no int"),
        ("health", "cpu", "x", "", "health.cpu is no float"),
    ],
)
def test_the_value_is_named(plimsoll, stored_run_ids, whole, table, column, value, where, said):
    damage(whole, table, column, value, where)
    done = plimsoll("show", stored_run_ids[0])
    check(done, said)
    assert done.exit_code == 2 and "a value in it is damaged (ValueError: " in done.stderr, done.output
    assert said in done.stderr


def test_a_run_that_cannot_be_read_does_not_hide_the_others(plimsoll, stored_run_ids, whole):
    damage(whole, "interval", "count", -1, f"WHERE run = '{stored_run_ids[0]}'")
    done = plimsoll("show", stored_run_ids[1])
    assert done.exit_code == 0, done.output
    done = plimsoll("runs")
    assert done.exit_code == 0, done.output
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    damaged, fine = map(lines.__getitem__, stored_run_ids)
    assert damaged.endswith(" invalid") and " 20 " in fine


@pytest.mark.parametrize(
    ("column", "value"), [("manifest", '{"version": 5}'), ("manifest", "[]"), ("manifest", "{"), ("notes", "5")]
)
def test_a_damaged_run_is_listed_as_such_with_what_to_do(plimsoll, stored_run_ids, whole, column, value):
    damage(whole, "run", column, value, f"WHERE id = '{stored_run_ids[0]}'")
    done = plimsoll("runs")
    assert done.exit_code == 0, done.output
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    damaged, fine = map(lines.__getitem__, stored_run_ids)
    assert damaged.endswith(" damaged, invalid") and " 20 " in fine
    assert f"run {stored_run_ids[0]} is damaged: " in done.stderr
    assert done.stderr.endswith("restore this one from a backup of the store, or run it again\n")
    listed = json.loads(plimsoll("runs", "--json").stdout)["runs"]
    assert {run["id"]: run["status"] for run in listed}[stored_run_ids[0]] == "damaged"
    with Store.open(create=False) as store:
        runs, total = store.part(10)
        assert total == len(runs) == len(stored_run_ids)
        with pytest.raises(StoreError, match="damaged"):
            store.run(stored_run_ids[0])


def test_what_reproduce_shows_of_a_store_does_not_steer_the_terminal(plimsoll, whole):
    words = "a\x1b[2J\x9b2J\n\0 b"
    plan = RunPlan(scenario=url_scenario("http://127.0.0.1:9/"), source="http://127.0.0.1:9/").to_dict()
    with sqlite3.connect(whole) as connection:
        for run, text in connection.execute("SELECT id, manifest FROM run").fetchall():
            manifest = {**json.loads(text), "plan": plan, "scenario": {"name": words}, "kernel": "\x1b]0;x\x07"}
            connection.execute("UPDATE run SET manifest = ? WHERE id = ?", (json.dumps(manifest), run))
    connection.close()
    damage(whole, "run", "note", "")
    done = plimsoll("reproduce", "--dry-run")
    assert done.exit_code == 0, done.output
    assert ": a\ufffd[2J\ufffd2J \ufffd b\n" in done.stderr
    assert not {"\x1b", "\x9b", "\0"} & set(done.output)

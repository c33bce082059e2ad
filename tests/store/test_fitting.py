"""Every number of a run, at its limits and beyond. The columns are those of the schema."""

from __future__ import annotations

import math
from itertools import product

import pytest
from sqlalchemy import Double, Integer

from plimsoll.record import LARGEST, CaughtException, Failure
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.store import schema
from plimsoll.store.checks import LATEST

KEYS = ("second", "worker", "count")
"""Without these a row says nothing."""


def numbers(kind):
    """(table, column) of each number of a run."""
    return [
        (table.name, column.name)
        for table in (schema.interval, schema.health, schema.failure, schema.exception)
        for column in table.columns
        if isinstance(column.type, kind) and not column.foreign_keys and not column.primary_key
    ]


@pytest.fixture
def writer(store):
    return store.start_run(Manifest(started=0.0))


@pytest.fixture
def commit(writer, make_interval, make_health):
    """Stores a row with these values. Returns what was left out."""

    def run(table: str, name: str, **values: object):
        row = {
            "interval": make_interval([1.0], second=1, name=name),
            "health": make_health(1),
            "failure": Failure("GET", "/a", "http", name, 1, 1000.0, 1000.0),
            "exception": CaughtException(name, name, 1, {0}),
        }[table]
        for column, value in values.items():
            setattr(row, column, value)
        rows = {each: [row] if each == table else [] for each in ("interval", "health", "failure", "exception")}
        return writer.commit(*rows.values())

    return run


@pytest.fixture
def rows(store, writer):
    """The stored rows of a table."""

    def read(table: str):
        run = store.run(writer.id)
        of = {"interval": run.intervals, "health": run.health, "failure": run.failures, "exception": run.exceptions}
        return list(of[table]())

    return read


def test_the_largest_integer_of_every_column_is_stored(commit, rows):
    for index, (table, column) in enumerate(numbers(Integer)):
        if column == "second":
            # A run has no second that is days after the one before.
            continue
        largest = LARGEST if type(schema.metadata.tables[table].c[column].type) is not Integer else 2**31 - 1
        assert not commit(table, f"/{index}", **{column: largest})
        assert largest in {getattr(each, column) for each in rows(table)}, column


@pytest.mark.parametrize(
    ("kind", "beyond"),
    [
        (Integer, [LARGEST + 1, 2**64, 10**30, -1, math.nan, math.inf, "7", None]),
        (Double, [math.nan, math.inf, -math.inf, 1e308, -1.0, LATEST * 2, "7", None]),
    ],
)
def test_what_no_column_holds_is_left_out_and_counted(commit, rows, kind, beyond):
    kept = dict.fromkeys(schema.metadata.tables, 0)
    for index, ((table, column), value) in enumerate(product(numbers(kind), beyond)):
        is_missing = value is None and schema.metadata.tables[table].c[column].nullable
        assert commit(table, f"/{index}", **{column: value}) == ({} if is_missing else {f"{table}.{column}": 1})
        kept[table] += column not in KEYS
    for table in ("interval", "health", "failure", "exception"):
        assert len(rows(table)) == kept[table], "the other numbers of a row are stored"


@pytest.mark.parametrize("value", [-1, 2.5, math.nan, "7", LARGEST + 1])
def test_a_number_that_may_be_unknown_is_unknown_if_it_does_not_fit(commit, rows, value):
    assert commit("health", "", retransmissions=value) == {"health.retransmissions": 1}
    assert [each.retransmissions for each in rows("health")] == [None]


def test_counts_that_grow_beyond_their_column_stay_at_its_end(commit, rows):
    for table in ("failure", "exception"):
        assert not any(commit(table, "odd", count=LARGEST - 1) for _ in range(3))
        assert [each.count for each in rows(table)] == [LARGEST]


def test_facts_that_are_no_numbers_are_stored_as_null(store, writer):
    writer.finish("finished", 1.0, facts=RunFacts.from_json({"ratio": math.nan, "more": [math.inf, {"x": 1.5}]}))
    assert store.run(writer.id).facts.to_json() == {"ratio": None, "more": [None, {"x": 1.5}]}

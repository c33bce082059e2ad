from __future__ import annotations

import pytest
from sqlalchemy import text

from plimsoll.errors import StoreError
from plimsoll.record.manifest import Manifest

SECONDS = 20


@pytest.fixture
def run(store, make_interval):
    writer = store.start_run(Manifest(started=0.0))
    for second in range(SECONDS):
        writer.commit([make_interval([1.0], second=second, name=name) for name in ("/a", "/b")])
    return store.run(writer.id)


def in_use(run) -> int:
    """Connections of the store."""
    return run.database._engine.pool.checkedout()


@pytest.mark.parametrize("most", [1, 2, 3, 7, 1000])
def test_each_second_comes_once_and_whole(run, most):
    parts = list(run.columns(most))
    assert [second for each in parts for second in each.seconds] == [second for second in range(SECONDS) for _ in "ab"]
    assert all(len(each.seconds) % 2 == 0 for each in parts)
    assert [each.second for each in run.intervals(SECONDS - 1)] == [SECONDS - 1] * 2


def test_who_stops_early_leaves_no_connection(run):
    connections = in_use(run)
    parts = run.columns(2)
    assert next(parts).seconds == (0, 0)
    assert in_use(run) == connections + 1
    parts.close()
    assert in_use(run) == connections


def test_an_error_comes_where_it_is_in_the_run(run):
    with run.database.write("damage it") as connection:
        connection.execute(text("UPDATE interval SET service = :junk WHERE second = 7"), {"junk": b"junk"})
    seconds = []
    with pytest.raises(StoreError, match="is damaged"):
        for each in run.columns(2):
            seconds += each.seconds
    assert seconds == [second for second in range(7) for _ in "ab"]
    assert in_use(run) == 0

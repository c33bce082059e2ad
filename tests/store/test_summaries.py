from __future__ import annotations

import pytest

from plimsoll.errors import StoreError
from plimsoll.record.manifest import Manifest
from plimsoll.store import Store

NOON = 1_795_176_000.0  # 2026-11-20 12:00 UTC


class Maker:
    """Counts how often it was asked."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def __call__(self, run):
        self.made.append(run.id)
        return {"of": run.id, "status": run.status, "number": len(self.made)}


@pytest.fixture
def make() -> Maker:
    return Maker()


def finished(store, minute=0):
    writer = store.start_run(Manifest(started=NOON + 60 * minute))
    writer.commit([])
    writer.finish("finished", NOON + 60 * minute + 5)
    return writer


def summaries(store, make, rules="1"):
    return store.summaries.of(store.runs(), make, rules)


def test_a_summary_is_made_once(store_location, make):
    with Store.open(store_location) as store:
        first, second = finished(store).id, finished(store, 1).id
        made = summaries(store, make)
        assert (set(made), make.made) == ({first, second}, [second, first])
    with Store.open(store_location) as store:
        assert summaries(store, make) == made
        third = finished(store, 2).id
        assert summaries(store, make)[third]["of"] == third
        assert make.made == [second, first, third]


def test_that_of_a_run_that_goes_on_is_not_made(store, make):
    store.start_run(Manifest(started=NOON))
    assert summaries(store, make) == {}
    assert make.made == []


def test_what_was_made_by_other_rules_is_made_again(store, make):
    run = finished(store).id
    assert summaries(store, make)[run]["number"] == 1
    assert summaries(store, make, "2")[run]["number"] == 2
    assert summaries(store, make, "2")[run]["number"] == 2
    assert summaries(store, make)[run]["number"] == 3


def test_a_run_that_was_taken_for_interrupted_and_came_back_is_read_again(store, make, monkeypatch):
    writer = store.start_run(Manifest(started=NOON))
    with monkeypatch.context() as silent:
        silent.setattr("plimsoll.store.store.is_gone", lambda *_: True)
        assert summaries(store, make)[writer.id]["status"] == "interrupted"
    writer.commit([])
    assert summaries(store, make) == {}
    writer.finish("finished", NOON + 5)
    assert summaries(store, make)[writer.id] == {"of": writer.id, "status": "finished", "number": 2}


def test_a_run_that_cannot_be_read_has_none_and_keeps_none_from_the_others(store, make):
    damaged, fine = finished(store).id, finished(store, 1).id

    def fail(run):
        if run.id == damaged:
            raise StoreError("damaged")
        return make(run)

    assert set(summaries(store, fail)) == {fine}
    assert set(summaries(store, make)) == {damaged, fine}


def test_where_nothing_may_be_written_they_are_made_each_time(postgresql_url, make):
    with Store.open(postgresql_url) as store:
        run = finished(store).id
    with Store.open(f"{postgresql_url}&options=-c%20default_transaction_read_only%3Don") as store:
        assert [summaries(store, make)[run]["number"] for _ in range(2)] == [1, 2]


def test_passwords_are_masked(store):
    run = finished(store).id
    for _ in range(2):
        assert summaries(store, lambda _: {"reasons": ["http://ann:s3cret@x"]})[run]["reasons"] == ["http://ann:***@x"]

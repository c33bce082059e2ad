from __future__ import annotations

import math
import subprocess
import sys
import time

import pytest
from sqlalchemy import update

from plimsoll.errors import StoreError
from plimsoll.record.cells import Level
from plimsoll.record.manifest import Manifest
from plimsoll.store import Store, schema
from plimsoll.store.cells import CellOutcome, ExperimentFile
from plimsoll.store.database import Database

NOON = 1_795_176_000.0


def file_of(**changes) -> ExperimentFile:
    values = {
        "spec": {"name": "todos", "url": "http://ann:s3cret@host", "levels": [50.0]},
        "digest": "d" * 64,
        "files": {"locustfile.py": "f" * 64},
        "question": "Which is faster?",
        "seed": 7,
        "is_aa": False,
        "command": "plimsoll experiment",
    }
    return ExperimentFile(**{**values, **changes})


def cell_rows(count: int = 3, first: int = 1) -> list[dict]:
    return [
        {
            "number": number, "repeat": 1, "variant": f"v{number}", "unit": "users", "level": 50.0, "operation": "read",
            "seed": 2**40,
        }
        for number in range(first, first + count)
    ]  # fmt: skip


def named(name: str) -> dict:
    """Of a manifest."""
    return {"scenario": {"name": name}}


@pytest.fixture
def experiments(store):
    return store.experiments


@pytest.fixture
def key(experiments) -> int:
    return experiments.begin("todos", file_of(), cell_rows())


def states(experiments, key, **also) -> list[tuple[int, str]]:
    return [(each.number, each.state) for each in experiments.cells(key, **also)]


def test_an_experiment_is_kept_without_passwords(store_location):
    with Store.open(store_location) as store:
        key = store.experiments.begin("todos", file_of(), cell_rows(1))
    with Store.open(store_location) as store:
        found = store.experiments.find("todos")
        (cell,) = store.experiments.cells(key)
    assert found.file == file_of(spec={"name": "todos", "url": "http://ann:***@host", "levels": [50.0]})
    assert (found.name, found.status, found.ended, found.is_running) == ("todos", "open", None, True)
    assert (cell.number, cell.variant, cell.level, cell.operation) == (1, "v1", Level("users", 50.0), "read")
    assert (cell.seed, cell.state, cell.run, cell.phases) == (2**40, "pending", None, {})


def test_what_is_not_there(experiments, store):
    store.start_run(Manifest(started=NOON), experiment="a mere name")
    assert experiments.find("a mere name") is None is experiments.find("nothing")
    assert experiments.all() == []


def test_experiments_are_listed_the_latest_first(experiments):
    for name in ("a", "b"):
        experiments.begin(name, file_of(), [])
    assert [each.name for each in experiments.all()] == ["b", "a"]


def test_a_mere_name_becomes_an_experiment(experiments, store):
    run = store.start_run(Manifest(started=NOON), experiment="todos").id
    key = experiments.begin("todos", file_of(), cell_rows())
    assert experiments.find("todos").key == key
    assert store.run(run).experiment == "todos"


def test_a_cell_from_its_start_to_its_end(experiments, store, key):
    cell = experiments.cells(key)[0]
    before = time.time()
    experiments.start(key, cell.key, promised=100.0)
    assert states(experiments, key) == [(1, "running"), (2, "pending"), (3, "pending")]
    run = store.start_run(Manifest(started=NOON)).id
    became = CellOutcome(
        "invalid", "the target of http://a:b@c ended", run, {"start": 1.5}, {"pid": 5, "nan": math.nan},
        {"rows": [0, 12]}, {"explain": "Seq Scan"},
    )  # fmt: skip
    experiments.finish(key, cell.key, became)
    assert experiments.states(key) == {"invalid": 1, "pending": 2}
    kept = experiments.cells(key)[0]
    assert (kept.state, kept.reason, kept.run) == ("invalid", "the target of http://a:***@c ended", run)
    assert (kept.phases, kept.target) == ({"start": 1.5}, {"pid": 5, "nan": None})
    assert (kept.data, kept.collected) == ({"rows": [0, 12]}, {"explain": "Seq Scan"})
    assert before <= kept.started <= kept.ended <= time.time()
    assert store.run(run).experiment == "todos"


def test_the_cell_of_a_run(experiments, store, key):
    cell = experiments.cells(key)[1]
    run = store.start_run(Manifest(started=NOON)).id
    experiments.finish(key, cell.key, CellOutcome("valid", run=run))
    experiment, found = experiments.cell_of(run)
    assert (experiment.name, found.key, found.variant) == ("todos", cell.key, "v2")
    assert experiments.cell_of(store.start_run(Manifest(started=NOON)).id) is None


def test_a_name_begun_anew_leaves_its_cells_behind(experiments, store, key):
    run = store.start_run(Manifest(started=NOON)).id
    experiments.finish(key, experiments.cells(key)[0].key, CellOutcome("valid", run=run))
    again = experiments.begin("todos", file_of(digest="e" * 64), cell_rows(2))
    assert again == key
    assert states(experiments, key) == [(1, "pending"), (2, "pending")]
    assert states(experiments, key, superseded=True) == [(1, "superseded"), (1, "pending"), (2, "pending")]
    assert experiments.find("todos").file.digest == "e" * 64


def test_what_was_being_run_is_pending_again_after_a_crash(experiments, store, key):
    first, second, _ = experiments.cells(key)
    experiments.finish(key, first.key, CellOutcome("valid"))
    experiments.start(key, second.key, promised=0.0)
    run = store.start_run(
        Manifest.from_json({"started": time.time(), **named("todos: v2, 50 users, read, repeat 1")})
    ).id
    for wrong in ("todos: v1, 50 users, read, repeat 1", "other: v2, 50 users, read, repeat 1"):
        store.start_run(Manifest.from_json({"started": time.time(), **named(wrong)}))
    experiments.resume(key, file_of(question="And now?"))
    assert states(experiments, key) == [(1, "valid"), (2, "pending"), (3, "pending")]
    cells = experiments.cells(key, superseded=True)
    assert [(each.number, each.state, each.run) for each in cells] == [
        (1, "valid", None), (2, "superseded", run), (2, "pending", None), (3, "pending", None),
    ]  # fmt: skip
    assert store.run(run).experiment == "todos"
    assert cells[2].seed == second.seed and cells[2].variant == second.variant
    assert experiments.find("todos").file.question == "And now?"


def test_an_older_run_of_the_same_cell_is_not_taken_for_the_one_that_was_interrupted(experiments, store, key):
    store.start_run(Manifest.from_json({"started": NOON, **named("todos: v1, 50 users, read, repeat 1")}))
    experiments.start(key, experiments.cells(key)[0].key, promised=0.0)
    experiments.resume(key, file_of())
    assert [each.run for each in experiments.cells(key, superseded=True)] == [None] * 4


def test_cells_may_be_taken_again(experiments, key):
    for cell, state in zip(experiments.cells(key), ("failed", "invalid", "valid"), strict=True):
        experiments.finish(key, cell.key, CellOutcome(state))
    experiments.resume(key, file_of(), ("failed", "invalid"))
    assert states(experiments, key) == [(1, "pending"), (2, "pending"), (3, "valid")]


def test_a_cell_given_back_is_pending(experiments, store, key):
    first, second, _ = experiments.cells(key)
    experiments.start(key, first.key, promised=0.0)
    experiments.give_back(key, first.key)
    assert states(experiments, key, superseded=True)[0] == (1, "pending")
    experiments.start(key, second.key, promised=0.0)
    run = store.start_run(
        Manifest.from_json({"started": time.time(), **named("todos: v2, 50 users, read, repeat 1")})
    ).id
    experiments.give_back(key, second.key)
    found = experiments.cells(key, superseded=True)
    assert [(each.number, each.state, each.run) for each in found] == [
        (1, "pending", None), (2, "superseded", run), (2, "pending", None), (3, "pending", None),
    ]  # fmt: skip


def test_further_cells(experiments, key):
    experiments.add(key, cell_rows(2, first=4))
    assert [each.number for each in experiments.cells(key)] == [1, 2, 3, 4, 5]


def test_how_it_is_left(experiments, key):
    experiments.leave(key, finished=False)
    found = experiments.find("todos")
    assert (found.status, found.ended, found.is_running) == ("open", None, False)
    experiments.leave(key, finished=True)
    found = experiments.find("todos")
    assert found.status == "finished" and found.ended is not None and not found.is_running


def test_an_experiment_is_run_by_one_process_at_a_time(store_location):
    script = f"""
import sys
from plimsoll.store import Store
from plimsoll.store.cells import ExperimentFile
experiments = Store.open({store_location!r}).experiments
experiments.begin("todos", ExperimentFile({{}}, "d", {{}}, "", 1, False, ""), [])
print("begun", flush=True)
sys.stdin.read()
"""
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "begun\n"
        with Store.open(store_location) as store:
            found = store.experiments.find("todos")
            assert found.is_running
            with pytest.raises(StoreError, match="experiment todos is being run by another process"):
                store.experiments.begin("todos", file_of(), [])
            with pytest.raises(StoreError, match="being run by another process"):
                store.experiments.resume(found.key, file_of())
            other.kill()
            other.wait()
            assert not store.experiments.find("todos").is_running
            store.experiments.resume(found.key, file_of())
            assert store.experiments.find("todos").is_running


def test_a_process_on_another_machine_is_taken_for_dead_when_it_says_nothing_for_longer_than_it_promised(
    experiments, store_location, key
):
    database = Database(store_location)
    cell = experiments.cells(key)[0]
    column = schema.experiment.c
    for silence, running in ((500.0, True), (1100.0, False)):
        with database.write("be this one") as connection:
            connection.execute(update(schema.experiment).values(writer=None))
        experiments.start(key, cell.key, promised=1000.0)
        with database.write("be another machine, some time ago") as connection:
            past = {"writer": "elsewhere 1 1.00", "written": column.written - silence}
            connection.execute(update(schema.experiment).values(past))
        assert experiments.find("todos").is_running == running
    database.close()


def test_how_many_runs_an_experiment_has(store):
    key = store.experiments.begin("todos", file_of(), [])
    assert store.experiments.runs() == {}
    for name in ("todos", "todos", "other", None):
        store.start_run(Manifest(started=1.0), experiment=name)
    assert store.experiments.runs()[key] == 2
    assert store.experiments.runs().total() == 3

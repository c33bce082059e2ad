from __future__ import annotations

import csv
import io
import sqlite3
from pathlib import Path

import pytest

from plimsoll.errors import StoreError
from plimsoll.record.manifest import Manifest
from plimsoll.report.assessment import assess
from plimsoll.report.render import locust_csv
from plimsoll.report.render.locust_csv import CsvFiles, locust_history_csv, locust_table_csv
from plimsoll.report.sources import OutputRequest, RunSource
from plimsoll.stats.view import RunView
from plimsoll.store import Store

NOON = 1_795_176_000.0  # 2026-11-20 12:00 UTC


@pytest.fixture
def store(tmp_path):
    with Store.open(str(tmp_path / "runs.db")) as opened:
        yield opened


@pytest.fixture
def run(store, make_interval, make_health):
    """Two workers, two endpoints, a second without requests and one without a report of the workers."""
    names = "/a", '=say "b",\nc'
    writer = store.start_run(
        Manifest.from_json({"started": NOON, "warmup": 1.0, "plan": {"locustfiles": ["/a/locustfile.py"]}})
    )
    for second in (0, 1, 3, 4):
        intervals = [make_interval([10.0 * (second + 1)] * 5, second=second, name=name) for name in names]
        health = [make_health(second, worker, users=users) for worker in (0, 1) for users in (3, 0)]
        writer.commit(intervals if second != 3 else [], health if second != 4 else [])
    writer.finish("finished", NOON + 5)
    return store.run(writer.id)


def parsed(pieces):
    return list(csv.DictReader(io.StringIO(b"".join(pieces).decode(), newline="")))


def rows(prefix, what):
    with Path(f"{prefix}_{what}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("full", [False, True])
def test_the_history_is_what_was_written_while_the_run_went_on(run, tmp_path, full):
    kept = b"".join(locust_history_csv(RunSource.of(run), OutputRequest(), full=full))
    files, view = CsvFiles(str(tmp_path / "live"), full), RunView(1)
    files.begin()
    intervals, health = list(run.intervals()), list(run.health())
    for second, users in ((0, 6), (1, 6), (3, 6), (4, 0)):
        view.add((x for x in intervals if x.second == second), (x for x in health if x.second == second))
        files.second(view, NOON + second + 1, users)
    assert kept == (tmp_path / "live_stats_history.csv").read_bytes()
    assert kept.count(b"\r\n") == 1 + (4 if not full else 1 + 3 * 3)


def test_the_history_is_passed_on_as_it_is_made(run, monkeypatch):
    whole = list(locust_history_csv(RunSource.of(run), OutputRequest(), full=True))
    monkeypatch.setattr(locust_csv, "PIECE", 1)
    pieces = list(locust_history_csv(RunSource.of(run), OutputRequest(), full=True))
    assert [piece.count(b"\r\n") for piece in pieces] == [2, 3, 3, 3, 0]
    assert b"".join(pieces) == b"".join(whole)


def test_the_history_of_a_run_without_any_second_is_its_header(store):
    writer = store.start_run(Manifest(started=NOON))
    writer.finish("finished", NOON)
    assert parsed(locust_history_csv(RunSource.of(store.run(writer.id)), OutputRequest(), full=True)) == []


def test_nothing_is_passed_on_of_a_short_run_that_cannot_be_read(run, tmp_path):
    with sqlite3.connect(tmp_path / "runs.db") as database:
        database.execute("UPDATE interval SET count = -1 WHERE second = 4")
    with pytest.raises(StoreError, match="count is below 0: -1"):
        next(locust_history_csv(RunSource.of(run), OutputRequest(), full=True))


def test_the_tables_are_those_of_the_end(run, tmp_path):
    source = RunSource.of(run)
    kept = {
        what: parsed(locust_table_csv(source, OutputRequest(), table=what))
        for what in ("stats", "failures", "exceptions")
    }
    view = RunView.of(run)
    files = CsvFiles(str(tmp_path / "live"), of_locustfile=True)
    files.begin()
    files.finish(view, assess(view, run.manifest, run.facts, run.status))
    for what in kept:
        assert kept[what] == rows(tmp_path / "live", what)
    assert [row["Request Count"] for row in kept["stats"]] == ["10", "10", "20"]

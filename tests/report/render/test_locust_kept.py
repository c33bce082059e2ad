from __future__ import annotations

import csv
from pathlib import Path

import pytest

from plimsoll.report.assessment import assess
from plimsoll.report.render.locust_csv import CsvFiles
from plimsoll.report.render.locust_kept import csv_history, csv_tables
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
    writer = store.start_run({"started": NOON, "warmup": 1.0, "plan": {"locustfiles": ["/a/locustfile.py"]}})
    for second in (0, 1, 3, 4):
        intervals = [make_interval([10.0 * (second + 1)] * 5, second=second, name=name) for name in ("/a", "/b")]
        health = [make_health(second, worker, users=users) for worker in (0, 1) for users in (3, 0)]
        writer.commit(intervals if second != 3 else [], health if second != 4 else [])
    writer.finish("finished", NOON + 5)
    return store.run(writer.id)


def rows(prefix, what):
    with Path(f"{prefix}_{what}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("full", [False, True])
def test_the_history_is_what_was_written_while_the_run_went_on(run, tmp_path, full):
    csv_history(run, str(tmp_path / "kept"), full)
    files, view = CsvFiles(str(tmp_path / "live"), full), RunView(1)
    files.check()
    intervals, health = list(run.intervals()), list(run.health())
    for second, users in ((0, 6), (1, 6), (3, 6), (4, 0)):
        view.add((x for x in intervals if x.second == second), (x for x in health if x.second == second))
        files.second(view, NOON + second + 1, users)
    assert rows(tmp_path / "kept", "stats_history") == rows(tmp_path / "live", "stats_history")
    assert len(rows(tmp_path / "kept", "stats_history")) == (4 if not full else 1 + 3 * 3)


def test_the_tables_are_those_of_the_end(run, tmp_path):
    csv_tables(run, str(tmp_path / "kept"))
    view = RunView.of(run)
    files = CsvFiles(str(tmp_path / "live"), of_locustfile=True)
    files.check()
    files.finish(view, assess(view, run.manifest, run.facts))
    for what in ("stats", "failures", "exceptions", "validity"):
        assert rows(tmp_path / "kept", what) == rows(tmp_path / "live", what)
    assert [row["Request Count"] for row in rows(tmp_path / "kept", "stats")] == ["10", "10", "20"]

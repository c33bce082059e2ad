from __future__ import annotations

import json

from plimsoll.report.run_summary import RunSummary
from plimsoll.store import Store
from plimsoll.store.cells import CellOutcome, ExperimentFile


def test_the_latest_first(plimsoll, stored_run_ids):
    result = plimsoll("runs")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines()]
    first, second = (line for line in lines if line[0].startswith("2026"))
    assert first[0] == stored_run_ids[1]
    assert first[3:] == ["locustfile.py", "5", "users", "2", "s", "20", "2", "10.0", "10.0", "10.0", "running"]
    assert (second[0], second[-1]) == (stored_run_ids[0], "finished")


def test_no_more_than_asked(plimsoll, stored_run_ids):
    output = plimsoll("runs", "-n", "1").output
    assert stored_run_ids[1] in output
    assert stored_run_ids[0] not in output


def test_runs_that_are_searched_for(plimsoll, stored_run_ids):
    with Store.open() as store:
        store.labels.of_run(stored_run_ids[0], tags=["nightly"], note="before the index")
    for asked in (("--search", "INDEX locustfile"), ("--tag", "nightly"), ("--search", stored_run_ids[0])):
        output = plimsoll("runs", *asked).output
        assert stored_run_ids[0] in output and stored_run_ids[1] not in output, asked
    assert "nightly" in plimsoll("runs").output
    assert plimsoll("runs", "--tag", "night").output == "no runs yet\n"
    wrong = plimsoll("runs", "--experiments", "--tag", "nightly")
    assert wrong.exit_code == 2
    assert "--search, --tag and --otava are for runs" in wrong.output


def test_a_finished_run_is_read_once(plimsoll, stored_run_ids, monkeypatch):
    before = plimsoll("runs").output
    read = []
    of = RunSummary.of.__func__
    monkeypatch.setattr(RunSummary, "of", classmethod(lambda cls, run: (read.append(run.id), of(cls, run))[1]))
    assert plimsoll("runs").output == before
    assert read == [stored_run_ids[1]]  # the other one goes on


def test_json(plimsoll, stored_run_ids):
    value = json.loads(plimsoll("runs", "--json").stdout)
    assert value["schema"] == "plimsoll.runs"
    assert [run["id"] for run in value["runs"]] == stored_run_ids[::-1]
    assert [run["total"]["requests"] for run in value["runs"]] == [20, 20]
    assert [(run["tags"], run["note"]) for run in value["runs"]] == [([], "")] * 2


def test_a_store_without_runs(plimsoll):
    Store.open().close()
    assert plimsoll("runs").output == "no runs yet\n"
    assert json.loads(plimsoll("runs", "--json").stdout)["runs"] == []


def test_experiments(plimsoll, stored_run_ids):
    assert plimsoll("runs", "--experiments").stdout == "no experiments yet\n"
    cell = {"repeat": 1, "variant": "a", "unit": None, "level": None, "operation": "", "seed": 1}
    file = ExperimentFile({}, "d", {}, "Which is faster?", 1, False, "")
    with Store.open() as store:
        key = store.experiments.begin("todos", file, [{**cell, "number": number} for number in (1, 2, 3)])
        store.experiments.finish(
            key, store.experiments.cells(key)[0].key, CellOutcome("invalid", "late", stored_run_ids[0])
        )
        store.experiments.leave(key, finished=False)
    lines = plimsoll("runs", "--experiments").stdout.splitlines()
    assert lines[2].split()[0] == "todos" and lines[2].split()[3:7] == ["interrupted", "1/3", "1", "0"]
    document = json.loads(plimsoll("runs", "--experiments", "--json").stdout)
    assert document["experiments"][0]["cells"] == {"invalid": 1, "pending": 2}


def test_a_history_for_otava(plimsoll, stored_run_ids):
    lines = plimsoll("runs", "--otava").stdout.splitlines()
    assert lines[0].startswith("time,run,commit,branch,name,mean_ms")
    assert len(lines) == 2, "of the two runs one goes on"
    assert stored_run_ids[0] in lines[1]
    wrong = plimsoll("runs", "--otava", "--json")
    assert (wrong.exit_code, wrong.stderr) == (2, "plimsoll: --json and --otava are two formats: give one\n")

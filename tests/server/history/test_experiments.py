from __future__ import annotations

import pytest
from tests.server.stored_runs import serve_history, store_file, store_location, store_run

from plimsoll.store import Store
from plimsoll.store.cells import CellOutcome, ExperimentFile

__all__ = ["store_file", "store_location", "store_run"]

HOSTILE = "a/../b?c#d%2F <i>&ü"
SPEC = {"variants": [{"name": "new"}, {"name": "old"}], "scenarios": [{"name": ""}]}


@pytest.fixture
def experiment(store_run):
    """experiment(location, name): two variants at 5 and 10 users; two cells are pending, what one had is superseded."""

    def make(location, name="todos", spec=SPEC, is_aa=False):
        cell = {"repeat": 1, "unit": "users", "operation": "", "seed": 1}
        places = [("old", 10.0), ("new", 10.0), ("old", 5.0), ("new", 5.0)]
        cells = [
            {**cell, "number": number, "variant": variant, "level": level}
            for number, (variant, level) in enumerate(places, 1)
        ]
        with Store.open(location) as store:
            kept = store.experiments
            key = kept.begin(name, ExperimentFile(spec, "d", {}, "Which is faster?", 1, is_aa, ""), cells)
            rows = kept.cells(key)
            runs = [store_run(store, minute, ms=10.0 * (minute + 1)) for minute in range(2)]
            kept.finish(key, rows[0].key, CellOutcome("valid", run=runs[0]))
            kept.finish(key, rows[1].key, CellOutcome("invalid", "it was late", runs[1]))
            kept.finish(key, rows[2].key, CellOutcome("failed", "the target did not start"))
            kept.leave(key, finished=False)
            kept.resume(key, ExperimentFile(spec, "d", {}, "Which is faster?", 1, is_aa, ""), ["failed"])
            kept.leave(key, finished=False)
            return runs

    return make


def imported(location, name="wrk", created=1.0, trials=3):
    with Store.open(location) as store:
        document = {"question": "Is it?", "trials": [{}] * trials}
        return store.imports.keep(name, document, source="/x", digest="d", created=created)[0]


def test_experiments_and_imported_studies_are_listed(store_location, experiment):
    experiment(store_location)
    imported(store_location)
    with serve_history(store_location) as served:
        todos, wrk = served.get("/api/experiments")["experiments"]
    assert (todos["name"], todos["question"], todos["status"]) == ("todos", "Which is faster?", "interrupted")
    assert todos["cells"] == {"valid": 1, "invalid": 1, "pending": 2}
    assert (todos["runs"], todos["is_aa"], todos["is_imported"]) == (2, False, False)
    assert (wrk["name"], wrk["question"], wrk["runs"], wrk["cells"]) == ("wrk", "Is it?", 3, {})
    assert (wrk["is_imported"], wrk["created"], wrk["status"]) == (True, 1.0, "imported")


def test_an_experiment_as_its_cells(store_location, experiment):
    runs = experiment(store_location)
    with serve_history(store_location) as served:
        matrix = served.get("/api/experiments/todos")
        assert (matrix["variants"], matrix["levels"], matrix["operations"]) == (
            ["new", "old"],
            ["5 users", "10 users"],
            [""],
        )
        assert (matrix["repeats"], matrix["has_page"], matrix["experiment"]["name"]) == (1, True, "todos")
        shown = [
            (each["number"], each["variant"], each["level"], each["state"], each["run"]) for each in matrix["cells"]
        ]
        assert shown == [
            (1, "old", "10 users", "valid", runs[0]),
            (2, "new", "10 users", "invalid", runs[1]),
            (3, "old", "5 users", "pending", ""),
            (4, "new", "5 users", "pending", ""),
        ]
        summaries = [each["summary"] for each in matrix["cells"]]
        assert [each and each["requests"] for each in summaries] == [30, 30, None, None]
        assert matrix["cells"][1]["reason"] == "it was late"
        assert summaries[0] == served.get(f"/api/runs/{runs[0]}")["summary"]


def test_an_experiment_without_a_measured_cell_has_no_page(store_file):
    with Store.open(store_file) as store:
        cell = {"number": 1, "repeat": 1, "variant": "a", "unit": None, "level": None, "operation": "", "seed": 1}
        store.experiments.begin("todos", ExperimentFile({}, "d", {}, "", 1, False, ""), [cell])
    with serve_history(store_file) as served:
        matrix = served.get("/api/experiments/todos")
        assert (matrix["has_page"], matrix["levels"], matrix["cells"][0]["level"]) == (False, [""], "")


def test_an_imported_study_has_a_page_and_no_cells(store_file):
    key = imported(store_file)
    with serve_history(store_file) as served:
        for name in ("wrk", key):
            matrix = served.get(f"/api/experiments/{name}")
            assert (matrix["cells"], matrix["has_page"], matrix["experiment"]["is_imported"]) == ([], True, True)


def test_a_study_with_the_name_of_an_experiment_goes_by_its_id(store_file, experiment):
    experiment(store_file, "wrk")
    key = imported(store_file)
    with serve_history(store_file) as served:
        assert [each["name"] for each in served.get("/api/experiments")["experiments"]] == ["wrk", key]
        assert not served.get("/api/experiments/wrk")["experiment"]["is_imported"]
        assert served.get(f"/api/experiments/{key}")["experiment"]["is_imported"]


def test_any_name_can_be_asked_for(store_location, experiment):
    from urllib.parse import quote

    experiment(store_location, HOSTILE)
    with serve_history(store_location) as served:
        path = f"/api/experiments/{quote(HOSTILE, safe='')}"
        assert served.get(path)["experiment"]["name"] == HOSTILE
        answer = served("patch", path, {"tags": ["x"], "note": "y"})
        assert (answer.status_code, answer.json()["tags"], answer.json()["note"]) == (200, ["x"], "y")
        (item,) = served.get("/api/experiments")["experiments"]
        assert (item["tags"], item["note"]) == (["x"], "y")
        assert served.get("/api/runs")["tags"] == ["x"]


def test_studies_are_labelled_too(store_file):
    imported(store_file)
    with serve_history(store_file) as served:
        answer = served("patch", "/api/experiments/wrk", {"note": "y"})
        assert (answer.status_code, answer.json()["note"], answer.json()["is_imported"]) == (200, "y", True)
        assert "at most" in served.refused(400, "patch", "/api/experiments/wrk", {"note": "x" * 10_001})


def test_what_is_not_there(store_file):
    with serve_history(store_file) as served:
        assert served.get("/api/experiments") == {"experiments": []}
        imported(store_file)
        for method, body in (("get", None), ("patch", {"note": "x"})):
            message = served.refused(404, method, "/api/experiments/other", body)
            assert "has no experiment or imported study 'other'" in message

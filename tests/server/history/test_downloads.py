from __future__ import annotations

import csv
import io
import json
import os
import re
import tempfile
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from click.testing import CliRunner
from tests.server.stored_runs import NOON, serve_history, store_file, store_location, store_run

from plimsoll.cli import main
from plimsoll.importers.studies import keep as keep_study
from plimsoll.report.formats import of_studies
from plimsoll.report.outputs import write
from plimsoll.report.sources import OutputRequest, RunSource
from plimsoll.server.history.downloads import OF_RUNS, OF_STUDIES
from plimsoll.stats.study import Level, Measured, Study, Trial
from plimsoll.store import Store

__all__ = ["store_file", "store_location", "store_run"]

HOSTILE = 'a/../..\\b\r\nX: "y"; é<i>'


def named(answer) -> str:
    """What a browser would call the file."""
    header = answer.headers["Content-Disposition"]
    found = re.fullmatch(r"""attachment; filename="([ -!#-~]*)"; filename\*=UTF-8''([!-~]*)""", header)
    assert found is not None, header
    return unquote(found[2], errors="strict")


@pytest.fixture
def temporary(monkeypatch, tmp_path):
    """Where temporary files go."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_every_format_of_a_run_is_a_file_and_leaves_none_behind(store_file, store_run, temporary):
    run = store_run(store_file)
    with serve_history(store_file) as served:
        for format in (*OF_RUNS, *OF_STUDIES):
            answer = served("get", f"/api/runs/{run[:-1]}/{format}")
            assert answer.status_code == 200, answer.text
            assert named(answer).startswith(f"{run}.")
            assert int(answer.headers["Content-Length"]) == len(answer.content)
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.content or format == "github"
    assert list(temporary.iterdir()) == []
    assert {path.name for path in temporary.parent.iterdir()} <= {"temporary", "runs.db", "runs.db-wal", "runs.db-shm"}


def test_they_are_what_the_commands_write(store_location, store_run, tmp_path):
    run = store_run(store_location)
    with Store.open(store_location) as store, serve_history(store_location) as served:

        def content(format):
            return served("get", f"/api/runs/{run}/{format}").content

        source = RunSource.of(store.run(run))
        for format in OF_RUNS:
            path = tmp_path / "exported"
            write(source, format, str(path), OutputRequest(width=120))
            assert content(format) == path.read_bytes(), format
        assert json.loads(content("run.json"))["schema"] == "plimsoll.run"
        assert json.loads(content("json"))["schema"] == "plimsoll.analysis"
        assert content("md").decode().startswith("# locustfile.py · 5 users · http://127.0.0.1:8000\n")


def test_locusts_files_are_those_of_a_run_with_csv(store_file, store_run):
    run = store_run(store_file, plan={"locustfiles": ["/a/locustfile.py"]})
    with serve_history(store_file) as served:

        def rows(what):
            text = served("get", f"/api/runs/{run}/locust-{what}.csv").text
            return list(csv.DictReader(io.StringIO(text, newline="")))

        endpoint, total = rows("stats")
        assert (endpoint["Name"], total["Name"], total["Request Count"], total["Failure Count"]) == (
            "/",
            "Aggregated",
            "30",
            "3",
        )
        (failure,) = rows("failures")
        assert (failure["Error"], failure["Occurrences"]) == ("CatchResponseError('500 Server Error')", "3")
        assert rows("exceptions") == []
        history = rows("stats-history")
        assert [row["Total Request Count"] for row in history] == ["10", "20", "30"]
        assert [row["Timestamp"] for row in history] == [str(int(NOON) + second) for second in (1, 2, 3)]
        assert {(row["User Count"], row["Name"]) for row in history} == {("5", "Aggregated")}
        assert [row["Name"] for row in rows("full-history")] == ["/", "Aggregated"] * 3


def test_the_page_of_a_run_is_the_one_that_the_commands_write(store_file, store_run, tmp_path):
    run = store_run(store_file)
    path = tmp_path / "report.html"
    result = CliRunner().invoke(main, ["report", run, "--store", store_file, "--format", "html", "-o", str(path)])
    assert result.exit_code == 0, result.output
    with Store.open(store_file) as store, serve_history(store_file) as served:
        for address in (f"/api/runs/{run}/html", f"/api/report/html?ref={run}"):
            answer = served("get", address)
            assert answer.text == path.read_text()
            assert named(answer) == f"{run}.html"
        write(RunSource.of(store.run(run)), "html", str(path), OutputRequest())
        assert answer.text == path.read_text(), "`plimsoll run --html` writes it so"


def test_one_is_made_at_a_time(store_file, store_run, monkeypatch):
    run = store_run(store_file)
    made, together, lock = [], [], threading.Lock()
    usual = RunSource.of

    def of(*given):
        with lock:
            made.append(run)
            together.append(len(made))
        time.sleep(0.05)
        source = usual(*given)
        made.pop()
        return source

    monkeypatch.setattr(RunSource, "of", of)
    with serve_history(store_file) as served, ThreadPoolExecutor(4) as pool:
        wanted = [f"/api/runs/{run}/html", f"/api/report/html?ref={run}"] * 2
        assert [each.status_code for each in pool.map(lambda path: served("get", path), wanted)] == [200] * 4
    assert together == [1] * 4


def test_several_files_come_as_a_zip(store_file, store_run):
    run = store_run(store_file)
    with serve_history(store_file) as served:
        for format in ("svg", "png", "md.zip", "csv.zip"):
            answer = served("get", f"/api/runs/{run}/{format}")
            with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
                assert archive.testzip() is None
                names = archive.namelist()
            assert named(answer) == f"{run}.{format.removesuffix('.zip')}.zip"
            assert names
            assert all(Path(name).name == name for name in names)


def test_studies_and_comparisons_can_be_had_in_every_format(store_file, store_run):
    runs = [store_run(store_file, minute, ms=10.0 * (minute + 1)) for minute in range(2)]
    with serve_history(store_file) as served:
        for format in OF_STUDIES:
            answer = served("get", f"/api/report/{format}", ref=runs)
            assert answer.status_code == 200, answer.text
            assert named(answer).startswith(" and ".join(runs))
        table = served("get", "/api/report/csv", ref=runs, table="comparisons").text
        assert runs[1] in table
        assert "no table 'x'" in served.refused(400, "get", "/api/report/csv", ref=runs, table="x")
        assert "names what the page is about" in served.refused(400, "get", "/api/report/csv")


def test_a_name_of_any_characters_stays_a_name(store_file):
    total = Measured("", "Aggregated", requests=10, failures=0, rate=1.0, mean=1.0)
    study = Study(HOSTILE, (Trial(id="t", variant="a", level=Level("users", 1.0), total=total),))
    with Store.open(store_file) as store:
        key, _ = keep_study(store, study, digest="d", created=NOON)
    with serve_history(store_file) as served:
        answer = served("get", "/api/report/json", ref=HOSTILE)
        assert answer.status_code == 200, answer.text
        assert named(answer) == "a-..-..-b--X- -y-; é<i>.json"
        assert "X" not in answer.headers
        assert "\r" not in answer.headers["Content-Disposition"]
        assert served("get", "/api/report/json", ref=key).status_code == 200


def test_what_there_is_not(store_file, store_run):
    run = store_run(store_file)
    with serve_history(store_file) as served:
        message = served.refused(404, "get", f"/api/runs/{run}/pdf")
        assert all(each in message for each in (*of_studies(), *OF_RUNS))
        assert "there are text" in served.refused(404, "get", "/api/report/hlog", ref=run)
        assert "has no run" in served.refused(404, "get", "/api/runs/2027/json")
        for path in ("..%2F..%2Fetc", quote(os.fspath(Path(store_file).absolute()), safe="")):
            assert served("get", f"/api/runs/{path}/json").status_code == 404
            assert served("get", f"/api/runs/{run}/{path}").status_code == 404

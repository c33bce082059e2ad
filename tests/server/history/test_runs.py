from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import requests
from sqlalchemy import text
from tests.server.stored_runs import serve_history, store_file, store_location, store_run

from plimsoll.record.manifest import Manifest
from plimsoll.report.run_summary import RunSummary
from plimsoll.stats.view import RunView
from plimsoll.store import Store
from plimsoll.store.database import Database

__all__ = ["store_file", "store_location", "store_run"]

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e'\"%_\\ Ünïcode"


def ids(answer) -> list[str]:
    return [run["id"] for run in answer["runs"]]


def test_runs_come_the_latest_first_with_the_numbers_of_their_tables(store_location, store_run):
    first, second = (store_run(store_location, minute, ms=10.0 * (minute + 1)) for minute in (0, 1))
    with serve_history(store_location) as served:
        for _ in range(2):  # made, then kept
            found = served.get("/api/runs")
            assert (ids(found), found["total"], found["tags"]) == ([second, first], 2, [])
            run = found["runs"][0]
            assert (run["name"], run["source"], run["load"]) == ("locustfile.py", "locustfile.py", "5 users")
            assert (run["status"], run["host"], run["experiment"]) == ("finished", "http://127.0.0.1:8000", "")
            assert run["commit"].startswith("c0ffee")
            with Store.open(store_location) as store:
                summary = RunSummary.of(store.run(second))
            shown = run["summary"]
            assert (shown["requests"], shown["failures"], shown["duration"]) == (30, 3, 3.0)
            assert (shown["rate"], shown["p50"], shown["p99"]) == (10.0, summary.times["p50"], summary.times["p99"])
            assert shown["is_valid"] is summary.is_valid
        assert served.get(f"/api/runs/{first}") == found["runs"][1]


def test_pages_of_the_list(store_location, store_run):
    with Store.open(store_location) as store:
        kept = [store_run(store, minute) for minute in range(5)][::-1]
    with serve_history(store_location) as served:
        pages = [served.get("/api/runs", limit=2, offset=offset) for offset in (0, 2, 4, 6)]
        assert [ids(page) for page in pages] == [kept[:2], kept[2:4], kept[4:], []]
        assert {page["total"] for page in pages} == {5}
        assert served.get("/api/runs", limit=0) == {"runs": [], "total": 5, "tags": []}
        for wrong in ("-1", "x", "501", "1e3", "٣", "9" * 30):
            problem = served("get", "/api/runs", limit=wrong)
            assert (problem.status_code, problem.json()["field"]) == (400, "limit")


def test_a_search_finds_every_word_in_whatever_case_and_place(store_location, store_run):
    with Store.open(store_location) as store:
        one = store_run(store, 0, host="http://ÄPFEL.example", experiment="Winter")
        two = store_run(store, 1, host="http://b.example/100%_of", scenario={"name": "checkout"})
        store.labels.of_run(two, tags=["Smoke test"], note="After the Index")
    with serve_history(store_location) as served:
        for words, expected in {
            "äpfel": [one],
            "WINTER locustfile": [one],
            "c0ffee": [two, one],
            "smoke index": [two],
            "checkout": [two],
            two[-4:]: [two],
            "100%_of": [two],
            "%": [two],
            "_": [two],
            "winter index": [],
            "*": [],
            "  ": [two, one],
            HOSTILE: [],
            "' OR 1=1 --": [],
        }.items():
            found = served.get("/api/runs", search=words)
            assert (ids(found), found["total"]) == (expected, len(expected)), words


def test_labels_are_kept_and_found(store_location, store_run):
    first, second = store_run(store_location, 0), store_run(store_location, 1)
    with serve_history(store_location) as served:
        answer = served(
            "patch", f"/api/runs/{first}", {"tags": [" a \n b", "ü", "a b", "", HOSTILE[:40]], "note": HOSTILE}
        )
        assert answer.status_code == 200, answer.text
        tags = ["a b", "ü", HOSTILE[:40]]
        assert (answer.json()["tags"], answer.json()["note"]) == (tags, HOSTILE)
        assert answer.json() == served.get(f"/api/runs/{first}")
        served("patch", f"/api/runs/{second}", {"tags": ["a b"]})
        listed = served.get("/api/runs")
        assert sorted(listed["tags"]) == sorted(tags)
        assert ids(served.get("/api/runs", tag="a b")) == [second, first]
        assert ids(served.get("/api/runs", tag=HOSTILE[:40])) == [first]
        assert ids(served.get("/api/runs", tag="a")) == []
        assert ids(served.get("/api/runs", tag="a b", search="onerror")) == [first]
        # What is not said stays as it is.
        assert served("patch", f"/api/runs/{first}", {"note": ""}).json()["tags"] == tags
        assert served("patch", f"/api/runs/{first}", {"tags": []}).json()["tags"] == []
        assert ids(served.get("/api/runs", search="onerror")) == []


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ({"tags": ["x" * 41]}, "at most 40 characters"),
        ({"tags": [str(each) for each in range(21)]}, "21 tags are too many: at most 20"),
        ({"note": "x" * 10_001}, "at most 10000"),
        ({"tags": "smoke"}, "tags"),
        ({"tags": [1]}, "tags.0"),
        ({"note": ["x"]}, "note"),
        ([], "the body of the request"),
    ],
)
def test_labels_that_cannot_be_are_refused(store_file, store_run, label, message):
    run = store_run(store_file)
    with serve_history(store_file) as served:
        assert message in served.refused(400, "patch", f"/api/runs/{run}", label)
        assert (served.get(f"/api/runs/{run}")["tags"], served.get(f"/api/runs/{run}")["note"]) == ([], "")


def test_a_body_that_is_no_json_is_refused(store_file, store_run):
    run = store_run(store_file)
    with serve_history(store_file) as served:
        answer = requests.patch(f"{served.url}/api/runs/{run}", data=b"{\xff", timeout=60)
        assert (answer.status_code, set(answer.json())) == (400, {"error", "field", "others"})


def test_runs_that_are_not_there(store_location, store_run):
    store_run(store_location)
    with serve_history(store_location) as served:
        assert served("get", "/api/page", ref="\0").status_code == 404
        assert served("get", "/api/experiments/%00").status_code == 404
        for unknown in ("2027", "%25", "..%2F..%2Fetc%2Fpasswd", "%00"):
            for method, body in (("get", None), ("patch", {"note": "x"})):
                answer = served(method, f"/api/runs/{unknown}", body)
                assert (answer.status_code, set(answer.json())) == (404, {"error", "field", "others"}), answer.text


def test_a_store_that_is_not_there_yet_is_an_empty_one_until_it_is(store_file, store_run):
    with serve_history(store_file) as served:
        assert served.get("/api/runs") == {"runs": [], "total": 0, "tags": []}
        assert "no store at" in served.refused(404, "get", "/api/runs/last")
        assert not Path(store_file).exists()
        run = store_run(store_file)
        assert ids(served.get("/api/runs")) == [run]
        # Another file in its place is another store.
        Path(store_file).unlink()
        assert served.get("/api/runs")["total"] == 0
        other = store_run(store_file, 7)
        assert ids(served.get("/api/runs")) == [other]


def test_a_run_that_goes_on_has_no_summary_until_it_is_over(store_location, store_run, make_interval):
    with Store.open(store_location) as store, serve_history(store_location) as served:
        writer = store.start_run(Manifest(started=1_795_176_000.0, users=1))
        writer.commit([make_interval([10.0])])
        shown = served.get("/api/runs")["runs"][0]
        assert (shown["status"], shown["summary"], shown["ended"]) == ("running", None, None)
        writer.commit([make_interval([10.0], second=1)])
        writer.finish("stopped", 1_795_176_002.0)
        shown = served.get("/api/runs")["runs"][0]
        assert (shown["status"], shown["summary"]["requests"]) == ("stopped", 2)


def test_a_damaged_run_is_listed_without_numbers(store_file, store_run):
    damaged, fine = store_run(store_file, 0), store_run(store_file, 1)
    database = Database(store_file)
    with database.write("damage it") as connection:
        connection.execute(text("UPDATE interval SET response = x'00' WHERE run = :run"), {"run": damaged})
    database.close()
    with serve_history(store_file) as served:
        found = served.get("/api/runs")["runs"]
        assert [(run["id"], run["summary"] is None) for run in found] == [(fine, False), (damaged, True)]


def test_two_writers_of_labels_do_not_undo_one_another(store_location, store_run):
    run = store_run(store_location)
    with serve_history(store_location) as served, serve_history(store_location) as other:
        rounds = 10

        def say(who, what):
            for each in range(rounds):
                answer = who("patch", f"/api/runs/{run}", {what: [f"t{each}"] if what == "tags" else f"n{each}"})
                assert answer.status_code == 200, answer.text

        threads = [threading.Thread(target=say, args=each) for each in ((served, "tags"), (other, "note"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = served.get(f"/api/runs/{run}")
        assert (found["tags"], found["note"]) == (["t9"], "n9")
        assert ids(served.get("/api/runs", search="t9 n9")) == [run]


def test_a_store_that_is_written_to_is_read_meanwhile(store_location, store_run):
    """As the page of a run in progress does: the list is right at every moment."""
    seen: list[int] = []
    with serve_history(store_location) as served, Store.open(store_location) as store:
        over = threading.Event()

        def read():
            while not over.is_set() or not seen:
                found = served.get("/api/runs")
                assert len(found["runs"]) == found["total"]
                assert all(run["summary"]["requests"] == 30 for run in found["runs"] if run["summary"])
                seen.append(found["total"])

        thread = threading.Thread(target=read)
        thread.start()
        for minute in range(10):
            store_run(store, minute)
        over.set()
        thread.join()
        assert seen == sorted(seen)
        assert served.get("/api/runs")["total"] == 10


def test_a_store_that_may_only_be_read_is_shown_and_not_labelled(postgresql_url, store_run):
    run = store_run(postgresql_url)
    read_only = f"{postgresql_url}&options=-c%20default_transaction_read_only%3Don"
    with serve_history(read_only) as served:
        assert served.get("/api/runs")["runs"][0]["summary"]["requests"] == 30
        assert "read-only" in served.refused(403, "patch", f"/api/runs/{run}", {"note": "x"})
        assert served.get(f"/api/runs/{run}")["note"] == ""


def test_no_password_is_told(store_file, store_run):
    run = store_run(store_file, host="http://ann:s3cret@127.0.0.1:8000")
    with serve_history(store_file) as served:
        served("patch", f"/api/runs/{run}", {"note": "see http://bob:hunter2@wiki", "tags": ["http://x:hunter2@y"]})
        text = served("get", "/api/runs").text + served("get", "/api/runs/" + run + "/run.json").text
        assert "s3cret" not in text
        assert "hunter2" not in text
        assert "ann:***@127.0.0.1" in text


def test_a_real_run_is_listed_as_plimsoll_runs_lists_it(tmp_path, target):
    locustfile = tmp_path / "locustfile.py"
    locustfile.write_text(
        "from locust import FastHttpUser, task, constant\n"
        "class U(FastHttpUser):\n"
        "    wait_time = constant(0.05)\n"
        "    @task\n"
        "    def a(self):\n"
        "        self.client.get('/a', headers={'Authorization': 'Bearer s3cret'})\n"
    )
    store = str(tmp_path / "runs.db")
    command = [sys.executable, "-m", "plimsoll", "run", "-f", str(locustfile), "-H", target, "-u", "2", "-t", "1s"]
    done = subprocess.run([*command, "--headless", "--store", store], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode in (0, 3), done.stderr
    with serve_history(store) as served, Store.open(store) as opened:
        (run,) = served.get("/api/runs")["runs"]
        view = RunView.of(opened.run("last"))
        assert run["summary"]["requests"] == view.total.requests > 0
        assert (run["source"], run["host"], run["load"]) == ("locustfile.py", target, "2 users")
        assert "s3cret" not in json.dumps(run)


@pytest.fixture
def target(tmp_path):
    """The URL of a real service."""
    program = Path(__file__).parents[2] / "experiment" / "files" / "target.py"
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(program), str(port)], env=dict(os.environ))
    try:
        while True:
            assert process.poll() is None
            try:
                requests.get(f"http://127.0.0.1:{port}/", timeout=60)
                break
            except requests.ConnectionError:
                continue
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()

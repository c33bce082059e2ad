from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from tests.server.page_server import (
    NOON,
    RUN_IN_PROGRESS,
    FakeControl,
    LiveFeed,
    caught_exception,
    failure,
    interval,
    serve_page,
)

from plimsoll.locust.web.numbers import COLUMNS, MOST_ROWS
from plimsoll.record import Failure
from plimsoll.record.manifest import Manifest
from plimsoll.run.coordinator.progress import Batch
from plimsoll.server.live.live import Live
from plimsoll.server.messages import LoadChange, RunRequest
from plimsoll.store import Store

# What Locust 2.47.0 answers: the keys of its JSON, as its own page has them at 127.0.0.1:8089.
ENTRY = {
    "method", "name", "num_requests", "num_failures", "min_response_time", "max_response_time", "current_rps",
    "current_fail_per_sec", "avg_response_time", "median_response_time", "total_rps", "total_fail_per_sec",
    "response_time_percentile_0.95", "response_time_percentile_0.99", "avg_content_length",
}  # fmt: skip
REQUESTS = {
    "stats", "errors", "current_rps", "current_fail_per_sec", "total_rps", "total_fail_per_sec", "fail_ratio",
    "current_response_time_percentiles", "state", "user_count",
}  # fmt: skip
WORKER = {"id", "state", "user_count", "cpu_usage", "memory_usage"}
ERROR = {"method", "name", "error", "occurrences", "first_seen", "last_seen"}


@pytest.fixture
def live():
    return Live()


@pytest.fixture
def control():
    return FakeControl()


@pytest.fixture
def page(live, control):
    with serve_page(live, control) as page:
        yield page


def running(live, workers=1, **plan) -> LiveFeed:
    feed = LiveFeed(live, workers, **plan).begin()
    live.look()
    feed.second({"/b": [1.0, 2.0, 3.0], "/a": [10.0]})
    failed = interval(0, "/a", [20.0], "http")
    trace = '  File "x.py", line 3, in buy\n    pay()\nValueError: own mistake\n'
    feed.report(
        Batch([failed], failures=[failure("/a", "HTTPError('500')")], exceptions=[caught_exception("own", trace, 2)])
    )
    return feed


def test_before_a_run_the_numbers_are_those_of_locust(page):
    found = page.json("stats/requests")
    assert set(found) == REQUESTS
    assert found["stats"] == [{"method": "", "name": "Aggregated", **dict.fromkeys(COLUMNS, 0)}]
    assert (found["state"], found["user_count"], found["errors"]) == ("ready", 0, [])
    assert page.json("worker-count") == {"worker_count": 0}
    assert page.json("exceptions") == {"exceptions": []}


def test_the_numbers_of_a_run_have_locusts_keys(page, live):
    running(live)
    found = page.json("stats/requests")
    assert set(found) == REQUESTS
    assert [set(each) for each in found["stats"]] == [ENTRY] * 3
    assert [each["name"] for each in found["stats"]] == ["/a", "/b", "Aggregated"]
    a, b, total = found["stats"]
    assert (a["num_requests"], a["num_failures"], a["max_response_time"], b["avg_response_time"]) == (2, 1, 20.0, 2.0)
    assert (total["num_requests"], total["total_rps"], found["total_rps"]) == (5, 5.0, 5.0)
    assert (found["fail_ratio"], found["user_count"], found["state"]) == (0.2, 5, "running")
    assert found["current_response_time_percentiles"] == {
        "response_time_percentile_0.5": pytest.approx(3.0, rel=1e-3),
        "response_time_percentile_0.95": 20.0,
    }
    (error,) = found["errors"]
    assert set(error) == ERROR
    assert (error["error"], error["occurrences"], error["first_seen"]) == ("HTTPError('500')", 1, NOON)


def test_with_several_processes_they_are_told(page, live):
    feed = running(live, workers=2)
    found = page.json("stats/requests")
    assert set(found) == REQUESTS | {"workers", "worker_count"}
    assert [set(each) for each in found["workers"]] == [WORKER] * 2
    assert (found["worker_count"], found["workers"][0]["cpu_usage"], found["user_count"]) == (2, 25.0, 10)
    assert page.json("worker-count") == {"worker_count": 2}
    feed.end()
    assert page.json("worker-count") == {"worker_count": 0}


def test_thousands_of_endpoints_are_cut_off_and_the_total_is_not(page, live):
    feed = LiveFeed(live).begin()
    live.look()
    feed.second({f"/{n:04}": [1.0] for n in range(MOST_ROWS + 100)})
    stats = page.json("stats/requests")["stats"]
    assert len(stats) == MOST_ROWS + 1
    assert (stats[-1]["name"], stats[-1]["num_requests"]) == ("Aggregated", MOST_ROWS + 100)


def test_however_many_ask_the_answer_is_made_once_for_each_second(page, live, monkeypatch):
    running(live)
    made = []
    monkeypatch.setattr("plimsoll.locust.web.swarm_routes.to_json", lambda found: made.append(1) or b"{}")
    for _ in range(5):
        page.json("stats/requests")
    assert made == [1]


@pytest.mark.parametrize(
    ("status", "state"),
    [("finished", "stopped"), ("stopped", "stopped"), ("failed", "stopped"), ("interrupted", "stopped")],
)
def test_a_run_that_is_over_is_stopped_in_locusts_words(page, live, status, state):
    running(live).end(status)
    assert page.json("stats/requests")["state"] == state


def test_failures_of_a_locustfile_are_told_as_locust_tells_them(page, live):
    feed = running(live)
    failed = [interval(9, "/b", [1.0] * count, outcome) for outcome, count in (("assertion", 2), ("http", 3))]
    failures = [failure("/b", "too small", 2, "assertion"), failure("/b", "too small", 3, "http")]
    feed.report(Batch(intervals=failed, failures=failures))
    errors = {each["name"]: each for each in page.json("stats/requests")["errors"]}
    assert (errors["/b"]["error"], errors["/b"]["occurrences"]) == ("CatchResponseError('too small')", 5)


def test_exceptions_have_the_frames_and_where_they_were(page, live):
    running(live)
    assert page.json("exceptions") == {
        "exceptions": [
            {
                "count": 2,
                "msg": "own",
                "traceback": '  File "x.py", line 3, in buy\n    pay()\n',
                "nodes": "local",
            }
        ]
    }


def test_tasks_are_told_by_class_and_in_total(page):
    assert page.json("tasks") == {
        "per_class": {
            "Visitor": {
                "ratio": 0.5,
                "tasks": {"index": {"ratio": 0.5}, "Buy": {"ratio": 0.5, "tasks": {"pay": {"ratio": 1.0}}}},
            },
            "Admin": {"ratio": 0.5},
        },
        "total": {
            "Visitor": {
                "ratio": 0.5,
                "tasks": {"index": {"ratio": 0.25}, "Buy": {"ratio": 0.25, "tasks": {"pay": {"ratio": 0.25}}}},
            },
            "Admin": {"ratio": 0.5},
        },
    }


def test_the_log_is_a_list_of_lines(page, live):
    live.log("INFO", "hello")
    live.log("", "[2026-11-20 12:00:00,000] vm/INFO/locust: as it was")
    found = page.json("logs")
    assert found["master"][0].endswith("] INFO: hello")
    assert found["master"][1] == "[2026-11-20 12:00:00,000] vm/INFO/locust: as it was"
    assert found["workers"] == {}


STARTS = [
    ({"user_count": "7", "spawn_rate": "1.5"}, RunRequest(users=7, spawn_rate=1.5), {}),
    (
        {"user_count": "7", "spawn_rate": "1", "run_time": "1m30s"},
        RunRequest(users=7, run_time="1m30s"),
        {"run_time": 90},
    ),
    (
        {"user_count": "7", "spawn_rate": "1", "user_classes": ["Admin", "Visitor"]},
        RunRequest(users=7, classes=("Admin", "Visitor")),
        {"user_classes": ["Admin", "Visitor"]},
    ),
    ({"user_count": "7", "spawn_rate": "1", "profile": "p"}, RunRequest(users=7, profile="p"), {}),
    (
        {"user_count": "7", "spawn_rate": "1", "tenant": "x", "dry": "true", "zones": ["a", "c"], "other": "1"},
        RunRequest(users=7, arguments={"tenant": "x", "dry": True, "zones": ("a", "c")}),
        {},
    ),
    ({"user_count": "7", "spawn_rate": "1", "zones": "a,b"}, RunRequest(users=7, arguments={"zones": ("a", "b")}), {}),
]


@pytest.mark.parametrize(("form", "expected", "more"), STARTS)
def test_a_form_starts_a_run(page, control, form, expected, more):
    answer = page.ask("post", "swarm", data={"host": "http://127.0.0.1:1", **form})
    assert answer.status_code == 200
    assert answer.json() == {
        "success": True,
        "message": "Swarming started",
        "host": "http://127.0.0.1:1",
        **more,
    }
    ((what, asked),) = control.asked
    assert what == "start"
    assert asked == replace(expected, host="http://127.0.0.1:1")


REFUSED = [
    ({"user_count": "x", "spawn_rate": "1"}, "Invalid user_count value: 'x' (must be an integer)"),
    ({"user_count": "1", "spawn_rate": "y"}, "Invalid spawn_rate value: 'y' (must be a number)"),
    ({"user_count": "1"}, "Missing or invalid user_count or spawn_rate from /swarm request"),
    ({"user_count": "-1", "spawn_rate": "1"}, "Missing or invalid user_count or spawn_rate from /swarm request"),
    ({"user_count": "9" * 30, "spawn_rate": "1"}, "Missing or invalid user_count or spawn_rate from /swarm request"),
    ({"user_count": "1", "spawn_rate": "0"}, "Missing or invalid user_count or spawn_rate from /swarm request"),
    ({"user_count": "1", "spawn_rate": "inf"}, "Missing or invalid user_count or spawn_rate from /swarm request"),
    (
        {"user_count": "1", "spawn_rate": "1", "run_time": "bad"},
        "Valid run_time formats are : 20, 20s, 3m, 2h, 1h20m, 3h30m10s, etc.",
    ),
    ({"user_count": "1", "spawn_rate": "1", "user_classes": "Nobody"}, "no such class: Nobody"),
    ({"user_count": "1", "spawn_rate": "1", "shape_class": "Nothing"}, "no such class: Nothing"),
    ({}, "Missing or invalid user_count or spawn_rate from /swarm request"),
]


@pytest.mark.parametrize(("form", "message"), REFUSED)
def test_a_form_that_makes_no_sense_is_refused_in_locusts_words(page, control, form, message):
    answer = page.ask("post", "swarm", data=form)
    assert (answer.status_code, answer.json()) == (
        200,
        {"success": False, "message": message, "host": "http://user:***@127.0.0.1:8000"},
    )
    assert control.asked == []


def test_a_shape_says_the_users_itself(page, control):
    answer = page.ask("post", "swarm", data={"shape_class": "Waves"})
    assert answer.json()["message"] == "Swarming started using shape class 'Waves'"
    ((_, expected),) = control.asked
    assert (expected.shape_class, expected.host) == ("Waves", "http://user:hidden@127.0.0.1:8000")


def test_a_form_changes_the_run_in_progress(page, live, control):
    running(live)
    answer = page.ask("post", "swarm", data={"user_count": "9", "spawn_rate": "3", "user_classes": "Admin"})
    assert answer.json() == {"success": True, "message": "Swarming started", "host": "http://127.0.0.1:8000"}
    assert control.asked == [("change", LoadChange(9, 3.0, ("Admin",)))]
    control.refusal = RUN_IN_PROGRESS
    answer = page.ask("post", "swarm", data={"user_count": "9", "spawn_rate": "3"})
    assert answer.json()["message"] == "a run is in progress"


def test_only_forms_are_read(page, control):
    answer = page.ask("post", "swarm", json={"user_count": 1})
    assert (answer.status_code, "application/x-www-form-urlencoded" in answer.json()["error"]) == (400, True)
    answer = page.ask(
        "post", "swarm", data=b"user_count=\xff", headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert (answer.status_code, control.asked) == (400, [])


def test_stop_and_reset_reach_the_run_in_progress_and_harm_no_other(page, live, control):
    for _ in range(2):
        assert page.ask("post", "stop").json() == {"success": True, "message": "Test stopped"}
        assert page.ask("post", "stats/reset").text == "ok"
        if not control.asked:
            running(live)
    assert control.asked == [("stop", None), ("reset", None)]
    assert page.get("stop").status_code == 405
    assert page.get("stats/reset").status_code == 405


def test_attributes_of_a_class_are_told(page, control):
    answer = page.ask("post", "user", json={"user_class_name": "Visitor", "weight": 3, "tasks": ["index"]})
    assert (answer.status_code, answer.json()) == (201, {})
    assert control.asked == [("configure", ("Visitor", {"weight": 3, "tasks": ["index"]}))]


@pytest.mark.parametrize("body", [{"weight": 3}, {"user_class_name": 3}, [1], "x"])
def test_attributes_of_no_class_are_refused(page, control, body):
    assert page.ask("post", "user", json=body).status_code == 400
    assert control.asked == []


HEADERS = {
    "stats/requests/csv": "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,"
    "Min Response Time,Max Response Time,Average Content Size,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%,"
    "99.9%,99.99%,100%",
    "stats/failures/csv": "Method,Name,Error,Occurrences,First Seen,Last Seen",
    "exceptions/csv": "Count,Message,Traceback,Nodes",
    "stats/requests_full_history/csv": "Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,"
    "98%,99%,99.9%,99.99%,100%,Total Request Count,Total Failure Count,Total Median Response Time,"
    "Total Average Response Time,Total Min Response Time,Total Max Response Time,Total Average Content Size",
}


@pytest.mark.parametrize(("path", "header"), HEADERS.items())
def test_files_have_locusts_columns_also_before_a_run(page, path, header):
    answer = page.get(path)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/csv; charset=utf-8")
    assert answer.text.splitlines()[0] == header
    assert answer.headers["Content-Disposition"].startswith("attachment;filename=Locust_20")


def test_files_are_those_of_the_run_that_is_kept(tmp_path: Path, live, control):
    place = str(tmp_path / "runs.db")
    feed = LiveFeed(live).begin()
    with Store.open(place) as store:
        manifest = {"started": NOON, "warmup": 0, "plan": {"locustfiles": ["/x/locustfile.py"]}, "model": "closed"}
        writer = store.start_run(Manifest.from_json(manifest))
        feed.second({"/a": [10.0, 20.0]})
        writer.commit([interval(0, "/a", [10.0, 20.0])], [], [Failure("GET", "/a", "http", "no", 1, NOON, NOON)], [])
        with serve_page(live, control, store=place) as page:
            assert page.get("stats/requests/csv").status_code == 409, "not kept yet"
            assert page.get("stats/report").status_code == 409
            live.stored_as(writer.id)
            rows = list(csv.DictReader(io.StringIO(page.get("stats/requests/csv").text)))
            assert [(row["Name"], row["Request Count"], row["100%"]) for row in rows] == [
                ("/a", "2", "20"),
                ("Aggregated", "2", "20"),
            ]
            failures = list(csv.DictReader(io.StringIO(page.get("stats/failures/csv").text)))
            assert failures[0]["Error"] == "CatchResponseError('no')"
            history = page.get("stats/requests_full_history/csv").text.splitlines()
            assert len(history) == 3
            name = page.get("exceptions/csv").headers["Content-Disposition"]
            assert name == "attachment;filename=Locust_2026-11-20-12h00_locustfile.py_exceptions.csv"
            report = page.get("stats/report")
            assert "<html" in report.text and "Content-Disposition" not in report.headers
            assert "sandbox allow-scripts" in report.headers["Content-Security-Policy"]
            download = page.get("stats/report", params={"download": "1"})
            assert download.headers["Content-Disposition"].endswith("_locustfile.py.html")

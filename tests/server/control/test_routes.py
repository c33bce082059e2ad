from __future__ import annotations

import time
from dataclasses import asdict
from importlib.metadata import version

import pytest
from tests.server.page_server import RUN_IN_PROGRESS, FakeControl, LiveFeed, serve_page

from plimsoll.distribution import NAME
from plimsoll.errors import FieldError, LocustfileError, UsageError
from plimsoll.server.live.live import Live
from plimsoll.server.messages import Argument, LoadChange, RunRequest


@pytest.fixture
def control():
    return FakeControl()


@pytest.fixture
def page(control):
    with serve_page(Live(), control) as page:
        yield page


def test_the_state_says_what_can_be_asked_for(page):
    state = page.json("api/state")
    assert (state["version"], state["mode"], state["test"]) == (version(NAME), "run", None)
    assert state["form"]["classes"][1]["name"] == "Admin"
    assert state["form"]["request"]["users"] == 10


def test_without_a_control_nothing_can_be_started():
    with serve_page() as page:
        state = page.json("api/state")
        assert (state["mode"], state["form"], state["test"]) == ("serve", None, None)
        for path in ("api/live/start", "swarm"):
            assert page.post(path).status_code == 404
        assert page.get("api/live").status_code == 404


def test_the_state_tells_of_the_run_in_progress(control):
    live = Live()
    LiveFeed(live).begin(3, is_editable=False)
    with serve_page(live, control) as page:
        test = page.json("api/state")["test"]
    assert (test["number"], test["status"], test["host"]) == (3, "spawning", "http://127.0.0.1:8000")
    assert (test["load"], test["model"], test["is_editable"]) == ("1 user", "closed", False)


def test_a_form_that_cannot_be_made_says_why(page, control):
    def fail():
        raise LocustfileError("locustfile.py, line 3: no module of that name")

    control.form = fail
    form = page.json("api/state")["form"]
    assert form["error"] == "locustfile.py, line 3: no module of that name"
    assert form["classes"] == []


def test_secrets_of_the_form_are_not_shown_and_come_back_as_they_were():
    argument = Argument("key", "Key", "", "secret", "from the command line")
    host = "http://me:hunter2@127.0.0.1:8000"
    request = RunRequest(host=host, arguments={"key": "hunter2", "tenant": "acme"})
    control = FakeControl(arguments=(argument,), request=request)
    with serve_page(Live(), control) as page:
        text = page.get("api/state").text
        assert "hunter2" not in text and "command line" not in text
        shown = page.json("api/state")["form"]["request"]
        assert shown["arguments"] == {"tenant": "acme"}
        page.post("api/live/start", shown)
        page.post("api/live/start", {**shown, "host": "http://127.0.0.2"})
    assert [request.host for _, request in control.asked] == [host, "http://127.0.0.2"]


def test_what_is_asked_for_reaches_the_control(page, control):
    request = RunRequest(users=7, classes=("Admin",), arguments={"dry": True, "zones": ("a", "b")}, run_time="2m")
    change = LoadChange(users=3, spawn_rate=1.5)
    for path, body in (("start", asdict(request)), ("change", asdict(change)), ("stop", {}), ("reset", {})):
        answer = page.post(f"api/live/{path}", body)
        assert (answer.status_code, answer.json()) == (202, {})
    assert control.asked == [("start", request), ("change", change), ("stop", None), ("reset", None)]


REFUSALS = [
    (RUN_IN_PROGRESS, 409, ""),
    (UsageError("there is no such shape"), 400, ""),
    (FieldError("spawn rate: must be greater than 0", "spawn_rate"), 400, "spawn_rate"),
    (ValueError("a mistake of ours with secret=1"), 500, ""),
]


@pytest.mark.parametrize(("refusal", "status", "field"), REFUSALS)
def test_what_cannot_be_done_is_told_with_its_reason(page, control, refusal, status, field, caplog):
    control.refusal = refusal
    answer = page.post("api/live/start")
    assert (answer.status_code, answer.json()["field"]) == (status, field)
    if status == 500:
        assert "secret" not in answer.text
        # The server logs an error after it has answered.
        deadline = time.monotonic() + 60
        while "a mistake of ours" not in caplog.text and time.monotonic() < deadline:
            time.sleep(0.01)
        assert "a mistake of ours" in caplog.text
    else:
        assert answer.json()["error"] == str(refusal)


MALFORMED = [
    (b"", 202, ""),
    (b"{", 400, ""),
    (b"[]", 400, ""),
    (b'{"users": "many"}', 400, "users"),
    (b'{"users": 1e999}', 400, "users"),
    (b'{"model": "half-open"}', 400, "model"),
    (b'{"arguments": {"zones": [1]}}', 400, "arguments.zones"),
    (b"\xff\xfe", 400, ""),
]


@pytest.mark.parametrize(("body", "status", "field"), MALFORMED)
def test_a_body_that_makes_no_sense_is_named(page, body, status, field):
    token = page.json("api/state")["token"]
    answer = page.ask("post", "api/live/start", data=body, headers={"X-Plimsoll-Token": token})
    assert answer.status_code == status, answer.text
    if field:
        assert answer.json()["field"].startswith(field)
        assert field.partition(".")[0] in answer.json()["error"]


def test_the_tasks_are_told_with_their_shares(page):
    tasks = page.json("api/live/tasks")["tasks"]
    assert (tasks[0]["name"], tasks[0]["tasks"][1]["tasks"][0]) == (
        "Visitor",
        {"name": "pay", "ratio": 1.0, "total": 0.25, "tasks": []},
    )


def test_what_does_not_exist_and_what_cannot_be_done_with_it_is_told_as_json(page):
    for method, path, status in (
        ("get", "api/nothing", 404),
        ("get", "api/live/start", 405),
        ("put", "api/state", 405),
    ):
        answer = page.ask(method, path, headers={"X-Plimsoll-Token": page.json("api/state")["token"]})
        assert answer.status_code == status
        assert set(answer.json()) == {"error", "field", "others"}

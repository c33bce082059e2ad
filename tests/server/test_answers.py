from __future__ import annotations

import asyncio
import json

from starlette.applications import Starlette
from starlette.routing import Route

from plimsoll.errors import PlimsollError, RefError, StoreError, UsageError
from plimsoll.server.answers import ON_ERROR, answer, problem, to_json
from plimsoll.server.messages import LogLine, Problem, TaskRatio


def test_messages_are_told_with_all_their_fields():
    assert json.loads(to_json(TaskRatio("a", 0.5, 0.25))) == {"name": "a", "ratio": 0.5, "total": 0.25, "tasks": []}
    assert json.loads(to_json({"log": (LogLine(1.5, "INFO", "é\ud800".encode(errors="replace").decode()),)})) == {
        "log": [{"at": 1.5, "level": "INFO", "text": "é?"}]
    }


def test_numbers_that_json_does_not_know_are_null():
    assert to_json(TaskRatio("a", float("nan"), float("inf"))) == b'{"name":"a","ratio":null,"total":null,"tasks":[]}'
    assert to_json({"x": float("nan")}) == b'{"x":null}'


def test_text_that_is_no_text_is_still_told():
    assert json.loads(to_json({"text": "a\ud800b"}))["text"].startswith("a")
    assert json.loads(to_json(Problem("a\ud800b")))["error"].startswith("a")


def test_answers_are_not_kept_by_browsers_and_hide_passwords():
    assert answer({}).headers["Cache-Control"] == "no-store"
    for kind in (UsageError, RefError, StoreError):
        found = ON_ERROR[PlimsollError](None, kind("no store at postgresql://me:hunter2@db"))
        assert (found.status_code >= 400, b"hunter2" in found.body) == (True, False)


def test_our_own_advice_is_not_masked():
    text = "log in at /login, or send Authorization: Bearer TOKEN"
    assert json.loads(problem(401, text).body)["error"] == text


def test_a_message_of_any_depth_is_told_without_them():
    found = json.loads(to_json(TaskRatio("a", 1.0, 1.0, (TaskRatio("\ud800", 1.0, float("nan")),))))
    assert (found["tasks"][0]["total"], len(found["tasks"][0]["name"])) == (None, 1)


def test_a_client_that_leaves_in_the_middle_of_its_request_is_no_error():
    async def read_all(request):
        await request.body()

    async def receive():
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    sent = []
    app = Starlette(routes=[Route("/", read_all, methods=["POST"])], exception_handlers=ON_ERROR)
    asyncio.run(app({"type": "http", "method": "POST", "path": "/", "headers": []}, receive, send))
    assert sent[0]["status"] == 400

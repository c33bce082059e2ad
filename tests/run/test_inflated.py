"""Replies that grow to more than a turn of the loop decodes: they arrive whole, in native users and in Python."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from labs.robustness.groups.inflated import PROTO
from labs.robustness.inflating_target import InflatingTarget

if TYPE_CHECKING:
    from tests.command import Command

SIZE = 5 << 20
COUNT = 3
MANY = 150
"""So many replies that no machine decodes them within 0.2 s."""
LIMIT = '"60s"'

PLANS = {
    "body": 'get = "/"\nexpect.contains = "xxx"',
    "events": 'get = "/"\nstream = "sse"',
    "call": 'grpc = "g.S/One"\nmessage = {}\nextract.t = { json = "/t" }',
    "replies": 'grpc = "g.S/All"\nmessage = {}\nextract.t = { json = "/2/t" }',
}
SCRIPT = """
from plimsoll import HttpUser, task

class Reader(HttpUser):
    host = "HOST"
    proto = "g.proto"

    @task
    def read(self):
        CODE
        self.environment.runner.quit()
"""
CODES = {
    "body": 'assert len(self.client.get("/").content) == SIZE',
    "events": 'assert len(self.client.get("/", stream=True).content) == SIZE * COUNT',
    "call": 'assert len(self.grpc("g.S/One", {}).message["t"]) == SIZE',
    "replies": 'assert [len(each["t"]) for each in self.grpc.stream("g.S/All", {})] == [SIZE] * COUNT',
}


def summary(plimsoll: Command, *arguments: str) -> dict[str, Any]:
    done = plimsoll("run", *arguments, "--headless", "--summary", "-")
    assert done.code == 0, done
    found: dict[str, Any] = json.loads(done.out)
    return found


def scheme(kind: str) -> str:
    return "grpc" if kind in ("call", "replies") else "http"


@pytest.mark.parametrize("kind", PLANS)
def test_native_users_have_the_whole_reply(plimsoll: Command, kind: str) -> None:
    with InflatingTarget(kind, SIZE, COUNT) as target:
        plimsoll.write(PROTO, "g.proto")
        proto = 'proto = "g.proto"\n' if scheme(kind) == "grpc" else ""
        place = f"{scheme(kind)}://127.0.0.1:{target.port}"
        plan = f'target = "{place}"\ntimeout = {LIMIT}\n{proto}[[request]]\n{PLANS[kind]}\n'
        plimsoll.write(plan + "[[phase]]\nusers = 3\n[stop]\nrequests = 6\n", "plan.toml")
        document = summary(plimsoll, "plan.toml")
    rows = {each["method"]: each for each in document["endpoints"]}
    request = rows["gRPC" if scheme(kind) == "grpc" else "GET"]
    assert (request["requests"], document["total"]["failures"]) == (6, 0)
    if kind == "replies":
        assert rows["each event"]["requests"] == 6 * COUNT


@pytest.mark.parametrize("kind", CODES)
def test_python_users_have_the_whole_reply(plimsoll: Command, kind: str) -> None:
    with InflatingTarget(kind, SIZE, COUNT) as target:
        plimsoll.write(PROTO, "g.proto")
        code = CODES[kind].replace("SIZE", str(SIZE)).replace("COUNT", str(COUNT))
        script = SCRIPT.replace("HOST", f"{scheme(kind)}://127.0.0.1:{target.port}").replace("CODE", code)
        plimsoll.write(script if scheme(kind) == "grpc" else script.replace('    proto = "g.proto"\n', ""))
        document = summary(plimsoll, "-f", "locustfile.py", "-u", "1", "-t", "60s")
    assert document["total"]["failures"] == 0
    assert not document.get("exceptions")


def test_the_deadline_of_a_stream_holds_for_a_python_user_while_replies_are_decoded(plimsoll: Command) -> None:
    code = 'list(map(len, self.grpc.stream("g.S/All", {}, timeout=0.2)))'
    with InflatingTarget("replies", SIZE, MANY) as target:
        plimsoll.write(PROTO, "g.proto")
        plimsoll.write(SCRIPT.replace("HOST", f"grpc://127.0.0.1:{target.port}").replace("CODE", code))
        done = plimsoll("run", "-f", "locustfile.py", "-u", "1", "-t", "60s", "--headless", "--summary", "-")
    (call,) = [row for row in json.loads(done.out)["endpoints"] if row["method"] == "gRPC"]
    assert (call["requests"], call["failures"]) == (1, 1)
    assert list(call["outcomes"]) == ["timeout"]

"""Numbers at their limits, from a target and from custom clients: the run ends well and its store has every request."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from labs.truth.plimsoll_run import PLIMSOLL

from ..judgement import CommandOutcome, Judgement
from ..numbers_target import NumbersTarget

LIMIT_S = 60.0
OUTCOMES = (0, 1, 3)
"""Exit codes: the requests may fail, but each of them is known."""
ROWS = ("GET", "WS", "custom")
"""Methods of requests that the target has read, or that the custom client has measured."""

NUMBERS = (
    "0", "-1", "1", "1.5", "127", "99999", "2147483648", "4294967296", "9007199254740993", "9223372036854775807",
    "9223372036854775808", "18446744073709551615", "18446744073709551616", "7fffffffffffffff", "ffffffffffffffff",
    "1e308", "-1e308", "1e400", "NaN", "Infinity", "-0", "9" * 400, '"7"', "", "null",
)  # fmt: skip
"""As a target writes them."""
VALUES = (
    "0",
    "-1",
    "2**31",
    "2**63 - 1",
    "2**63",
    "2**64",
    "10**5000",
    "1e308",
    "inf",
    "nan",
    "None",
    "'5'",
    "'x'",
    "[]",
)
"""As a custom client has them."""


@dataclass(frozen=True)
class Place:
    """Where a number comes from."""

    step: str
    """The rest of a plan's step that requests it; "": there is none."""
    code: str
    """The same for a task."""


PLACES = {
    "usage": Place('stream = "llm"', 'with self.client.get("/", stream=True) as reply: list(reply.events("llm"))'),
    "event": Place('stream = "sse"', 'with self.client.get("/", stream=True) as reply: list(reply.events())'),
    "timing": Place('expect.contains = "x"', 'self.client.get("/")'),
    "cookie": Place("cookies = true", 'self.client.get("/")'),
    "length": Place('expect.contains = "x"', 'self.client.get("/")'),
    "chunk": Place('expect.contains = "x"', 'self.client.get("/")'),
    "json": Place('expect.json = { "/n" = 1 }\nextract.a = { json = "/list/0" }', 'self.client.get("/")'),
    "status": Place("", 'self.client.get("/")'),
    "message": Place(
        "websocket",
        'with self.client.websocket("/") as socket: socket.receive(timeout=1.0), socket.receive(timeout=1.0)',
    ),
    "plain": Place("", 'self.client.get("/"); self.measure()'),
}
PLAN = """
target = "http://127.0.0.1:{port}"
timeout = "2s"
{cookies}
{step}
[[phase]]
users = {users}
[stop]
requests = 40
time = "4s"
"""
SCRIPT = """
from math import inf, nan
from plimsoll import HttpUser, constant, task

class Odd(HttpUser):
    host = "http://127.0.0.1:{port}"
    wait_time = constant(0.1)

    def measure(self):
        self.environment.events.request.fire(
            request_type="custom", name="/", response_time={time}, response_length={length}, context={{}}
        )

    @task
    def go(self):
        {code}
"""


@dataclass(frozen=True)
class Seen(CommandOutcome):
    """What a run did."""

    stored: dict[str, Any] | None
    """From `plimsoll show last --json`."""
    arrived: int
    """Requests that the target has read."""


def trial(folder: Path, chance: Random) -> Judgement:
    place, number = chance.choice(list(PLACES)), chance.choice(NUMBERS)
    is_python = place == "plain" or chance.random() < 0.5
    users, values = chance.randint(1, 5), (chance.choice(VALUES), chance.choice(VALUES))
    shown = f"a time of {values[0]} and a length of {values[1]}" if place == "plain" else f"{number[:30]!r}"
    what = f"{users} {'Python' if is_python else 'native'} users, {place}: {shown}"
    with NumbersTarget(place, number) as target:
        if is_python:
            text = SCRIPT.format(port=target.port, code=PLACES[place].code, time=values[0], length=values[1])
            arguments = ["-u", str(users), "-r", str(users), "-t", "2s"]
        else:
            text, arguments = _plan(place, target.port, users), []
        name = "locustfile.py" if is_python else "plan.toml"
        (folder / name).write_text(text)
        seen = _run(folder, target, name, *arguments)
    return Judgement(what, list(broken(seen)), seen.words)


def broken(seen: Seen) -> Iterator[str]:
    """A sentence for each guarantee that the run broke."""
    if seen.exit_code not in OUTCOMES:
        yield "the command did not end" if seen.exit_code is None else f"the exit code is {seen.exit_code}"
    if ("Traceback" in seen.words and "OverflowError" in seen.words) or "panicked" in seen.words:
        yield "a traceback is shown"
    if "not stored" in seen.words or "not completely stored" in seen.words:
        yield "something was not stored"
    if seen.stored is None:
        yield "the store has no run"
        return
    rows = {each["method"]: each for each in seen.stored["endpoints"] if each["method"] in ROWS}
    custom = rows.pop("custom", None)
    ended = sum(each["requests"] for each in rows.values())
    begun = ended + sum(each["unanswered"] for each in rows.values())
    if not ended <= seen.arrived <= begun:
        yield f"the target has read {seen.arrived} requests, and the store has {ended} to {begun}"
    if custom is not None and not ended - 5 <= custom["requests"] <= ended:
        yield f"{custom['requests']} of {ended} measurements are stored"


def _plan(place: str, port: int, users: int) -> str:
    step = PLACES[place].step
    if place == "message":
        step = '[[flow]]\nname = "f"\n[[flow.step]]\nconnect = "/"\n' + 2 * '[[flow.step]]\nreceive = "next"\n'
        step += "[[flow.step]]\nclose = 1000\n"
    elif place == "cookie":
        step = '[[request]]\nget = "/"'
    else:
        step = f'[[request]]\nget = "/"\n{step}'
    return PLAN.format(port=port, step=step, users=users, cookies="cookies = true" if place == "cookie" else "")


def _run(folder: Path, target: NumbersTarget, name: str, *arguments: str) -> Seen:
    command = [str(PLIMSOLL), "run", name, "-s", "1s", *arguments, "--headless", "--store", "runs.db"]
    environment = os.environ | {"NO_COLOR": "1"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S, errors="replace"
        )
    except subprocess.TimeoutExpired as late:
        return Seen(None, str(late), None, target.requests)
    show = [str(PLIMSOLL), "show", "last", "--json", "--store", "runs.db"]
    shown = subprocess.run(show, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S)
    stored = json.loads(shown.stdout) if shown.stdout else None
    return Seen(done.returncode, done.stdout + done.stderr + shown.stderr, stored, target.requests)

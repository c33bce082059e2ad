"""Each option about the load, with one process, with two, and with workers that join: it means the same in all of them.

All of them together take minutes, so that only those with a shape are in each long run of the tests.

What is compared is what was asked of whom, and what became of it: no number depends on how fast the machine is.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from tests.run.joined import start_master, start_worker

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

pytestmark = pytest.mark.timeout(300)

LOCUSTFILE = """
import json, time
import gevent
from locust import FastHttpUser, LoadTestShape, constant, events, tag, task
from locust.runners import WorkerRunner

def note(what, value=None):
    with open("notes", "a") as notes:
        notes.write(json.dumps([time.monotonic(), what, value]) + chr(10))

@events.init.add_listener
def on_init(environment, runner, **_):
    is_worker = isinstance(runner, WorkerRunner)
    events.test_start.add_listener(lambda **_: note("begins"))
    events.test_stopping.add_listener(lambda **_: note("stopping"))
    if not is_worker:
        events.spawning_complete.add_listener(lambda user_count, **_: note("spawned", user_count))

@events.request.add_listener
def on_request(name, **_):
    note("request", name)

class Visitor(FastHttpUser):
    abstract = True
    wait_time = constant(0.1)

    def on_start(self):
        note("start", type(self).__name__)

    def on_stop(self):
        note("stop", type(self).__name__)

    @tag("first")
    @task
    def first(self):
        self.client.get("/first")

    @tag("second")
    @task
    def second(self):
        self.client.get("/second")

class One(Visitor):
    weight = 3

class Two(Visitor):
    pass
"""

SHAPE = """
class Shape(LoadTestShape):
    def tick(self):
        if self.get_run_time() < 4:
            return (3, 100)
        note("shape ends")
        return None
"""
ENDLESS_SHAPE = SHAPE.replace("< 4", "< 600")

WORKING = """
class Visitor(FastHttpUser):
    @task
    def work(self):
        note("begun")
        gevent.sleep({seconds})
        note("finished")
"""


@dataclass(frozen=True)
class Case:
    """arguments: what the run is given. text: its locustfile. least_s: seconds from test_start to test_stopping in each
    process, at least. facts: what is left in the notes."""

    arguments: tuple[str, ...]
    text: str = LOCUSTFILE
    least_s: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)


EXHAUSTIVE = (pytest.mark.long, pytest.mark.exhaustive)


def counts(notes: list[list[Any]], what: str) -> dict[str, int]:
    return dict(Counter(value for _, kind, value in notes if kind == what))


CASES = {
    "users": Case(("-u", "8", "-r", "100", "-t", "2s", "-s", "20s"), least_s=2.0,
                  facts={"start": {"One": 6, "Two": 2}, "stop": {"One": 6, "Two": 2}, "spawned": {8: 1}}),
    "spawn-rate": Case(("-u", "4", "-r", "2", "-t", "4s"), least_s=4.0,
                       facts={"start": {"One": 3, "Two": 1}, "stop": {"One": 3, "Two": 1}, "spawned": {4: 1}}),
    "shape": Case(("-u", "9", "-r", "1", "-t", "1s"), LOCUSTFILE + SHAPE, least_s=4.0,
                  facts={"shape ends": {None: 1}, "spawned": {3: 1}}),
    "shape-and-cap": Case(("--max-run-time", "2s"), LOCUSTFILE + ENDLESS_SHAPE, least_s=2.0,
                          facts={"shape ends": {}, "spawned": {3: 1}}),
    "reset-stats": Case(("-u", "4", "-r", "4", "-t", "3s", "--reset-stats"), least_s=3.0,
                        facts={"start": {"One": 3, "Two": 1}, "spawned": {4: 1}}),
    "steps": Case(("--steps", "2s:2,2s:5"), least_s=4.0, facts={"start": {"One": 4, "Two": 1}}),
    "warmup": Case(("-u", "4", "-r", "100", "--warmup", "1s", "-t", "2s"), least_s=3.0,
                   facts={"start": {"One": 3, "Two": 1}}),
    "iterations": Case(("-u", "4", "-r", "100", "--iterations", "9", "-T", "first"),
                       facts={"request": {"/first": 9}}),
    "rate": Case(("--rate", "20/s", "-t", "2s", "-T", "first"), least_s=2.0, facts={"request": {"/first": 40}}),
    "rate-iterations": Case(("--rate", "50/s", "--iterations", "11", "-T", "second"),
                            facts={"request": {"/second": 11}}),
    "rate-steps": Case(("--steps", "1s:10/s,1s:20/s", "-E", "second"), least_s=2.0, facts={"request": {"/first": 30}}),
    "stop-timeout": Case(("-u", "4", "-r", "100", "-t", "2s", "-s", "60s"), LOCUSTFILE.partition("class Visitor")[0]
                         + WORKING.format(seconds=4), least_s=2.0, facts={"begun": {None: 4}, "finished": {None: 4}}),
    "no-stop-timeout": Case(("-u", "4", "-r", "100", "-t", "2s"), LOCUSTFILE.partition("class Visitor")[0]
                            + WORKING.format(seconds=600), least_s=2.0, facts={"finished": {}}),
    "equal-weights": Case(("-u", "4", "-r", "100", "-t", "2s", "--equal-weights"),
                          facts={"start": {"One": 2, "Two": 2}}),
    "config-users": Case(("-u", "4", "-r", "100", "-t", "2s", "--config-users",
                          '{"user_class_name": "Two", "fixed_count": 3}'), facts={"start": {"One": 1, "Two": 3}}),
    "classes": Case(("-u", "4", "-r", "100", "-t", "2s", "Two"), facts={"start": {"Two": 4}}),
}  # fmt: skip


@pytest.mark.parametrize("place", ["one", "two", "joined"])
@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.long if "shape" in each else EXHAUSTIVE) for each in CASES]
)
def test_an_option_about_the_load_means_the_same_however_many_processes_send_it(
    plimsoll: Command, target: CountingTarget, port: int, name: str, place: str
) -> None:
    case = CASES[name]
    plimsoll.write(case.text)
    arguments = ("-f", "locustfile.py", "-H", target.url, *case.arguments)
    if place == "joined":
        workers = [start_worker(plimsoll, port, file="locustfile.py") for _ in range(2)]
        done = plimsoll.end(start_master(plimsoll, port, "--expect-workers", "2", *arguments))
        assert [plimsoll.end(each).code for each in workers] == [0, 0], done
    else:
        done = plimsoll("run", "--headless", "--processes", "1" if place == "one" else "2", *arguments)
    assert done.code == 0, done
    notes = [json.loads(line) for line in (plimsoll.directory / "notes").read_text().splitlines()]
    assert {what: counts(notes, what) for what in case.facts} == case.facts
    # Only one process may know when the load is over. No other one ends its load before that.
    begin = max(at for at, what, _ in notes if what == "begins")
    ends = min(at for at, what, _ in notes if what in ("stopping", "stop"))
    assert ends - begin >= case.least_s
    assert ends >= max((at for at, what, _ in notes if what == "shape ends"), default=0.0)

"""Runs with more names than are counted apart."""

from __future__ import annotations

import csv
import html
import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

LOCUSTFILE = """
import itertools, json, os
from locust import FastHttpUser, HttpUser, events, task

numbers = itertools.count()

class Reader(BASE):
    @task
    def read(self):
        number = next(numbers)
        path = "/fail" if number % 4 == 3 else "/index"
        self.client.get(path, name=f"/item/{os.getpid()}/{number}")

@events.test_stop.add_listener
def note(environment, **_):
    entries = [[e.method, e.name, e.num_requests] for e in environment.stats.entries.values()]
    never = environment.stats.get("/item/0/99999", "GET").num_requests
    with open(f"entries-{type(environment.runner).__name__}", "w") as file:
        json.dump({"entries": entries, "never": never, "total": environment.stats.total.num_requests}, file)
"""
EVENTS = """
import itertools
from locust import User, events, task

numbers = itertools.count()

class Caller(User):
    @task
    def call(self):
        number = next(numbers)
        self.environment.events.request.fire(
            request_type=f"T{number}", name=f"call {number}", response_time=1, response_length=2,
            exception=ValueError(f"no {number % 2}") if number % 4 == 3 else None)
"""


def _requests(run: dict[str, Any]) -> dict[tuple[str, str], int]:
    return {(each["method"], each["name"]): each["requests"] for each in run["endpoints"]}


@pytest.mark.parametrize("base", ["FastHttpUser", "HttpUser"])
def test_further_names_are_one_endpoint_and_no_request_is_lost(
    plimsoll: Command, target: CountingTarget, base: str
) -> None:
    plimsoll.write(LOCUSTFILE.replace("BASE", base))
    limits = ("--iterations", "40", "--max-names", "8")
    done = plimsoll("run", "-H", target.url, "--headless", "--csv", "out", "--html", "out.html", *limits)
    run = plimsoll.stored()
    requests = _requests(run)
    assert target.total == run["total"]["requests"] == sum(requests.values()) == 40
    assert len(requests) == 9
    assert requests[("", "(others)")] == 32
    assert {requests[key] for key in requests if key != ("", "(others)")} == {1}
    assert run["total"]["failures"] == sum(each["count"] for each in run["failures"]) == 10
    assert sum(each["count"] for each in run["failures"] if each["name"] == "(others)") == 8
    assert done.err.count("this run has more than 8 names") == 1, done.err
    words = 'This run had more than 8 names: 32 requests of further names are counted as "(others)". '
    assert words in " ".join(done.out.split())
    assert words.strip() in html.unescape((plimsoll.directory / "out.html").read_text())
    with (plimsoll.directory / "out_stats.csv").open(newline="") as file:
        rows = {(row["Type"], row["Name"]): row["Request Count"] for row in csv.DictReader(file)}
    assert (rows[("", "(others)")], rows[("", "Aggregated")], len(rows)) == ("32", "40", 10)


def test_methods_that_vary_do_not_make_more_endpoints(plimsoll: Command) -> None:
    plimsoll.write(EVENTS)
    done = plimsoll("run", "--headless", "--iterations", "40", "--max-names", "8")
    run = plimsoll.stored()
    assert (len(run["endpoints"]), run["total"]["requests"], run["total"]["failures"]) == (9, 40, 10)
    assert 'Most names look like call [0-9]+: set name="call [id]"' in " ".join(done.out.split())


def test_several_workers_have_no_more_names_together(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(LOCUSTFILE.replace("BASE", "FastHttpUser"))
    arguments = ("--processes", "2", "-u", "4", "-r", "100", "--iterations", "80", "--max-names", "8")
    done = plimsoll.in_a_process("run", "-H", target.url, "--headless", *arguments)
    run = plimsoll.stored()
    requests = _requests(run)
    assert target.total == run["total"]["requests"] == sum(requests.values()) == 80
    assert len(requests) == 9
    assert run["total"]["failures"] == sum(each["count"] for each in run["failures"]) == 20
    assert done.err.count("this run has more than 8 names") == 1, done.err
    main = json.loads((plimsoll.directory / "entries-MasterRunner").read_text())
    assert {(method, name): count for method, name, count in main["entries"]} == requests
    assert (main["never"], main["total"]) == (0, 80)


def test_as_many_names_as_there_may_be_are_no_reason_to_speak(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(LOCUSTFILE.replace("BASE", "FastHttpUser"))
    done = plimsoll("run", "-H", target.url, "--headless", "--iterations", "8", "--max-names", "8")
    assert len(plimsoll.stored()["endpoints"]) == 8
    assert "names" not in done.out + done.err


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_what_is_no_number_of_names_is_refused(plimsoll: Command, number: str) -> None:
    done = plimsoll("run", "http://127.0.0.1:9/", f"--max-names={number}")
    assert done.code == 2
    assert "--max-names" in done.err

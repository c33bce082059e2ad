"""Failures whose messages differ in ports, times and ids are one row, in whole runs."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

LOCUSTFILE = """
import itertools, json, os
from locust import HttpUser, events, task

numbers = itertools.count(int(os.environ.get("FIRST", "10000")))

class Buyer(HttpUser):
    @task
    def buy(self):
        number = next(numbers)
        with self.client.get("/index", name="buy", catch_response=True) as response:
            TEXT

@events.test_stop.add_listener
def note(environment, **_):
    with open("errors", "w") as file:
        json.dump([[each.to_name(), each.occurrences] for each in environment.stats.errors.values()], file)
"""
VARIED = 'response.failure(f"order {number} is gone after {number / 7:.3f} s")'
STATUSES = 'response.failure(f"HTTP {500 + number % 2 * 3}, expected {number % 3} items")'
SAME = 'response.failure("took longer than 5000 ms")'


def _run(plimsoll: Command, target: CountingTarget, text: str, *arguments: str) -> list[dict[str, Any]]:
    plimsoll.write(LOCUSTFILE.replace("TEXT", text))
    done = plimsoll.in_a_process(
        "run", "-H", target.url, "--headless", "--csv", "out", "--iterations", "12", *arguments
    )
    assert done.code == 1, done
    found: list[dict[str, Any]] = plimsoll.stored()["failures"]
    return found


def _csv(plimsoll: Command) -> list[tuple[str, str, str]]:
    with (plimsoll.directory / "out_failures.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(list(row) == ["Method", "Name", "Error", "Occurrences", "First Seen", "Last Seen"] for row in rows)
    return [(row["Name"], row["Error"], row["Occurrences"]) for row in rows]


def test_messages_with_changing_parts_are_one_failure_with_an_example(
    plimsoll: Command, target: CountingTarget
) -> None:
    (failure,) = _run(plimsoll, target, VARIED)
    assert (failure["message"], failure["count"]) == ("order [number] is gone after [number] s", 12)
    assert failure["example"] == "order 10000 is gone after 1428.571 s"
    assert _csv(plimsoll) == [("buy", "CatchResponseError('order [number] is gone after [number] s')", "12")]
    assert json.loads((plimsoll.directory / "errors").read_text()) == [
        ["GET buy: order [number] is gone after [number] s", 12]
    ]


def test_so_are_those_of_several_workers(plimsoll: Command, target: CountingTarget) -> None:
    (failure,) = _run(plimsoll, target, VARIED, "--processes", "2", "-u", "2", "-r", "10")
    assert (failure["message"], failure["count"]) == ("order [number] is gone after [number] s", 12)
    assert json.loads((plimsoll.directory / "errors").read_text()) == [
        ["GET buy: 'order [number] is gone after [number] s'", 12]
    ]


def test_a_message_that_is_always_the_same_stays_as_it_is(plimsoll: Command, target: CountingTarget) -> None:
    (failure,) = _run(plimsoll, target, SAME)
    assert (failure["message"], failure["example"], failure["count"]) == ("took longer than 5000 ms", None, 12)
    assert _csv(plimsoll) == [("buy", "CatchResponseError('took longer than 5000 ms')", "12")]


def test_statuses_and_small_numbers_stay_apart(plimsoll: Command, target: CountingTarget) -> None:
    failures = _run(plimsoll, target, STATUSES)
    assert sorted((each["message"], each["count"]) for each in failures) == [
        (f"HTTP {status}, expected {items} items", 2) for status in (500, 503) for items in (0, 1, 2)
    ]

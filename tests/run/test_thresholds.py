"""Whole runs with thresholds: what they say, where they are said, and what CI is told; and runs that are not valid."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from plimsoll.load.json_schema import document_schema
from plimsoll.report.render.run_fields import RunFields

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

LOCUSTFILE = """
from locust import HttpUser, constant, task

class Visitor(HttpUser):
    wait_time = constant(0.01)
    thresholds = THRESHOLDS

    @task
    def index(self):
        self.client.get("/index")
"""

PLAN = """
target = "TARGET"
thresholds = THRESHOLDS

[request]
get = "/index"

[phase]
rate = "100/s"
duration = "200ms"
"""

HOLDS, FAILS = "errors < 1%", "requests < 5"


def _thresholds(run: dict[str, Any]) -> dict[str, bool]:
    return {each["text"]: each["passed"] for each in run["thresholds"]}


def test_one_that_holds_and_one_that_does_not_are_told_everywhere(plimsoll: Command, target: CountingTarget) -> None:
    (plimsoll.directory / "out").mkdir()
    done = plimsoll(
        "run", f"{target.url}/a", "--headless", "--rate", "100/s", "-t", "200ms", "--threshold", HOLDS,
        "--threshold", FAILS,
        "--junit", "out/junit.xml", "--summary", "out/x.json",
    )  # fmt: skip
    assert done.code == 1, done
    assert target.total == 20
    document = json.loads((plimsoll.directory / "out" / "x.json").read_text())
    assert _thresholds(document) == {HOLDS: True, FAILS: False}
    assert document["thresholds"][1]["value"] == 20
    schema = document_schema(RunFields, "A run")
    assert [error.message for error in Draft202012Validator(schema).iter_errors(document)] == []
    root = ElementTree.parse(plimsoll.directory / "out" / "junit.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("3", "1")
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert list(cases) == [HOLDS, FAILS, "run validity"]
    assert cases[HOLDS].find("failure") is None
    failure = cases[FAILS].find("failure")
    assert failure is not None
    assert document["thresholds"][1]["detail"] == failure.get("message")
    assert FAILS in done.out
    assert plimsoll.stored()["thresholds"] == document["thresholds"]


def test_without_any_that_fails_the_exit_code_is_0(plimsoll: Command, target: CountingTarget) -> None:
    done = plimsoll("run", f"{target.url}/a", "--headless", "--rate", "100/s", "-t", "200ms", "--threshold", HOLDS)
    assert done.code == 0, done


def test_who_limits_failures_has_said_how_many_there_may_be(plimsoll: Command, target: CountingTarget) -> None:
    arguments = ("run", f"{target.url}/fail", "--headless", "--rate", "100/s", "-t", "200ms", "--threshold")
    assert plimsoll(*arguments, "requests > 5").code == 1
    assert plimsoll(*arguments, "errors <= 100%").code == 0
    assert plimsoll(*arguments, "errors <= 50%").code == 1


def test_one_that_says_so_ends_the_run(plimsoll: Command, target: CountingTarget) -> None:
    text = "errors < 10% over 1s, else stop"
    done = plimsoll("run", f"{target.url}/fail", "--headless", "--rate", "20/s", "-t", "50s", "--threshold", text)
    assert done.code == 1, done
    assert f"the run was ended by threshold {text}: it is broken" in done.err
    run = plimsoll.stored()
    assert run["run"]["facts"]["guard_stopped"]["limit"] == f"threshold {text}"
    assert (run["run"]["status"], _thresholds(run)) == ("stopped", {text: False})
    assert run["generator"]["offered"] == run["total"]["requests"] == target.total < 50 * 20


def test_a_plan_and_the_command_line_have_thresholds(plimsoll: Command, target: CountingTarget) -> None:
    plan = PLAN.replace("TARGET", target.url)
    plimsoll.write(plan.replace("THRESHOLDS", json.dumps([HOLDS, FAILS])), "plan.toml")
    done = plimsoll("run", "plan.toml", "--headless", "--threshold", "requests == 20")
    assert done.code == 1, done
    assert _thresholds(plimsoll.stored()) == {HOLDS: True, FAILS: False, "requests == 20": True}


def test_a_locustfile_has_thresholds(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(LOCUSTFILE.replace("THRESHOLDS", repr([HOLDS, FAILS])))
    done = plimsoll("run", "--headless", "-H", target.url, "-t", "1", "--processes", "2", "-u", "2", "-r", "2")
    assert done.code == 1, done
    assert _thresholds(plimsoll.stored()) == {HOLDS: True, FAILS: False}


BROKEN = "p99 << 200ms"


@pytest.mark.parametrize("where", ["option", "plan", "locustfile"])
def test_one_that_cannot_be_read_is_pointed_at_before_the_run(
    plimsoll: Command, target: CountingTarget, where: str
) -> None:
    given = {"option": HOLDS, "plan": HOLDS, "locustfile": HOLDS, where: BROKEN}
    plimsoll.write(PLAN.replace("TARGET", target.url).replace("THRESHOLDS", json.dumps([given["plan"]])), "plan.toml")
    plimsoll.write(LOCUSTFILE.replace("THRESHOLDS", repr([given["locustfile"]])))
    what = ("-H", target.url, "-t", "1") if where == "locustfile" else ("plan.toml",)
    done = plimsoll("run", *what, "--headless", "--threshold", given["option"])
    assert done.code == 2, done
    lines = done.err.splitlines()
    if where == "plan":  # one line for each mistake of a plan, with its place
        assert any(f"plan.toml:3: thresholds[0]: '{BROKEN}': expected one of <" in line for line in lines)
    else:
        place = next(number for number, line in enumerate(lines) if BROKEN in line and "threshold:" not in line)
        assert lines[place + 1].strip() == "^^"
        assert lines[place + 1].index("^") == lines[place].index("<<")
    assert "Traceback" not in done.err
    assert target.total == 0
    assert plimsoll("runs").out in ("", "no runs yet\n"), "nothing of it is kept"


def test_an_endpoint_that_never_occurred_does_not_pass(plimsoll: Command, target: CountingTarget) -> None:
    text = 'p99 of "GET /idnex" < 20s'
    done = plimsoll("run", f"{target.url}/index", "--headless", "--rate", "100/s", "-t", "200ms", "--threshold", text)
    assert done.code == 1, done
    (result,) = plimsoll.stored()["thresholds"]
    assert not result["passed"]
    assert "GET /idnex never occurred" in result["detail"]
    assert result["detail"] in done.out


BUSY = """
import time
from locust import HttpUser, task

class Visitor(HttpUser):
    @task
    def index(self):
        end = time.process_time() + 0.012
        while time.process_time() < end:
            pass
        self.client.get("/index")
"""


DROPPING = ("--rate", "120/s", "--max-users", "1", "--on-saturation", "drop", "-t", "1s", "-s", "20")
"""One user has 12 ms of work for each arrival: it cannot take 120 of them in a second."""


def test_arrivals_that_were_dropped_are_said_everywhere(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(BUSY)
    done = plimsoll(
        "run", "--headless", "-H", target.url, *DROPPING, "--exit-code-on-invalid", "3", "--threshold", HOLDS,
        "--csv", "x", "--summary", "x.json", "--junit", "x.xml", "--hlog", "x.hlog",
    )  # fmt: skip
    assert done.code == 3, done
    document = json.loads((plimsoll.directory / "x.json").read_text())
    assert document["validity"]["valid"] is False
    failed = {each["name"]: each["text"] for each in document["validity"]["checks"] if each["state"] == "failed"}
    assert "dropped" in failed
    assert "INVALID" in done.out
    flat = " ".join(done.out.split())
    with (plimsoll.directory / "x_validity.csv").open(newline="") as file:
        written = {row["Check"]: row["Text"] for row in csv.DictReader(file) if row["State"] == "failed"}
    assert written == failed
    error = ElementTree.parse(plimsoll.directory / "x.xml").getroot().find(".//testcase[@name='run validity']/error")
    assert error is not None
    hlog = (plimsoll.directory / "x.hlog").read_text().splitlines()
    for text in failed.values():
        assert text in flat
        assert text in (error.text or "")
        assert f"#[INVALID: {text}]" in hlog
    for format in ("csv", "json", "parquet", "hgrm"):
        exported = plimsoll("export", "--format", format, "-o", f"out.{format}")
        assert exported.code == 0, exported
        assert all(f"plimsoll: INVALID: {text}" in exported.err for text in failed.values())


def test_the_verdict_costs_the_exit_code_only_if_it_should(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(BUSY)
    done = plimsoll("run", "--headless", "-H", target.url, *DROPPING, "--exit-code-on-invalid", "0")
    assert done.code == 0, done
    assert "INVALID" in done.out

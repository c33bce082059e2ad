"""From locustfiles to an Environment. In processes of their own: locustfiles change what is global."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.load.spec import Load, Phase, ShapeSpec
from plimsoll.run.plan import RunPlan

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
from plimsoll.locust import install
install()
import json, logging, sys
from plimsoll.run.plan import RunPlan
from plimsoll.locust.script.setting import LocustfileSetup
from plimsoll.users.events import events
from plimsoll.errors import PlimsollError

logging.basicConfig(stream=sys.stdout, format="LOG %(message)s", level=logging.INFO)
plan = RunPlan.from_dict({**RunPlan().to_dict(), **json.loads(sys.argv[1])})
try:
    setting = LocustfileSetup(plan, sys.argv[2])
except PlimsollError as error:
    sys.exit(f"refused: {error}")
environment = setting.environment
events.init.fire(environment=environment, runner=None, web_ui=None)
"""

LOCUSTFILE = """
from locust import HttpUser, LoadTestShape, events, task

class Visitor(HttpUser):
    host = "http://h"
    @task
    def index(self): pass

class Editor(Visitor):
    weight = 2

@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("--token", default="none")
"""

SHAPE = """
class Stages(LoadTestShape):
    def tick(self): return None
"""


@pytest.fixture
def run(tmp_path: Path) -> Any:
    def in_process(steps: str, text: str = LOCUSTFILE, role: str = "alone", **plan: Any) -> str:
        path = tmp_path / "locustfile.py"
        path.write_text(text)
        plan["locustfiles"] = [str(path)]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM + steps, json.dumps(plan), role],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        return done.stdout + done.stderr

    return in_process


def test_the_environment_is_what_plan_and_locustfile_say(run: Any) -> None:
    out = run(
        "print([each.__name__ for each in environment.user_classes], environment.host, environment.stop_timeout,"
        " environment.parsed_options.token, sys.argv, environment.shape_class)",
        arguments=["Editor", "--token", "abc"], host="http://other", stop_timeout=3.0, command=["plimsoll", "run"],
    )  # fmt: skip
    assert out == "['Editor'] http://other 3 abc ['plimsoll', 'run'] None\n"


def test_a_locustfile_may_want_another_plan(run: Any) -> None:
    text = LOCUSTFILE + (
        "@events.init.add_listener\ndef want(environment, **_):\n"
        "    environment.parsed_options.num_users = 7\n    environment.parsed_options.run_time = 60\n"
    )
    assert run("print(setting.changes())", text) == "{'users': 7, 'run_time': 60.0}\n"
    assert run("print(setting.changes())", text, role="worker") == "{}\n"
    assert run("print(setting.changes())") == "{}\n"


def test_a_load_of_the_command_line_is_not_changed(run: Any) -> None:
    text = LOCUSTFILE + (
        "@events.init.add_listener\ndef want(environment, **_):\n"
        "    environment.parsed_options.num_users = 7\n    environment.parsed_options.exit_code_on_error = 4\n"
    )
    steps = "print(setting.changes(), setting.shape())"
    load = Load("closed", (Phase("p", ShapeSpec.of("constant", level=2.0, seconds=1.0), seconds=1.0),))
    out = run(steps, text + SHAPE, load=RunPlan(load=load).to_dict()["load"])
    assert "LOG Stages is not followed" in out
    assert out.endswith("{'exit_code_on_error': 4} None\n")


def test_the_first_shape_is_followed_and_the_options_it_makes_useless_are_named(run: Any) -> None:
    steps = "print(type(setting.shape()).__name__, sorted(environment.available_shape_classes))"
    text = LOCUSTFILE + SHAPE + SHAPE.replace("Stages", "Another")
    out = run(steps, text, options=[["num_users", 3], ["run_time", None], ["spawn_rate", 2.0]])
    assert "LOG Stages says itself" in out
    assert "ignored is --users, --spawn-rate." in out
    assert out.endswith("Stages ['Another', 'Stages']\n")
    assert "ignored" not in run(steps, text)
    common = text.replace("    def tick", "    use_common_options = True\n    def tick")
    assert "ignored" not in run(steps, common, options=[["num_users", 3]])
    assert run(steps, text, role="worker").startswith("NoneType ")


def test_a_shape_that_cannot_be_made_is_told_with_its_line(run: Any) -> None:
    text = LOCUSTFILE + SHAPE + "    def __init__(self): 1 / 0\n"
    assert f"locustfile.py:{text.count(chr(10))}: ZeroDivisionError" in run("", text)


def test_a_shape_without_tick_is_told(run: Any) -> None:
    assert "refused: making Stages: TypeError" in run("", LOCUSTFILE + "class Stages(LoadTestShape): pass\n")


def test_the_main_node_shares_host_and_own_options_as_far_as_they_travel(run: Any) -> None:
    steps = """
import pathlib
options = environment.parsed_options
environment.host, environment.stop_timeout = "http://there", 9
options.token, options.num_users, options.expect_workers, options.thing = "abc", 55, 3, pathlib.Path("x")
shared = setting.share()
environment.host = environment.stop_timeout = options.token = options.num_users = options.expect_workers = None
setting.adopt(shared)
print(environment.host, environment.stop_timeout, options.token, options.num_users, options.expect_workers)
"""
    assert run(steps, role="main") == "http://there 9 abc None 3\n"
    assert run("print(setting.share())", role="worker") == "None\n"
    assert run("print(setting.share())") == "None\n"


def test_settings_of_user_classes_are_applied(run: Any) -> None:
    settings = [{"user_class_name": "Editor", "weight": 9}]
    steps = "print(environment.user_classes_by_name['Editor'].weight)"
    assert run(steps, options=[["config_users", settings]]) == "9\n"
    unknown = [{"user_class_name": "Buyer", "weight": 9}]
    assert "no user class 'Buyer'" in run(steps, options=[["config_users", unknown]])


def test_fixed_counts_that_are_more_than_the_users_are_said(run: Any) -> None:
    text = LOCUSTFILE.replace("weight = 2", "fixed_count = 3")
    words = "Total fixed_count of User classes (3) is greater than the specified number of users (2)"
    assert words in run("", text, options=[["num_users", 2]])
    assert "fixed_count" not in run("", text, options=[["num_users", 3]])

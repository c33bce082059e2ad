"""What a locustfile has to be asked for, as a process of its own finds it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from plimsoll.locust.script.form import describe_form
from plimsoll.run.plan import RunPlan
from plimsoll.server.control.description import (
    Description,
    OwnClass,
    OwnOption,
    TaskNode,
    positionals,
    replaced,
)
from plimsoll.server.control.form_items import filled_in, form_of, task_ratios
from plimsoll.server.messages import RunRequest

if TYPE_CHECKING:
    from pathlib import Path

SHOP = """
from locust import HttpUser, LoadTestShape, TaskSet, events, tag, task

@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("-c", "--count", type=int, default=3, help="How many.")
    parser.add_argument("--where", choices=["here", "there"], default="here")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--api-key", is_secret=True, default="the-key")
    parser.add_argument("--inner", include_in_web_ui=False)

class Cart(TaskSet):
    @tag("buy")
    @task(3)
    def add(self): ...
    @task
    def look(self): ...

class Buyer(HttpUser):
    host = "http://h"
    weight = 3
    tasks = [Cart]
    @tag("read")
    @task
    def index(self): ...

class Admin(HttpUser):
    fixed_count = 1
    @task
    def edit(self): ...

class Waves(LoadTestShape):
    use_common_options = True
    def tick(self): ...

print("the locustfile prints too")
"""

COUNT = OwnOption("count", ("-c", "--count"), "text", "", "3", (), False, True, "int", "1")
FAST = OwnOption("fast", ("--fast",), "checkbox", "", False, (), False, True, "", "")
QUIET = OwnOption("quiet", ("--quiet", "--no-quiet"), "checkbox", "", False, (), False, True, "", "")
TONES = OwnOption("tones", ("--tones",), "multiple", "", (), (), False, True, "", "+")
NOTES = OwnOption("notes", ("--note",), "multiple", "", (), (), False, True, "", "append")
ALL = (COUNT, FAST, QUIET, TONES, NOTES)


def test_everything_a_locustfile_has_is_found(tmp_path: Path) -> None:
    path = tmp_path / "shop.py"
    path.write_text(SHOP)
    plan = RunPlan(locustfiles=(str(path),), arguments=("Buyer", "--count", "7", "--api-key", "another-key"))
    found = describe_form(plan)
    assert found.error == ""
    assert [(each.name, each.weight, each.fixed_count, each.host) for each in found.classes] == [
        ("Admin", 1.0, 1, ""),
        ("Buyer", 3.0, 0, "http://h"),
    ]
    assert (found.picked, found.shapes, found.common) == (("Buyer",), ("Waves",), ("Waves",))
    assert found.tags == ("buy", "read")
    assert {each.name: (each.kind, each.value, each.shown) for each in found.options} == {
        "count": ("text", "7", True),
        "where": ("select", "here", True),
        "fast": ("checkbox", False, True),
        "api_key": ("secret", "", True),
        "inner": ("text", "", False),
    }
    assert (found.options[0].number, found.options[0].help) == ("int", "How many.")
    assert found.secret == {"--api-key"}
    form = form_of(found, RunRequest(), "shop.py", has_plan=False, picks=False)
    assert [each.name for each in form.arguments] == ["count", "where", "fast", "api_key"]
    assert form.request.arguments == {"count": "7", "where": "here", "fast": False}
    assert [each.tasks for each in form.classes] == [("edit",), ("add", "look", "index")]
    _shares(found)


def _shares(found: Description) -> None:
    (buyer,) = task_ratios(found, RunRequest(classes=("Buyer",)), {})
    cart, index = buyer.tasks
    assert [(each.name, each.total) for each in cart.tasks] == [("add", 0.375), ("look", 0.125)]
    assert (cart.ratio, index.ratio) == (0.5, 0.5)
    (buyer,) = task_ratios(found, RunRequest(classes=("Buyer",), tags=("buy",)), {})
    assert [(each.name, each.total) for each in buyer.tasks[0].tasks] == [("add", 1.0)]
    admin, buyer = task_ratios(found, RunRequest(classes=("Admin", "Buyer"), users=5), {})
    assert (admin.total, buyer.total) == (0.2, 0.8)
    admin, buyer = task_ratios(found, RunRequest(classes=("Admin", "Buyer"), users=5), {"Admin": 1, "Buyer": 1})
    assert (admin.total, buyer.total) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [("import nothing_of_this_name", "ModuleNotFoundError"), ("raise SystemExit(3)", "SystemExit"),
     ("", "no user class"),
     ("import os; os._exit(7)", "ended its process with code 7")],
)  # fmt: skip
def test_what_is_wrong_with_a_locustfile_is_said(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "shop.py"
    path.write_text(text)
    assert said in describe_form(RunPlan(locustfiles=(str(path),))).error


WORDS = ("plan.toml", "--other", "x", "Buyer", "-c", "4", "--fast", "Visitor", "--tones", "a", "b", "--note=c")


def test_options_are_told_from_what_they_are_given() -> None:
    assert positionals(WORDS, ALL) == ["plan.toml", "Buyer", "Visitor"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, ["--other", "x", "-c", "4", "--fast", "--tones", "a", "b", "--note=c"]),
        ({"count": "-9", "fast": False}, ["--other", "x", "--tones", "a", "b", "--note=c", "--count=-9"]),
        (
            {"tones": ("z",), "notes": ("y", "x"), "quiet": False},
            ["--other", "x", "-c", "4", "--fast", "--no-quiet", "--tones", "z", "--note=y", "--note=x"],
        ),
    ],
)
def test_values_take_the_place_of_what_was_said(values: dict[str, str | bool | tuple[str, ...]], expected) -> None:
    assert replaced(WORDS, ALL, values) == expected


def test_a_form_is_not_filled_with_secrets_or_options_of_another_locustfile() -> None:
    secret = replace(COUNT, name="key", kind="secret", value="")
    asked = RunRequest(arguments={"key": "s3cret", "gone": "1", "count": "5"})
    found = filled_in(asked, Description(classes=(OwnClass("A", 1, 0, "", (TaskNode("t", 1, (), (), False),)),),
                                        picked=("A",), options=(secret, COUNT, FAST)))  # fmt: skip
    assert (found.arguments, found.classes) == ({"count": "5", "fast": False}, ("A",))

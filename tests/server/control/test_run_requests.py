"""What is wished for at the page is what a command line could say, and is judged alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.cli.run import run
from plimsoll.errors import FieldError, SeveralFieldsError, UsageError
from plimsoll.run.options.command import words_of
from plimsoll.run.planning import make_plan
from plimsoll.server.control.description import Description, OwnClass, OwnOption
from plimsoll.server.control.run_requests import RunRequests

if TYPE_CHECKING:
    from plimsoll.run.planned import PlannedRun


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    Path("locustfile.py").write_text("")


def requests_of(*args: str) -> RunRequests:
    words = words_of(run.make_context("run", list(args)))
    return RunRequests(words, *make_plan(words.arguments, words.given))


DESCRIPTION = Description(
    classes=tuple(OwnClass(name, 1.0, 0, "", ()) for name in ("Buyer", "Visitor")),
    options=(
        OwnOption("count", ("-c", "--count"), "text", "", "3", (), False, True, "int", "1"),
        OwnOption("fast", ("--fast",), "checkbox", "", False, (), False, True, "", ""),
        OwnOption("tones", ("--tones",), "multiple", "", ("low",), (), False, True, "", "+"),
        OwnOption("key", ("--own-key",), "secret", "", "", (), False, True, "", "1"),
    ),
)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "a host is needed, as http://127.0.0.1:8000: class Shopper has none"),
        ({"classes": ("Shopper",)}, "a host is needed, as http://127.0.0.1:8000: class Shopper has none"),
        ({"host": "127.0.0.1:8000"}, "host '127.0.0.1:8000' must begin with http:// or https://"),
        ({"host": "localhost:8000", "classes": ("Reader",)}, "host 'localhost:8000' must begin with http:// or https://"),
        ({"class_settings": {"Shopper": {"host": "shop"}}}, "host 'shop' of class Shopper must begin with http:// or https://"),
        ({"host": "http://127.0.0.1:8000"}, ""),
        ({"host": "HTTPS://shop"}, ""),
        ({"classes": ("Reader",)}, ""),
        ({"classes": ("Machine",)}, ""),
        ({"class_settings": {"Shopper": {"host": "http://shop"}}}, ""),
        ({"class_settings": {"Shopper": {"weight": 0}}}, ""),
    ],
)  # fmt: skip
def test_a_host_that_is_missing_is_told_of_its_field(changes: dict[str, Any], message: str) -> None:
    classes = (
        OwnClass("Machine", 1.0, 0, "", ()),
        OwnClass("Reader", 1.0, 0, "http://127.0.0.1:1", (), needs_host=True),
        OwnClass("Shopper", 1.0, 0, "", (), needs_host=True),
    )
    asked = requests_of()
    try:
        asked.planned(replace(asked.request, **changes), Description(classes=classes))
        found = None
    except FieldError as error:
        found = error
    assert (str(found or ""), found and found.field) == (message, "host" if message else None)


def job(args: tuple[str, ...], **changes: Any) -> PlannedRun:
    asked = requests_of(*args)
    return asked.planned(replace(asked.request, **changes), DESCRIPTION)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((), {"model": "closed", "users": 1, "spawn_rate": 1.0, "shape": "constant", "run_time": ""}),
        (("-u", "5", "-r", "2", "-t", "90"), {"users": 5, "spawn_rate": 2.0, "run_time": "1m30s"}),
        (("--rate", "9/s", "-s", "500ms"), {"model": "open", "rate": "9/s", "shape": "constant",
                                           "stop_timeout": "500ms"}),
        (("--steps", "1s:5,1s:9"), {"model": "closed", "shape": "steps", "shape_text": "1s:5,1s:9"}),
        (("--ramp", "1/s..9/s", "-t", "5s"), {"model": "open", "shape": "ramp", "shape_text": "1/s..9/s"}),
        (("-T", "a", "b", "--name", "N", "--threshold", "p99 < 1s"), {"tags": ("a", "b"), "name": "N",
                                                                 "thresholds": ("p99 < 1s",)}),
    ],
)  # fmt: skip
def test_the_form_is_filled_with_the_command_line(args: tuple[str, ...], expected: dict[str, Any]) -> None:
    request = requests_of(*args).request
    assert {name: getattr(request, name) for name in expected} == expected


@pytest.mark.parametrize(
    "args",
    [
        ("-u", "5", "-r", "2", "-t", "90", "-H", "http://h"),
        ("--rate", "9/s", "-t", "5s", "--max-users", "7"),
        ("--rate", "5/s", "-t", "3s", "--warmup", "1s"),
        ("--steps", "1s:5,1s:9"),
        ("http://h/a", "-u", "3"),
        ("http://h/a", "--rate", "3/s", "--spacing", "poisson"),
    ],
)
def test_a_wish_that_is_left_as_it_was_is_the_command_line(args: tuple[str, ...]) -> None:
    asked = requests_of(*args, "--seed", "1")
    plan = asked.planned(asked.request, Description()).plan
    ours = {"command": (), "options": ()}
    assert replace(plan, **ours) == replace(asked.plan, **ours)


def test_a_wish_can_change_to_the_other_model_and_back() -> None:
    opened = job(("-u", "5", "-r", "2"), model="open", rate="50/s", run_time="10s").plan
    assert opened.load is not None
    assert (opened.is_open, opened.seconds) == (True, 10.0)
    closed = job(("--rate", "9/s", "--spacing", "poisson"), model="closed", users=4, spawn_rate=2.0).plan
    assert (closed.is_open, closed.users, closed.spawn_rate) == (False, 4, 2.0)


def test_user_classes_and_options_of_the_locustfile_are_words_of_the_command_line() -> None:
    done = job(
        ("Buyer", "--count", "4", "--own-key", "s3cret", "--inner", "x"),
        classes=("Visitor",),
        arguments={"count": "9", "fast": True, "tones": ("high", "low")},
    )
    words = ("Visitor", "--own-key", "s3cret", "--inner", "x", "--count=9", "--fast", "--tones", "high", "low")
    assert done.plan.arguments == words
    assert done.plan.command[-len(words) :] == words
    assert "--headless" in done.plan.command
    assert "--own-key" in done.outputs.secret


def test_the_command_that_is_kept_says_the_same_again() -> None:
    command = job(
        ("-u", "5", "--processes", "2", "--html", "{u}.html"), users=7, tags=("a",), run_time="90s"
    ).plan.command
    assert command == (
        "plimsoll", "run", "--tags", "a", "--users", "7", "--spawn-rate", "1", "--run-time", "1m30s",
        "--processes", "2", "--html", "{u}.html", "--headless",
    )  # fmt: skip
    asked = requests_of(*command[2:])
    assert (asked.plan.users, asked.plan.tags, asked.plan.run_time) == (7, ("a",), 90.0)


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"users": 0}, "users", "users: 0 is not in the range"),
        ({"run_time": "x"}, "run_time", "run time: "),
        ({"warmup": "x"}, "warmup", "warmup: "),
        ({"model": "open"}, "rate", "a rate, as 900/s, is needed"),
        ({"model": "open", "rate": "x"}, "rate", "rate: "),
        ({"shape": "ramp", "shape_text": "1..5"}, "run_time", "run time is missing: ramp needs one"),
        ({"shape": "spike", "shape_text": ""}, "shape_text", "what the spike is like is needed"),
        ({"shape": "steps", "shape_text": "1s:5/s"}, "shape_text", "this is a rate"),
        ({"model": "open", "shape": "steps", "shape_text": "1s:5"}, "shape_text", "this is a number of users"),
        ({"shape": "plan"}, "shape", "there is no plan"),
        ({"shape": "circle"}, "shape", "there is no shape circle; there are constant, ramp, stages, steps, staircase,"),
        ({"shape": "replay", "shape_text": "times.txt"}, "shape", "there is no shape replay"),
        ({"thresholds": ("p99",)}, "thresholds", ""),
        ({"classes": ("Nobody",)}, "classes", "no user class Nobody"),
        ({"arguments": {"count": "x"}}, "arguments.count", "count: 'x' is not a number"),
        ({"arguments": {"other": "x"}}, "arguments.other", "no option other"),
    ],
)
def test_what_is_wrong_is_told_of_its_field_in_words(changes: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(FieldError) as caught:
        job((), **changes)
    assert (caught.value.field, said in str(caught.value), "--" in str(caught.value)) == (field, True, False)


def test_a_load_that_no_form_can_say_is_run_as_it_is_or_replaced() -> None:
    Path("times.txt").write_text("0\n1\n")
    asked = requests_of("http://h/a", "--replay", "times.txt")
    assert (asked.has_plan, asked.request.shape, asked.is_fixed) == (True, "plan", True)
    assert asked.planned(asked.request, Description()).plan.load == asked.plan.load
    other = asked.planned(replace(asked.request, shape="constant", rate="5/s"), Description()).plan
    assert other.load != asked.plan.load


def test_something_that_is_about_no_field_is_told_all_the_same() -> None:
    with pytest.raises(UsageError):
        job(("--requests", "5", "http://h/a"), model="open", rate="1/s", shape="constant", warmup="-1")


def test_all_fields_that_cannot_be_read_are_told_at_once() -> None:
    with pytest.raises(SeveralFieldsError) as told:
        job((), run_time="soon", warmup="early", thresholds=("p99 << 3",))
    assert [each.field for each in told.value.errors] == ["run_time", "warmup", "thresholds"]

"""From a command line to a plan. What a run then does is asked in tests/run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from plimsoll import __version__
from plimsoll.cli import main
from plimsoll.cli.run import run
from plimsoll.errors import UsageError
from plimsoll.run.plan import RunPlan
from plimsoll.run.planning import make_plan


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("LOCUST_HOST", "LOCUST_USERS", "LOCUST_TAGS", "LOCUST_USER_CLASSES", "LOCUST_HEADLESS"):
        monkeypatch.delenv(name, raising=False)
    Path("locustfile.py").write_text("")


def _plan(*args: str) -> RunPlan:
    context = run.make_context("run", list(args))
    given: dict[str, Any] = dict(context.params)
    return make_plan(tuple(context.meta["settings"]) + given.pop("arguments"), given)[0]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("-H", "http://h"), {"host": "http://h", "users": 1, "spawn_rate": 1.0, "run_time": None, "processes": 1}),
        (("-u", "50", "-r", "2.5", "-t", "1m30s", "-s", "5"), {"users": 50, "spawn_rate": 2.5, "run_time": 90.0,
                                                             "stop_timeout": 5.0}),
        (("--users=7", "--spawn-rate=3", "--run-time=20"), {"users": 7, "spawn_rate": 3.0, "run_time": 20.0}),
        (("-T", "a", "b", "--headless", "Visitor"), {"tags": ("a", "b"), "arguments": ("Visitor",)}),
        (("-E", "a", "-T", "b"), {"exclude_tags": ("a",), "tags": ("b",)}),
        (("Visitor", "--own", "5", "Admin"), {"arguments": ("Visitor", "--own", "5", "Admin")}),
        (("-L", "debug"), {"loglevel": "DEBUG"}),
        (("http://h/a", "-u", "3"), {"source": "http://h/a", "locustfiles": (), "arguments": (), "users": 3,
                                       "spawn_rate": 3.0, "stop_timeout": 10.0}),
        (("--seed", "0"), {"seed": 0}),
    ],
)  # fmt: skip
def test_options_mean_what_they_mean_to_locust(args: tuple[str, ...], expected: dict[str, Any]) -> None:
    plan = _plan(*args)
    assert {name: getattr(plan, name) for name in expected} == expected


def test_minus_one_process_is_one_per_core() -> None:
    assert _plan("--processes", "-1").processes >= 1


def test_a_seed_is_drawn_and_differs() -> None:
    assert _plan().seed != _plan().seed


def test_the_environment_beats_files_and_the_command_line_beats_both(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("locust.conf").write_text("users = 2\nhost = http://file\ntags = [a, b]\nrun-time = 5s\nheadless = true\n")
    assert (_plan().users, _plan().tags, _plan().run_time) == (2, ("a", "b"), 5.0)
    monkeypatch.setenv("LOCUST_USERS", "3")
    monkeypatch.setenv("LOCUST_TAGS", "[c, d]")
    monkeypatch.setenv("LOCUST_USER_CLASSES", "Visitor Admin")
    assert (_plan().users, _plan().tags, _plan().host) == (3, ("c", "d"), "http://file")
    assert _plan().arguments == ("Visitor", "Admin")
    assert (_plan("-u", "4").users, _plan("-T", "e").tags) == (4, ("e",))


def test_settings_that_are_not_ours_are_left_to_the_locustfile() -> None:
    Path("locust.conf").write_text("my-option = 5\nmy-flag\nmy-list = [a, b]\n")
    assert _plan("Visitor").arguments == ("--my-option=5", "--my-flag", "--my-list", "a", "b", "Visitor")


def test_the_file_of_config_is_the_strongest_of_the_files() -> None:
    Path("locust.conf").write_text("users = 2\n")
    Path("own.conf").write_text("users = 9\n")
    assert _plan("--config", "own.conf").users == _plan("--config=own.conf").users == 9


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("a", ("a",)),
        ("a b", ("a b",)),
        ("[a, b c]", ("a", "b c")),
        ('["a, b", 1]', ("a, b", "1")),
        ("[]", ()),
        ("", ()),
        ("[a", ("[a",)),
    ],
)
def test_a_variable_has_one_tag_or_a_list_of_them(monkeypatch: pytest.MonkeyPatch, text: str, tags: object) -> None:
    monkeypatch.setenv("LOCUST_TAGS", text)
    assert _plan().tags == tags


@pytest.mark.parametrize("args", [["--version"], ["-V"], ["-f", "missing.py", "--version"]])
def test_run_prints_the_version(args: list[str]) -> None:
    result = CliRunner().invoke(main, ["run", *args])
    assert (result.exit_code, result.output) == (0, f"plimsoll {__version__}\n")


@pytest.mark.parametrize("args", [("-r", "0"), ("-u", "0"), ("-u", "x"), ("-t", "soon"), ("-L", "LOUD"), ("-r", "inf")])
def test_values_that_make_no_sense_are_refused(args: tuple[str, ...]) -> None:
    with pytest.raises(click.UsageError):
        _plan(*args)


def test_the_help_has_every_option_under_a_heading_and_examples() -> None:
    text = run.get_help(run.make_context("run", [], resilient_parsing=True))
    for heading in ("What to run:", "Load:", "Load shape and open model:", "Results:", "Other:", "Examples:"):
        assert heading in text
    for parameter in run.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert any(name in text for name in parameter.opts), parameter


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("--user", "7", "--run", "5m", "--headles"), {"users": 7, "run_time": 300.0}),
        (("--stop=3",), {"stop_timeout": 3.0}),
        (("--autostart", "--autoquit", "0", "-P", "8090", "--web-host", "127.0.0.1", "--expect-workers", "2"), {}),
        (("--own", "http://h/a"), {"arguments": ("--own", "http://h/a"), "source": None}),
        (("-f", "locustfile.py", "--hosts", "a.com", "b.com"), {"arguments": ("--hosts", "a.com", "b.com")}),
    ],
)
def test_what_locusts_users_write_is_understood(args: tuple[str, ...], expected: dict[str, Any]) -> None:
    plan = _plan(*args)
    assert {name: getattr(plan, name) for name in expected} == expected


def test_a_url_does_not_go_with_a_locustfile() -> None:
    with pytest.raises(UsageError, match="named with -H http://h/a"):
        _plan("-f", "locustfile.py", "http://h/a")


def test_what_could_be_two_options_is_not_guessed() -> None:
    assert _plan("--web", "x").arguments == ("--web", "x"), "--web-host, --web-port, …"
    assert _plan("--thresh", "x").arguments == ("--thresh", "x"), "Locust has no such option"


def test_an_option_that_the_locustfile_has_too_is_the_locustfiles() -> None:
    Path("locustfile.py").write_text(
        "def add(parser):\n    parser.add_argument('--seed')\n    parser.add_argument('--users')\n"
    )
    plan = _plan("--seed", "abc", "--users", "3")
    assert (plan.arguments, plan.users) == (("--seed", "abc"), 3), "Locust's own stay Locust's"
    assert _plan("http://h/a", "--seed", "5").seed == 5, "it is not run here"


def test_user_classes_are_configured_by_json_or_by_files_of_it() -> None:
    Path("users.json").write_text('[{"user_class_name": "Admin", "fixed_count": 1}]')
    plan = _plan("--config-users", '{"user_class_name": "Buyer", "weight": 3}', "users.json")
    assert dict(plan.options)["config_users"] == [
        {"user_class_name": "Buyer", "weight": 3}, {"user_class_name": "Admin", "fixed_count": 1},
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["{", "[1]", "{}", "none.json"])
def test_a_configuration_of_user_classes_that_is_none_is_told(text: str) -> None:
    with pytest.raises(UsageError, match=r"--config-users|user_class_name"):
        _plan("--config-users", text)

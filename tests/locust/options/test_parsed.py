from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.locust.options.parsed import (
    UnknownOptionError,
    default_args_dict,
    get_locustfiles_locally,
    make_parser,
    parse,
    parse_locustfile_option,
    parse_options,
    settle,
    ui_extra_args_dict,
)
from plimsoll.run.plan import RunPlan
from plimsoll.users.events import EventHook, events

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.locust.options.parser import LocustArgumentParser


def test_the_plan_is_there_by_locusts_names() -> None:
    plan = RunPlan(host="http://h", users=5, spawn_rate=2.0, tags=("a",), options=(("csv_prefix", "x"),))
    options = parse(make_parser(), plan)
    assert (options.host, options.num_users, options.spawn_rate, options.tags) == ("http://h", 5, 2.0, ["a"])
    assert (options.csv_prefix, options.exclude_tags, options.user_classes) == ("x", None, [])


def test_options_of_the_locustfile_are_told_from_user_classes() -> None:
    parser = make_parser()
    parser.add_argument("--product", type=int, default=1, include_in_web_ui=False, is_secret=True)
    parser.add_argument_group("more").add_argument("--fast", action="store_true", include_in_web_ui=False)
    options = parse(parser, RunPlan(arguments=("--product", "7", "Shopper", "--fast", "Admin")))
    assert (options.product, options.fast, options.user_classes) == (7, True, ["Shopper", "Admin"])


@pytest.mark.parametrize(
    ("settings", "text", "value"),
    [
        ({"type": int}, "8", 8),
        ({"action": "store_true"}, "true", True),
        ({"action": "store_true"}, "0", False),
        ({"nargs": "*"}, "a b", ["a b"]),
        ({"nargs": "*"}, "[a, b]", ["a", "b"]),
        ({"action": "append"}, "[a, b]", ["a", "b"]),
        ({"required": True}, "x", "x"),
    ],
)
def test_an_option_has_its_value_from_its_variable_unless_it_is_given(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, object], text: str, value: object
) -> None:
    monkeypatch.setenv("MY_OPTION", text)
    parser = make_parser()
    parser.add_argument("--mine", env_var="MY_OPTION", **settings)
    assert parse(parser, RunPlan()).mine == value


def test_an_option_that_nobody_knows_is_named_without_its_value() -> None:
    with pytest.raises(UnknownOptionError, match=r"^--prodict$"):
        parse(make_parser(), RunPlan(arguments=("--prodict=5",)))


@pytest.mark.parametrize(
    ("arguments", "message"), [(("--product", "x"), "invalid int value"), ((), "required: --product")]
)
def test_a_value_that_the_option_refuses_is_an_error_of_usage(arguments: tuple[str, ...], message: str) -> None:
    parser = make_parser()
    parser.add_argument("--product", type=int, required=True)
    with pytest.raises(UsageError, match=message):
        parse(parser, RunPlan(arguments=arguments))


def test_every_name_of_locust_is_there_as_locust_has_it() -> None:
    options = vars(parse(make_parser(), RunPlan(locustfiles=("/x/a.py",), users=3, spawn_rate=2.0, run_time=1.0)))
    # What `locust -f /x/a.py --headless -u 3 -r 2 -t 1s` of Locust 2.47.0 shows a listener of test_start.
    assert {name: value for name, value in options.items() if value not in (None, False, "", [])} == {
        "autoquit": -1,
        "exit_code_on_error": 1,
        "expect_workers": 1,
        "headless": True,
        "locustfile": "/x/a.py",
        "loglevel": "INFO",
        "master_bind_host": "*",
        "master_bind_port": 5557,
        "master_host": "127.0.0.1",
        "master_port": 5557,
        "num_users": 3,
        "run_time": 1,
        "spawn_rate": 2.0,
        "web_port": 8089,
    }
    assert set(options) == {*default_args_dict(), "slave", "expect_slaves", "web_auth", "legacy_ui"}
    assert (type(options["run_time"]), options["stop_timeout"], type(options["stop_timeout"])) == (int, 0, int)


def test_workers_and_the_main_node_see_their_roles() -> None:
    plan = RunPlan(processes=3, run_time=5.0, options=(("csv_prefix", "x"),))
    worker, main = (parse(make_parser(), plan, role) for role in ("worker", "main"))
    shown = [(each.worker, each.master, each.run_time, each.csv_prefix, each.expect_workers) for each in (worker, main)]
    assert shown == [(True, False, None, None, 3), (False, True, 5, "x", 3)]


def test_a_locustfile_may_change_defaults_but_not_what_the_command_line_says() -> None:
    parser = make_parser()
    parser.set_defaults(host="http://a", spawn_rate=20, run_time="60s", stop_timeout=3, loglevel="DEBUG")
    plan = RunPlan(options=(("num_users", 7), ("spawn_rate", None), ("run_time", None)), users=7)
    options = parse(parser, plan)
    assert (options.host, options.num_users, options.loglevel) == ("http://a", 7, "DEBUG")
    assert settle(options, plan) == {"spawn_rate": 20.0, "run_time": 60.0, "stop_timeout": 3.0}
    said = replace(
        plan, host="http://b", spawn_rate=2.0, options=(("num_users", 7), ("spawn_rate", 2.0)), stop_timeout=1
    )
    options = parse(parser, said)
    assert (options.host, settle(options, said)) == ("http://b", {"run_time": 60.0})


def test_what_nobody_says_is_one_user_when_the_test_starts() -> None:
    plan = RunPlan(options=(("num_users", None), ("spawn_rate", None), ("config_users", []), ("autoquit", 0)))
    options = parse(make_parser(), plan)
    assert (options.num_users, options.spawn_rate, options.config_users, options.autoquit) == (None, None, None, 0)
    assert settle(options, plan) == {}
    assert (options.num_users, options.spawn_rate) == (1, 1)
    options.num_users = 1000
    assert settle(options, plan) == {"users": 1000}


def test_a_program_of_ones_own_parses_like_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(events, "init_command_line_parser", EventHook())
    (tmp_path / "locust.conf").write_text("users = 5\nmine: 3\nheadless\ntags = [a, b]\n")

    @events.init_command_line_parser.add_listener
    def add(parser: LocustArgumentParser, **_: Any) -> None:
        parser.add_argument("--mine", type=int, help="of mine", is_secret=True, choices=[3, 4])
        parser.add_argument("--hidden", include_in_web_ui=False, default="x")

    options = parse_options(["-r", "2"])
    assert (options.num_users, options.spawn_rate, options.mine, options.headless) == (5, 2.0, 3, True)
    assert options.tags == ["a", "b"]
    assert default_args_dict()["num_users"] is None
    assert ui_extra_args_dict([]) == {
        "mine": {
            "default_value": 3,
            "is_secret": True,
            "is_required": False,
            "help_text": "of mine",
            "is_multiple": False,
            "choices": [3, 4],
        }
    }


def test_the_locustfile_is_known_before_its_options_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").touch()
    options = parse_locustfile_option(["-f", "mine.py", "--of-its-own", "1", "-u", "3"])
    assert (options.locustfile, options.num_users) == ("mine.py", 3)
    assert get_locustfiles_locally(options) == [str(tmp_path / "mine.py")]


def test_full_history_needs_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        parse_options(["--csv-full-history"])
    assert "'--csv-full-history' requires '--csv'" in capsys.readouterr().err

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.locust.options.parser import LocustArgumentParser

if TYPE_CHECKING:
    from pathlib import Path


def make(*names: str, **settings: Any) -> LocustArgumentParser:
    parser = LocustArgumentParser(prog="locust")
    parser.add_argument(*names, **settings)
    return parser


@pytest.mark.parametrize(
    ("settings", "text", "value"),
    [
        ({"type": int}, "8", 8),
        ({"type": int, "default": 3}, None, 3),
        ({"action": "store_true"}, "Yes", True),
        ({"action": "store_true"}, "off", False),
        ({"action": "store_false"}, "1", False),
        ({"action": "store_const", "const": 9}, "on", 9),
        ({"action": "count", "default": 0}, "3", 3),
        ({"action": argparse.BooleanOptionalAction, "default": True}, "no", False),
        ({"nargs": "+", "type": int}, "[1, 2]", [1, 2]),
        ({"nargs": 2}, "[a,b]", ["a", "b"]),
        ({"nargs": "*"}, "a b", ["a b"]),
        ({"nargs": "*"}, '["a, b", 1]', ["a, b", "1"]),
        ({"nargs": "*"}, "[]", []),
        ({"nargs": "*", "default": ["z"]}, "", ["z"]),
        ({"action": "append"}, "[a, b c]", ["a", "b c"]),
        ({}, "[a, b]", "[a, b]"),
        ({"action": "append", "default": ["z"]}, "a", ["z", "a"]),
    ],
)
def test_a_variable_does_what_the_option_would(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], text: str | None, value: object
) -> None:
    if text is not None:
        monkeypatch.setenv("MINE", text)
    assert make("-m", "--mine", env_var="MINE", **settings).parse_args([]).mine == value


@pytest.mark.parametrize("words", [["--mine", "2"], ["--mine=2"], ["-m2"], ["-m", "2"]])
def test_the_command_line_is_stronger(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setenv("MINE", "1")
    assert make("-m", "--mine", env_var="MINE").parse_args(words).mine == "2"
    assert make("-m", "--mine", env_var="MINE", action="append").parse_args(words).mine == ["2"]


@pytest.mark.parametrize(
    ("settings", "text", "message"),
    [
        ({"action": "store_true"}, "perhaps", "Unexpected value for MINE: 'perhaps'"),
        ({"type": int}, "x", "argument --mine: invalid int value: 'x'"),
        ({"choices": ["a"]}, "b", "invalid choice: 'b'"),
        ({"nargs": "?"}, "[a, b]", "MINE can't be a list"),
    ],
)
def test_a_senseless_variable_is_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    settings: dict[str, Any],
    text: str,
    message: str,
) -> None:
    monkeypatch.setenv("MINE", text)
    with pytest.raises(SystemExit, match="2"):
        make("--mine", env_var="MINE", **settings).parse_args([])
    assert message in capsys.readouterr().err


def test_a_required_option_may_come_from_its_variable_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = make("--mine", required=True, env_var="MINE")
    monkeypatch.setenv("MINE", "x")
    assert parser.parse_args([]).mine == "x"
    monkeypatch.delenv("MINE")
    with pytest.raises(SystemExit):
        parser.parse_args([])


def test_groups_know_the_extra_arguments_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "x")
    parser = LocustArgumentParser(add_help=False)
    parser.add_argument_group("more").add_argument("--a", env_var="MINE", is_secret=True)
    parser.add_argument_group("again").add_mutually_exclusive_group().add_argument("--b", is_multiple=True)
    parser.add_mutually_exclusive_group().add_argument("--c", is_required=True, include_in_web_ui=False)
    parser.add("--d", is_required=True)
    assert vars(parser.parse_args([])) == {"a": "x", "b": None, "c": None, "d": None}
    assert set(parser.args_included_in_web_ui) == {"a", "b", "d"}
    assert list(parser.secret_args_included_in_web_ui) == ["a"]
    assert list(parser.multiple_args_included_in_web_ui) == ["b"]
    assert list(parser.required_args_included_in_web_ui) == ["d"]


def test_arguments_of_configargparse_are_accepted() -> None:
    parser = LocustArgumentParser(add_env_var_help=False, config_file_parser_class=object, description="x")
    assert parser.description == "x"


def test_an_unknown_option_is_told_with_the_one_that_may_be_meant(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        make("--spawn-rate").parse_args(["--spwan-rate", "1"])
    assert capsys.readouterr().err == (
        "locust: error: unrecognized arguments: --spwan-rate 1\nDid you mean '--spawn-rate'?\n"
    )


def test_files_are_weaker_than_variables_and_may_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("B", "variable")
    (tmp_path / "locust.conf").write_text("a = file\nb = file\nc = file\n")
    (tmp_path / "more.conf").write_text("c = more\nd = [x, y]\n")
    parser = LocustArgumentParser(default_config_files=["locust.conf"], prog="locust")
    parser.add_argument("--config", is_config_file_arg=True)
    for name in "abc":
        parser.add_argument(f"--{name}", env_var=name.upper())
    parser.add_argument("--d", nargs="*")
    for words in (["--config", "more.conf"], ["--config=more.conf"]):
        parsed = parser.parse_args([*words, "--a", "command"])
        assert (parsed.a, parsed.b, parsed.c, parsed.d) == ("command", "variable", "more", ["x", "y"])
    (tmp_path / "locust.conf").write_text("unheard-of = 1\n")
    assert parser.parse_known_args([])[1] == ["--unheard-of=1"]

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import UsageError
from plimsoll.run.options.config import parse, read_named, read_settings


@pytest.mark.parametrize(
    ("line", "settings"),
    [
        ("users = 100", {"users": "100"}),
        ("users: 100", {"users": "100"}),
        ("users 100", {"users": "100"}),
        ("--users=100", {"users": "100"}),
        ("headless", {"headless": "true"}),
        ("headless = true", {"headless": "true"}),
        ("spawn_rate = 5", {"spawn-rate": "5"}),
        ("host = http://localhost:8000/a#b", {"host": "http://localhost:8000/a#b"}),
        ("host http://localhost:8000", {"host": "http://localhost:8000"}),
        ("users = 5 # many", {"users": "5"}),
        ('name = "two words"', {"name": "two words"}),
        ("tags = [a, 'b c']", {"tags": ["a", "b c"]}),
        ('tags = ["a, b", 1]', {"tags": ["a, b", "1"]}),
        ('config-users = [{"a": 1}]', {"config-users": ['{"a": 1}']}),
        ("tags = []", {"tags": []}),
        ("tags =", {"tags": ""}),
        ("[section]", {}),
        ("# comment", {}),
        ("; comment", {}),
        ("", {}),
    ],
)
def test_the_spellings_of_configargparse(line: str, settings: dict[str, object]) -> None:
    assert parse([line], "x") == settings


def test_what_is_not_understood_is_shown_with_its_place() -> None:
    with pytest.raises(UsageError, match="x:2: not understood: = 5"):
        parse(["users = 1", "= 5"], "x")


def test_later_files_win(tmp_path: Path) -> None:
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    (home / ".locust.conf").write_text("users = 1\nhost = a\nspawn-rate = 1\nrun-time = 1\n")
    (here / "locust.conf").write_text("users = 2\nhost = b\nspawn-rate = 2\n")
    (here / "pyproject.toml").write_text('[tool.locust]\nusers = 3\nhost = "c"\nheadless = true\ntags = ["x", "y"]\n')
    own = tmp_path / "own.conf"
    own.write_text("users = 4\n")
    assert read_settings(str(own), home, here) == {
        "users": "4", "host": "c", "spawn-rate": "2", "run-time": "1", "headless": "true", "tags": ["x", "y"],
    }  # fmt: skip


def test_without_files_there_are_no_settings(tmp_path: Path) -> None:
    assert read_settings(None, tmp_path, tmp_path) == {}


@pytest.mark.parametrize("name", ["gone.conf", "bad.toml"])
def test_a_file_that_was_asked_for_must_be_readable(tmp_path: Path, name: str) -> None:
    (tmp_path / "bad.toml").write_text("not [toml")
    with pytest.raises(UsageError, match=name):
        read_settings(str(tmp_path / name), tmp_path, tmp_path)


@pytest.mark.parametrize("text", ["tool = 5", "[tool]\nlocust = []", "[[tool.locust]]\nusers = 5", "tool = [{}]"])
def test_a_toml_file_with_something_else_in_place_of_the_table_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(UsageError, match=r"pyproject.toml: (tool|locust) must be a table: the options are in"):
        read_settings(None, tmp_path / "home", tmp_path)


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b'[tool.locust]\nhost = "\xff"')
    with pytest.raises(UsageError, match=r"cannot read .*pyproject\.toml: 'utf-8' codec"):
        read_settings(None, tmp_path / "home", tmp_path)


def test_of_files_that_a_program_names_the_last_is_the_strongest(tmp_path: Path) -> None:
    for name, text in (("a.conf", "users = 7\nhost = http://a"), ("b.conf", "users = 8"), ("own", "users = 9")):
        (tmp_path / name).write_text(text)
    first, second = str(tmp_path / "a.conf"), str(tmp_path / "b.conf")
    assert read_named([first, second], None) == {"users": "8", "host": "http://a"}
    assert read_named([second, first, str(tmp_path / "none")], None)["users"] == "7"
    assert read_named([str(tmp_path / "*.conf")], str(tmp_path / "own"))["users"] == "9"

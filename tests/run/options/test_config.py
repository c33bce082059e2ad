from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import UsageError
from plimsoll.run.options.config import parse, read_settings


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

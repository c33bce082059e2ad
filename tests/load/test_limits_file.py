from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import UsageError
from plimsoll.load import limits_file
from plimsoll.load.guard_rails import NO_RAILS, Cap, GuardRails, HostPatterns
from plimsoll.load.limits_file import machine_rails
from plimsoll.users import hub as hubs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "limits.toml"
    monkeypatch.setattr(limits_file, "LIMITS_FILE", path)
    return path


def test_without_the_file_there_are_no_limits(file: Path) -> None:
    assert machine_rails() == NO_RAILS


def test_all_that_it_may_say(file: Path) -> None:
    file.write_text(
        'allow_hosts = ["*.example.com", "10.0.0.0/8"]\nmax_rate = "6000/m"\nmax_users = 200\n'
        'max_run_time = "30m"\nrequire_identify = true\n'
    )
    path = str(file)
    assert machine_rails() == GuardRails(
        (HostPatterns(("*.example.com", "10.0.0.0/8"), path),),
        Cap(100.0, path),
        Cap(200.0, path),
        Cap(1800.0, path),
        path,
    )


def test_an_empty_file_limits_nothing(file: Path) -> None:
    file.write_text("")
    assert machine_rails() == NO_RAILS


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("max_users = 0", ":1: max_users: must be at least 1, not 0"),
        ('\nmax_users = "many"', ":2: max_users: must be a whole number"),
        ("max_rate = 0", ":1: max_rate: is zero"),
        ('max_run_time = "0s"', ":1: max_run_time: must be longer than 0"),
        ("allow_hosts = []", ":1: allow_hosts: allows no host at all"),
        ('allow_hosts = ["a", "*"]', ':1: allow_hosts: "*": this would allow every host'),
        ('allow_hosts = "a.example"', ":1: allow_hosts: must be a list"),
        ('allow_host = ["a"]', ":1: allow_host: is not a known field; did you mean allow_hosts?"),
        ("max_users = ", ":1: not TOML"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_nothing_is_allowed(file: Path, text: str, complaint: str) -> None:
    file.write_text(text)
    with pytest.raises(UsageError) as error:
        machine_rails()
    assert str(error.value).startswith(f"{file}{complaint}"), error.value


def test_a_file_that_cannot_be_read_is_an_error_and_not_the_lack_of_limits(file: Path) -> None:
    file.symlink_to(file.parent / "nowhere")
    with pytest.raises(UsageError, match=f"cannot read {file}"):
        machine_rails()
    file.unlink()
    file.mkdir()
    with pytest.raises(UsageError, match=f"cannot read {file}"):
        machine_rails()


def test_no_variable_names_another_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("max_users = 5")
    for name in ("PLIMSOLL_LIMITS", "PLIMSOLL_LIMITS_FILE", "LIMITS_FILE", "HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, os.devnull)
    assert machine_rails().max_users == Cap(5.0, str(file))


def test_sessions_without_a_run_keep_to_the_allowed_hosts_too(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("max_users = 0")
    monkeypatch.setattr(hubs, "_current", None)
    with pytest.raises(UsageError, match="max_users"):
        hubs.current()

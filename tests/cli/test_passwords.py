"""No message of a command repeats the password of a URL that it was given, whatever is wrong with it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from plimsoll.cli import main

if TYPE_CHECKING:
    from pathlib import Path

PASSWORD = "S3cr3tPw"
URLS = {
    "a blank": f"http://ann:{PASSWORD} x@host/",
    "an unknown scheme": f"htp://ann:{PASSWORD}@host",
    "a bad port": f"http://ann:{PASSWORD}@host:port/",
    "no scheme": f"ann:{PASSWORD}@host:80",
}
COMMANDS = {
    "a target": ["run", "{}"],
    "a locustfile": ["run", "-f", "{}"],
    "a store": ["runs", "--store", "{}"],
    "a thing to observe": ["run", "http://127.0.0.1:1/", "--headless", "-t", "1s", "--observe", "{}"],
    "a probe": ["run", "http://127.0.0.1:1/", "--headless", "-t", "1s", "--observe=prometheus+{}"],
    "a time": ["run", "http://127.0.0.1:1/", "-t", "{}"],
    "a run": ["show", "{}"],
    "an import": ["import", "{}"],
    "no option": ["run", "http://127.0.0.1:1/", "--no-such-option={}"],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("mistake", URLS)
def test_a_password_is_not_repeated(
    mistake: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [each.format(URLS[mistake]) for each in COMMANDS[command]]
    monkeypatch.setattr(sys, "argv", ["plimsoll", *words])
    result = CliRunner().invoke(main, words)
    assert PASSWORD not in result.output, result.output
    assert "Traceback" not in result.output

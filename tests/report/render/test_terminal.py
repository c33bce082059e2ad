from __future__ import annotations

import io
import re

import pytest

from plimsoll.report.render.terminal import alarming, shows_ansi, struck


class Tty(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "term", "expected"),
    [
        (Tty(), "xterm-256color", True),
        (Tty(), "dumb", False),
        (Tty(), "", False),
        (io.StringIO(), "xterm", False),
    ],
)
def test_only_a_terminal_that_knows_how_shows_it(stream, term, expected, monkeypatch):
    monkeypatch.setenv("TERM", term)
    assert shows_ansi(stream) == expected


def test_numbers_are_struck_through_and_nothing_else_changes():
    assert struck("12.5") == "\x1b[9m12.5\x1b[29m"


def test_alarm_is_red_where_colors_are_wanted(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert alarming("INVALID") == "\x1b[1;31mINVALID\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert alarming("INVALID") == "\x1b[1mINVALID\x1b[0m"
    assert re.sub(r"\x1b\[[0-9;]*m", "", alarming("a b")) == "a b"

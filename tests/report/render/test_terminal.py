from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.long_texts import count_steps

from plimsoll.report.render.terminal import TextColumn, alarming, render, shows_ansi
from plimsoll.report.text import cells

COLUMNS = [
    TextColumn("Method"),
    TextColumn("Name", least=6),
    TextColumn("# Requests", right=True),
    TextColumn("Failures/s", right=True),
]
ROWS = [["GET", "/", "12", "0.00"], ["POST", "/accounts/[id]/orders", "3", "12.50"]]


def test_with_room_titles_stand_on_one_line():
    assert render(COLUMNS, ROWS, 60) == [
        "Method  Name                   # Requests  Failures/s",
        "-----------------------------------------------------",
        "GET     /                              12        0.00",
        "POST    /accounts/[id]/orders           3       12.50",
    ]


def test_without_room_titles_are_broken_then_names_are_cut():
    assert render(COLUMNS, ROWS, 46) == [
        "                                    # Failures",
        "Method Name                  Requests       /s",
        "----------------------------------------------",
        "GET    /                           12     0.00",
        "POST   /accounts/[id]/orders        3    12.50",
    ]
    assert render(COLUMNS, ROWS, 36)[-1] == "POST   /accounts/…        3    12.50"


def test_no_column_is_cut_below_its_least():
    assert render(COLUMNS, ROWS, 1)[-1].split() == ["POST", "/acco…", "3", "12.50"]


def test_columns_are_left_out_the_least_needed_first():
    columns = [TextColumn("Name"), *(TextColumn(name, drop=drop) for name, drop in (("a", 2), ("b", 1), ("c", 3)))]
    rows = [["/accounts", "1", "2", "3"]]
    assert [render(columns, rows, width)[0].split() for width in (20, 14, 12)] == [
        ["Name", "a", "b", "c"], ["Name", "a", "c"], ["Name", "c"],
    ]  # fmt: skip


def test_a_table_without_rows():
    assert render(COLUMNS, [], 80)[0] == "Method  Name  # Requests  Failures/s"


@given(
    rows=st.lists(st.lists(st.text("ab/µ漢", max_size=30), min_size=4, max_size=4), max_size=4),
    width=st.integers(30, 90),
)
def test_lines_fit_whenever_cutting_can_make_them_fit(rows, width):
    columns = [TextColumn("A", least=3), TextColumn("B", least=3), TextColumn("C", least=3), TextColumn("D", least=3)]
    assert all(cells(line) <= width for line in render(columns, rows, width))


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


def test_alarm_is_red_where_colors_are_wanted(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert alarming("INVALID") == "\x1b[1;31mINVALID\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert alarming("INVALID") == "\x1b[1mINVALID\x1b[0m"
    assert re.sub(r"\x1b\[[0-9;]*m", "", alarming("a b")) == "a b"


def test_a_long_cell_is_cut_in_few_steps():
    columns = [TextColumn("a", least=3), TextColumn("b", least=3), TextColumn("c", least=10)]
    rows = [["x" * 1_000_000, "y" * 999_990, "z" * 7]]
    assert render(columns, rows, 31)[-1] == f"{'x' * 10}… {'y' * 10}… {'z' * 7}"
    assert render(columns, rows, 30)[-1] == f"{'x' * 9}… {'y' * 10}… {'z' * 7}"
    assert count_steps(lambda: render(columns, rows, 30)) < 1_000

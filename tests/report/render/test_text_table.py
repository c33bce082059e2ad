from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.report.render.text_table import TextColumn, render
from plimsoll.report.text import cells, cut, one_line

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
    assert render(COLUMNS, ROWS, 36)[-1] == "POST   /acco…rders        3    12.50"


def test_a_mark_is_on_numbers_only_and_does_not_move_anything():
    def mark(text):
        return f"<{text}>"

    plain, marked = render(COLUMNS, ROWS, 46), render(COLUMNS, ROWS, 46, mark)
    assert marked[-1] == "POST   /accounts/[id]/orders        <3>    <12.50>"
    assert [line.replace("<", "").replace(">", "") for line in marked] == plain
    assert marked[:3] == plain[:3]


def test_what_is_empty_has_no_mark():
    assert render(COLUMNS, [["GET", "/", "", "1"]], 60, "<{}>".format)[-1].split() == ["GET", "/", "<1>"]


def test_no_column_is_cut_below_its_least():
    assert render(COLUMNS, ROWS, 1)[-1].split() == ["POST", "/a…ers", "3", "12.50"]


@pytest.mark.parametrize("width", [0, -4])
def test_without_any_room_nothing_is_left(width):
    assert cut("abc", width) == ""


def test_a_table_without_rows():
    assert render(COLUMNS, [], 80)[0] == "Method  Name  # Requests  Failures/s"


@given(
    rows=st.lists(st.lists(st.text("ab/µ漢", max_size=30), min_size=4, max_size=4), max_size=4),
    width=st.integers(30, 90),
)
def test_lines_fit_whenever_cutting_can_make_them_fit(rows, width):
    columns = [TextColumn("A", least=3), TextColumn("B", least=3), TextColumn("C", least=3), TextColumn("D", least=3)]
    assert all(cells(line) <= width for line in render(columns, rows, width))


def test_both_ends_of_a_name_are_kept():
    assert cut("/accounts/[id]/orders", 11) == "/acco…rders"
    assert cut("short", 5) == "short"


@given(text=st.text(max_size=30), width=st.integers(1, 40))
def test_what_is_cut_fits(text, width):
    assert cells(cut(text, width)) <= max(width, 1)


def test_wide_characters_take_two_cells_and_combining_ones_none():
    assert [cells(text) for text in ("abc", "µ…", "漢字", "e\u0301")] == [3, 2, 4, 1]


def test_a_message_cannot_steer_the_terminal():
    assert one_line("a\n  b\tc \x1b[31mred\x07") == "a b c \ufffd[31mred\ufffd"

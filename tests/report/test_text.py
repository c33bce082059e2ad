from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.long_texts import count_steps

from plimsoll.plain_text import one_line
from plimsoll.report.text import UNLIMITED, cells, cut, room


def test_a_name_is_cut_at_its_end():
    assert cut("/accounts/[id]/orders", 11) == "/accounts/…"
    assert cut("short", 5) == "short"


def test_what_is_no_terminal_has_all_the_room(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert room(io.StringIO()) == UNLIMITED
    monkeypatch.setenv("COLUMNS", "70")
    assert room(io.StringIO()) == 70


@given(text=st.text(max_size=30), width=st.integers(1, 40))
def test_what_is_cut_fits(text, width):
    assert cells(cut(text, width)) <= max(width, 1)


def test_wide_characters_take_two_cells_and_combining_ones_none():
    assert [cells(text) for text in ("abc", "µ…", "漢字", "e\u0301")] == [3, 2, 4, 1]


def test_a_message_cannot_steer_the_terminal():
    assert one_line("a\n  b\tc \x1b[31mred\x07") == "a b c \ufffd[31mred\ufffd"


@pytest.mark.parametrize("width", [0, -4])
def test_without_any_room_nothing_is_left(width):
    assert cut("abc", width) == ""


def test_groups_of_digits_stay_together():
    assert one_line(" 8\u00a0579  requests\n") == "8\u00a0579 requests"


def test_what_is_cut_is_not_measured_to_its_end():
    text = "漢" * 1_000_000
    assert cut(text, 9) == "漢漢漢漢…"
    assert count_steps(lambda: cut(text, 9)) < 100


def test_combining_characters_belong_to_what_they_stand_on():
    assert cut("e\u0301e\u0301e\u0301", 2) == "e\u0301…"
    assert cut("e\u0301e\u0301", 2) == "e\u0301e\u0301"

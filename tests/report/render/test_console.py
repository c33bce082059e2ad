from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.report.studies import SAMPLES, ladder, rates

from plimsoll.report.document.blocks import (
    Answer,
    Block,
    Details,
    Doubts,
    Facts,
    Figures,
    NamedValue,
    Notes,
    Panel,
    Paragraph,
    Preformatted,
    ReportDocument,
    Section,
    TableBlock,
    TableColumn,
    TableData,
    TableRow,
    Tabs,
)
from plimsoll.report.document.study import study_document
from plimsoll.report.render.console import console
from plimsoll.report.text import cells
from plimsoll.stats.analysis import Analysis


def document(*blocks: Block) -> ReportDocument:
    return ReportDocument("T", (), blocks, (), (), {}, "")


def drawn(*blocks: Block, width: int = 40) -> str:
    return console(document(*blocks), width).removeprefix("T\n=").strip("\n")


def study(analysis: Analysis, width: int, *, colour: bool = False) -> str:
    return console(study_document(analysis, scope="text", charts=False), width, colour=colour)


def table(*rows: TableRow, use: str = "") -> TableBlock:
    columns = (TableColumn("Name", is_text=True, room="long", use=use), TableColumn("n"))
    return TableBlock(TableData("Caption", columns, rows, "a note"))


def test_a_section_has_its_title_and_one_without_text_has_none():
    figures = Section("b", "B", (Figures(("chart",)), Details("more", (Figures(("chart",)),))))
    found = ReportDocument("A", ("line",), (), (Section("a", "S", (Paragraph("p"),)), figures), (), {}, "")
    assert console(found, 40) == "A\n=\nline\n\nS\n-\np"


def test_blocks():
    assert drawn(Answer(("`b` is faster.", "`c` is not."))) == "b is faster.\n- c is not."
    assert drawn(Facts((NamedValue("runs", "4"), NamedValue("failed", "none")), "status")) == "runs: 4; failed: none"
    assert drawn(Facts((NamedValue("kernel", "6.1"),))) == "- kernel: 6.1"
    assert drawn(Doubts("Fine", False, (), ("small",))) == "Fine\n- small"
    assert drawn(Notes(("¹ why",), ("line",))) == "- ¹ why\n- line"
    assert drawn(Tabs("t", (Panel("one", (Paragraph("p"),)), Panel("two", (Figures(("x",)),))))) == "one\n\np"


def test_a_table_has_its_caption_a_rule_above_the_total_and_its_note():
    assert drawn(table(TableRow(("a", "1")), TableRow(("all", "2"), "total"))) == (
        "Caption\nName  n\n-------\na     1\n-------\nall   2\na note"
    )


def test_rows_that_have_something_in_common_stand_below_it():
    rows = [TableRow((name, number)) for name, number in (("GET /a", "1"), ("GET /a", "2"), ("GET /b", "3"))]
    assert drawn(table(*rows, use="group")).splitlines()[1:-1] == [
        "  n", "---", "GET /a", "  1", "  2", "GET /b", "  3",
    ]  # fmt: skip


def test_what_is_folded_is_shown_unless_something_else_stands_for_it():
    text = Preformatted("\n".join(map(str, range(25))))
    assert drawn(Paragraph("p"), Details("plan", (text,))).splitlines()[-2:] == ["  19", "  … and 5 more lines"]
    assert drawn(Details("8 × boom", (text,), soft="a.py:12")) == "8 × boom\n  a.py:12"


def test_what_must_not_be_used_is_said_first_and_last():
    lines = drawn(Doubts("Broken", True, ("why",)), Paragraph("p")).splitlines()
    assert (lines[0], lines[-1]) == ("Broken", "Broken")


def test_a_number_keeps_its_unit():
    assert drawn(Paragraph("resolves ±5 % now, ±5 % needs 3 pairs"), width=30) == (
        "resolves ±5 % now, ±5 % needs\n3 pairs"
    )


@pytest.mark.parametrize("name", SAMPLES)
def test_80_columns_are_enough(name):
    assert [line for line in study(SAMPLES[name](), 80).splitlines() if cells(line) > 80] == []


def test_details_and_evidence_are_named_and_not_shown():
    text = study(ladder(), 200)
    last = " ".join(text[text.rindex("Also in the report") :].split())
    assert last.startswith("Also in the report (--format md or html): ")
    assert "Verdicts" in last
    assert "p=.13" not in text


def test_colour_is_for_what_is_bad_and_changes_no_letter():
    plain, coloured = study(rates(), 80), study(rates(), 80, colour=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31m2 of 12 runs did not get the load that was asked for\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    assert "\x1b[1;31m32 % slower\x1b[0m" in study(ladder(), 100, colour=True)


def test_a_target_cannot_steer_the_terminal():
    found = ladder().study
    trials = tuple(
        replace(each, endpoints=tuple(replace(row, name="/\x1b[2J\r") for row in each.endpoints))
        for each in found.trials
    )
    named = replace(found, name="a\x1b[2Jb", question="\x1b]0;title\x07?", trials=trials, warnings=("w\x1b[2J",))
    for shape in ("ladder", "operations"):
        text = study(Analysis(replace(named, shape=shape), (), ()), 80)
        assert not {"\x1b", "\x07", "\r"} & set(text)

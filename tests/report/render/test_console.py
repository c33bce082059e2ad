from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.report.studies import SAMPLES, ladder, rates

from plimsoll.report.analysis.build import build
from plimsoll.report.analysis.document import Bullet, Bullets, Document, Heading, Paragraph, Pictures, Table, Verbatim
from plimsoll.report.render.console import console
from plimsoll.report.render.text_table import Column
from plimsoll.report.text import cells
from plimsoll.stats.analysis import Analysis


def drawn(*blocks, width: int = 40) -> str:
    return console(Document(blocks), width)


def test_blocks():
    table = Table((Column("Name"), Column("n", right=True), Column("spare")), (("a", "1", "x"),), spare=frozenset({2}))
    assert drawn(
        Heading("A", 1), Paragraph("p"), Heading("B", 2), Bullets((Bullet("text", "s:", ("below",)),), (Bullet("f"),)),
        table, Pictures((("t", "f.svg"),)), Verbatim(("1", "2"), "plan"),
    ) == (
        "A\n=\n\np\n\nB\n-\n- s: text\n    below\n… and 1 more of the same rules; `--format json` has all\n\n"
        "Name  n\n-------\na     1\n\nplan:\n  1\n  2"
    )  # fmt: skip


def test_a_group_of_rows_has_a_line_of_its_own():
    table = Table(
        (Column("Endpoint"), Column("Metric"), Column("n", right=True)),
        (("GET /a/long/name", "p50", "1"), ("GET /a/long/name", "p99", "2"), ("GET /b", "p50", "3")),
        grouped=True,
    )
    assert drawn(table).splitlines() == [
        "  Metric  n", "-----------", "GET /a/long/name", "  p50     1", "  p99     2", "GET /b", "  p50     3",
    ]  # fmt: skip


def test_a_number_keeps_its_unit_and_the_parts_of_a_verdict_their_distance():
    text = "p99   200 → 210 ms   ×1.05   resolves ±5 % of it"
    assert drawn(Verbatim((text,)), width=60) == text
    assert drawn(Verbatim((text,)), width=41) == "p99   200 → 210 ms   ×1.05   resolves\n    ±5 % of it"
    assert drawn(Verbatim((text,)), width=16).splitlines()[1].strip().startswith("210 ms")


@pytest.mark.parametrize("name", SAMPLES)
def test_80_columns_are_enough(name):
    long = [line for line in console(build(SAMPLES[name](), "plimsoll report x"), 80).splitlines() if cells(line) > 80]
    assert long == []


def test_the_verdicts_of_the_primary_metric_have_all_that_they_rest_on():
    text = console(build(ladder()), 200)
    section = text[text.index("Verdicts") : text.index("Throughput (requests/s)")]
    assert (
        "new against old, at 162 users\n"
        "p99 GET /threads/{id}   456 → 523 ms   ×1.15 [1.11, 1.18]   NOT DISTINGUISHABLE "
        "(5 interleaved pairs, p=.13, q=.13, run-to-run s=3.1 %)\n"
        "   resolves ±7.4 % now; ±5 % needs 3 more pairs (≈ 36 min at 2×(8+12) s); 80 % power for 5 %: 8 more pairs\n"
    ) in section


def test_colour_is_for_what_is_bad_and_changes_no_letter():
    plain, coloured = console(build(rates()), 80), console(build(rates()), 80, colour=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31mINVALID\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    assert "\x1b[1;31mDIFFERENT, at least 5 %: slower\x1b[0m" in console(build(ladder()), 80, colour=True)


def test_a_target_cannot_steer_the_terminal():
    study = ladder().study
    trials = tuple(
        replace(each, endpoints=tuple(replace(row, name="/\x1b[2J\r") for row in each.endpoints))
        for each in study.trials
    )
    named = replace(study, name="a\x1b[2Jb", question="\x1b]0;title\x07?", trials=trials, warnings=("w\x1b[2J",))
    text = console(build(Analysis(named, (), ())), 80)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\r" not in text

import re
from dataclasses import replace

import pytest
from tests.report.studies import chain, ladder

from plimsoll.report.document.blocks import Chip
from plimsoll.report.document.footnotes import Footnotes
from plimsoll.report.document.verdict_tables import verdict_table
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.compare.comparison import Remark


def titles(table):
    return [column.title for column in table.columns]


def test_verdicts_of_the_question_come_first_and_carry_what_they_rest_on():
    table = verdict_table(ladder(), 1000, Footnotes())
    assert titles(table) == ["Level", "Endpoint", "Metric", "old", "new", "Δ", "Ratio [95\u00a0%]", "Verdict"]
    first = table.rows[:4]
    assert [(row.cells[2], row.kind) for row in first] == [("p99, ms ●", "main")] * 4
    assert all("●" not in row.cells[2] for row in table.rows[4:])
    chip = first[2].cells[-1]
    assert isinstance(chip, Chip)
    assert (chip.text, chip.tone, chip.word) == ("32 % slower", "worse", "DIFFERENT")
    assert any("5 interleaved pairs" in line for line in chip.lines)
    assert any("warm-up 2 s removed" in line for line in chip.lines)


def test_a_refused_verdict_says_why_and_its_numbers_are_void():
    notes = Footnotes()
    rows = [row for row in verdict_table(chain(), 1000, notes).rows if row.kind == "void"]
    assert len(rows) == 18
    assert all(row.cells[-1].text.endswith((" %, other work¹", " %, other work²")) for row in rows)
    assert all(row.cells[-1].lines[0].startswith("PAYLOAD") for row in rows)
    assert all("PAYLOAD" in line for line in notes.lines())


@pytest.mark.parametrize("word", ["invalid", "no verdict"])
def test_without_a_verdict_the_numbers_are_shown_without_an_interval(word):
    given = {"word": word, "reason": Remark("run invalid", names=("why",)), "low": None, "high": None}
    comparisons = tuple(replace(each, **given) for each in ladder().comparisons)
    rows = verdict_table(Analysis(ladder().study, (), comparisons), 1000, Footnotes()).rows
    assert all(re.fullmatch(r"×[\d.]+", row.cells[-2]) for row in rows)


def test_runs_without_a_partner_still_have_their_values():
    comparisons = tuple(replace(each, word="invalid", a_value=None, b_value=None) for each in ladder().comparisons)
    row = verdict_table(Analysis(ladder().study, (), comparisons), 1000, Footnotes()).rows[0]
    assert row.cells[3:5] == ("347", "335")


def test_a_value_that_may_have_been_greater_is_marked():
    study = ladder().study
    trials = tuple(
        replace(each, endpoints=tuple(replace(row, censored=10**6) for row in each.endpoints)) for each in study.trials
    )
    row = verdict_table(replace(ladder(), study=replace(study, trials=trials)), 1, Footnotes()).rows[0]
    assert row.cells[3:5] == ("≥347", "≥335")


def test_comparisons_beyond_the_limit_are_counted():
    table = verdict_table(ladder(), 10, Footnotes())
    assert len(table.rows) == 10
    assert "26 more" in table.note

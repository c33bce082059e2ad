from dataclasses import replace

import pytest
from tests.report.studies import chain, ladder, operations

from plimsoll.report.document.blocks import Chip
from plimsoll.report.document.footnotes import Footnotes
from plimsoll.report.document.verdict_tables import level_tables, verdict_table
from plimsoll.stats.analysis import Analysis


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
    assert (chip.text, chip.tone, chip.word) == ("+32 % slower", "worse", "DIFFERENT")
    assert any("5 interleaved pairs" in line for line in chip.lines)
    assert any("warm-up 2 s removed" in line for line in chip.lines)


def test_a_refused_verdict_says_why_and_its_numbers_are_void():
    notes = Footnotes()
    rows = [row for row in verdict_table(chain(), 1000, notes).rows if row.kind == "void"]
    assert len(rows) == 18
    assert {row.cells[-1].text for row in rows} <= {"invalid¹", "invalid²"}
    assert all(row.cells[-1].lines[0].startswith("PAYLOAD") for row in rows)
    assert all("PAYLOAD" in line for line in notes.lines())


@pytest.mark.parametrize("word", ["invalid", "no verdict"])
def test_without_a_verdict_there_is_still_the_ratio(word):
    comparisons = tuple(
        replace(each, word=word, reason="why", ratio=1.05, difference=None, low=None, high=None)
        for each in ladder().comparisons
    )
    rows = verdict_table(Analysis(ladder().study, (), comparisons), 1000, Footnotes()).rows
    assert {row.cells[-3:-1] for row in rows} == {("+5.0 %", "×1.05")}


def test_a_valid_run_without_a_partner_still_has_its_value():
    study = ladder().study
    trials = tuple(replace(each, invalid=("lag", "cpu") if each.variant == "new" else ()) for each in study.trials)
    comparisons = tuple(replace(each, word="invalid", a_value=None, b_value=None) for each in ladder().comparisons)
    notes = Footnotes()
    row = verdict_table(Analysis(replace(study, trials=trials), (), comparisons), 1000, notes).rows[0]
    assert row.cells[3:5] == ("347", "335¹")
    assert notes.lines()[0] == "¹ new at 48 users is INVALID: lag; and 1 more reason, which the JSON has"


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


def test_of_two_variants_there_is_a_table_per_number_with_the_verdict_per_level():
    tables = list(level_tables(ladder(), "", Footnotes()))
    assert [each.caption for each in tables] == ["Throughput (requests/s)", "p50 (ms)", "p99 (ms)", "Failed requests"]
    assert titles(tables[0]) == ["Level", "old", "new", "Ratio [95\u00a0%]", "Verdict"]
    assert [row.cells[0] for row in tables[0].rows] == ["48 users", "162 users", "336 users", "460 users"]


def test_of_one_variant_there_is_one_table():
    (table,) = level_tables(operations(), "upload", Footnotes(), " of upload")
    assert table.caption == "All endpoints together of upload"
    assert titles(table) == ["Level", "Throughput (requests/s)", "p50 (ms)", "p99 (ms)", "Failed requests"]
    assert len(table.rows) == 3


def test_of_an_unfinished_experiment_there_is_what_is_known():
    study = ladder().study
    trials = tuple(each for each in study.trials if each.variant == "old" or each.level.value == 48)
    table = next(level_tables(Analysis(replace(study, trials=trials), (), ()), "", Footnotes()))
    assert [row.cells[0] for row in table.rows] == ["48 users", "162 users", "336 users", "460 users"]
    assert "–" in table.rows[1].cells

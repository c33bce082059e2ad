from dataclasses import replace

import pytest
from tests.report.studies import SAMPLES, chain, imported, ladder, operations, rates

from plimsoll.report.page.content import MOST_ANSWERS, gathered
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.study import Measured, Study, Trial


def test_the_answer_is_a_sentence_for_each_primary_comparison():
    answers = gathered(ladder()).answers
    assert [each.text for each in answers] == [
        f"p99 of GET /threads/{{id}} at {users} users, new against old" for users in (48, 162, 336, 460)
    ]
    assert [each.chip.tone for each in answers] == ["same", "open", "worse", "worse"]
    assert answers[2].basis.startswith("2266 → 2984 ms ×1.3")


def test_of_many_comparisons_it_tells_how_they_ended_and_those_that_are_certain():
    study = replace(ladder().study, primary=())
    comparisons = tuple(replace(each, q=None) for each in ladder().comparisons)
    first, *answers, last = gathered(Analysis(study, (), comparisons)).answers
    assert first.text == "Of 36 comparisons: 18 DIFFERENT, 8 EQUIVALENT, 9 NOT DISTINGUISHABLE, 1 NO VERDICT."
    assert [each.chip.tone for each in answers] == ["worse"] * MOST_ANSWERS
    assert "p99 of POST /comments/ at 336 users" in answers[0].text, "the largest difference first"
    assert last.text.startswith("10 more")


def test_where_nothing_is_certain_the_findings_answer_too():
    comparisons = tuple(replace(each, q=None, word="one run") for each in ladder().comparisons)
    study = replace(ladder().study, primary=())
    answers = gathered(Analysis(study, ladder().findings, comparisons)).answers
    assert answers[0].text == "Of 36 comparisons: 36 ONE RUN EACH."
    assert [each.text for each in answers[1:]] == [each.statement for each in ladder().findings[:2]]


def test_findings_that_are_alike_are_folded_away_and_doubts_are_cut():
    findings = tuple(replace(chain().findings[0], statement=f"number {place}") for place in range(20))
    page = gathered(Analysis(chain().study, findings, ()))
    assert [each.of.statement for each in page.findings] == ["number 0", "number 1", "number 2"]
    assert len(page.folded) == 17
    assert page.doubts.lines[8] == "… and 12 more: among the findings, and in the table of runs."


def test_where_nothing_is_compared_the_findings_answer():
    answers = gathered(operations()).answers
    assert [each.text for each in answers] == [each.statement for each in operations().findings]


def test_doubts_name_invalid_runs_and_crashes_and_blocking_findings():
    doubts = gathered(rates()).doubts
    assert doubts.bad
    assert sum(line.startswith("INVALID, koding at 900/s") for line in doubts.lines) == 2
    assert any("killed by signal 9" in line for line in doubts.lines)
    assert any(line.startswith("1 place of the source") for line in doubts.small)
    assert not gathered(ladder()).doubts.bad
    warned = gathered(Analysis(chain().study, (), ())).doubts
    assert (warned.bad, warned.lines) == (False, ("limit ran once, the others three times",))


def test_a_finding_comes_with_the_pictures_of_it():
    by_id = {each.of.id: each for each in gathered(ladder()).findings}
    assert [chart.kind for chart in by_id["SAT"].charts] == ["ladder_throughput", "ladder_latency"]
    assert ("bracket users", "162…336") in by_id["SAT"].evidence
    assert [chart.kind for chart in gathered(chain()).findings[1].charts] == ["histogram"]
    error = gathered(operations()).findings[0]
    assert [(chart.kind, chart.operation) for chart in error.charts] == [("failures", "delete")]


@pytest.mark.parametrize("shape", SAMPLES)
def test_every_picture_that_is_shown_has_its_data_on_the_page(shape):
    page = gathered(SAMPLES[shape]())
    shown = [*page.forests, *page.ladder, *page.more_ladder, *page.target]
    shown += [chart for each in page.courses for chart in each.charts]
    shown += [chart for each in page.findings for chart in each.charts]
    for each in page.operations:
        shown += [*each.charts, *each.ladder, *(chart for level in each.levels for chart in level.charts)]
    assert {chart.name for chart in shown} <= page.charts.keys()


def test_an_operation_has_a_pair_of_tables_for_each_level():
    page = gathered(operations())
    assert [each.name for each in page.operations] == ["upload", "read", "update", "delete"]
    for each in page.operations:
        assert [level.title for level in each.levels] == ["10 users", "30 users", "50 users"]
    assert page.ladder == []
    assert len(page.operations[3].ladder) == 2
    assert page.operations[3].failure_table is not None
    assert page.operations[0].failure_table is None
    assert page.operations[0].failures_known


def test_sections_that_have_nothing_are_not_among_the_contents():
    assert [id for id, _ in gathered(imported()).contents] == [
        "validity", "verdicts", "operations", "environment", "notes",
    ]  # fmt: skip
    assert {"summary", "findings"} <= {id for id, _ in gathered(chain()).contents}


def test_what_is_not_known_is_not_told():
    study = Study("x", (Trial("1", "a", total=Measured("", "Aggregated", rate=3.0)),))
    page = gathered(Analysis(study, (), ()))
    assert page.status == [("runs", "1, all valid")]
    assert not page.operations[0].failures_known

from dataclasses import replace

from tests.report.studies import chain, ladder, operations, rates

from plimsoll.report.document.blocks import NamedValue
from plimsoll.report.document.head import MOST_ANSWERS, answers, doubts, status
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.cells import cells_of
from plimsoll.stats.study import Measured, Study, Trial


def test_the_answer_is_a_sentence_for_each_primary_comparison():
    found = answers(ladder())
    assert [each.text for each in found] == [
        f"p99 of GET /threads/{{id}} at {users} users, new against old" for users in (48, 162, 336, 460)
    ]
    assert [each.chip.tone for each in found] == ["same", "open", "worse", "worse"]
    assert found[2].basis.startswith("2266 → 2984 ms ×1.3")


def test_of_many_comparisons_it_tells_how_they_ended_and_those_that_are_certain():
    study = replace(ladder().study, primary=())
    comparisons = tuple(replace(each, q=None) for each in ladder().comparisons)
    first, *found, last = answers(Analysis(study, (), comparisons))
    assert first.text == "Of 36 comparisons: 18 DIFFERENT, 8 EQUIVALENT, 9 NOT DISTINGUISHABLE, 1 NO VERDICT."
    assert [each.chip.tone for each in found] == ["worse"] * MOST_ANSWERS
    assert "p99 of POST /comments/ at 336 users" in found[0].text, "the largest difference first"
    assert last.text.startswith("10 more")


def test_where_nothing_is_certain_the_findings_answer_too():
    comparisons = tuple(replace(each, q=None, word="one run") for each in ladder().comparisons)
    study = replace(ladder().study, primary=())
    found = answers(Analysis(study, ladder().findings, comparisons))
    assert found[0].text == "Of 36 comparisons: 36 ONE RUN EACH."
    assert [each.text for each in found[1:]] == [each.statement for each in ladder().findings[:2]]


def test_where_nothing_is_compared_the_findings_answer():
    assert [each.text for each in answers(operations())] == [each.statement for each in operations().findings]


def test_doubts_name_invalid_runs_and_crashes_and_blocking_findings():
    found = doubts(rates())
    assert found.bad
    assert sum(line.startswith("INVALID, koding at 900/s") for line in found.lines) == 2
    assert any("killed by signal 9" in line for line in found.lines)
    assert any(line.startswith("1 place of the source") for line in found.small)
    assert not doubts(ladder()).bad
    warned = doubts(Analysis(chain().study, (), ()))
    assert (warned.bad, warned.lines) == (False, ("limit ran once, the others three times",))


def test_of_too_many_doubts_the_rest_is_counted():
    findings = tuple(replace(chain().findings[0], statement=f"number {place}") for place in range(20))
    assert doubts(Analysis(chain().study, findings, ())).lines[8] == (
        "… and 12 more: among the findings, and in the table of runs."
    )


def test_what_is_not_known_is_not_told():
    study = Study("x", (Trial("1", "a", total=Measured("", "Aggregated", rate=3.0)),))
    assert status(study, cells_of(study)) == (NamedValue("runs", "1, all valid"),)

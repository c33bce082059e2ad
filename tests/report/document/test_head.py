from dataclasses import replace

from tests.report.studies import chain, ladder, operations, rates

from plimsoll.report.document.blocks import NamedValue
from plimsoll.report.document.head import MOST_ANSWERS, answer_text, answers, doubts, status
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.cells import cells_of
from plimsoll.stats.study import Measured, Study, Trial


def test_the_answer_is_a_sentence_for_each_primary_comparison():
    found = answers(ladder())
    assert [each.text for each in found] == [
        f"p99 of GET /threads/{{id}} at {users} users, new against old" for users in (48, 162, 336, 460)
    ]
    assert [each.chip.tone for each in found] == ["same", "open", "worse", "worse"]
    assert found[2].basis.startswith("2\u202f266 → 2\u202f984 ms ×1.3")


def test_in_a_line():
    assert answer_text(answers(ladder())[2]) == (
        "p99 of GET /threads/{id} at 336 users, new against old: +32 % slower "
        "(2\u202f266 → 2\u202f984 ms ×1.32 [1.28, 1.36])."
    )


def test_many_comparisons_are_counted_and_the_largest_differences_named():
    study = replace(ladder().study, primary=())
    comparisons = tuple(replace(each, q=None) for each in ladder().comparisons)
    first, *found, last = answers(Analysis(study, (), comparisons))
    assert first.text == (
        "Of 36 comparisons: 18 DIFFERENT for the worse, 8 EQUIVALENT, 9 NOT DISTINGUISHABLE, 1 NO VERDICT."
    )
    assert [each.chip.tone for each in found] == ["worse"] * (MOST_ANSWERS // 2)
    assert "p99 of POST /comments/ at 336 users" in found[0].text, "the largest difference first"
    assert last.text == "15 more for the worse are in the table of verdicts."


def test_what_blocks_is_said_at_once():
    assert answers(rates())[-1].text == "Findings that block verdicts: GEN."
    twice = Analysis(chain().study, (chain().findings[0], chain().findings[0]), ())
    assert answers(twice)[-1].text == "Findings that block verdicts: PAYLOAD (2)."


def test_where_nothing_is_compared_the_findings_about_the_target_answer():
    first, *others = answers(operations())
    assert first.text == "12 runs, 1 variant, 3 levels, 4 operations; nothing is compared."
    assert [each.text.split(" ")[0] for each in others] == ["upload", "90"], "SERIAL before ERR"
    study = operations().study
    invalid = (replace(study.trials[0], invalid=("lag",)), *study.trials[1:])
    assert answers(Analysis(replace(study, trials=invalid), (), ()))[0].text.endswith("compared. 1 run INVALID.")


def test_of_many_findings_about_the_target_the_rest_is_counted():
    many = tuple(replace(operations().findings[1], statement=f"s{number}") for number in range(9))
    found = [each.text for each in answers(Analysis(operations().study, many, ()))]
    assert found[1:3] == ["s0", "s1"]
    assert found[-1] == "3 more of the kind are among the findings."


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

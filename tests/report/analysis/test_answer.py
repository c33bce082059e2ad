from __future__ import annotations

from dataclasses import replace

from tests.report.studies import chain, ladder, operations, rates

from plimsoll.report.analysis.answer import MOST_VERDICTS, beginning, short_answer, verdicts
from plimsoll.report.analysis.document import Bullets, Heading
from plimsoll.stats.analysis import Analysis


def test_few_comparisons_are_named_one_by_one():
    assert short_answer(ladder())[2] == (
        "p99 of GET /threads/{id} at 336 users, new against old: DIFFERENT, at least 5 % (×1.32 [1.28, 1.36]), slower."
    )
    assert len(short_answer(ladder())) == 4


def test_many_are_counted_and_the_largest_differences_named():
    undeclared = replace(ladder().study, primary=())
    comparisons = tuple(replace(each, q=None) for each in ladder().comparisons)
    lines = short_answer(Analysis(undeclared, (), comparisons))
    assert lines[0] == (
        "Of 36 comparisons: 18 DIFFERENT for the worse, 8 EQUIVALENT, 9 NOT DISTINGUISHABLE, 1 NO VERDICT."
    )
    assert "p99 of POST /comments/ at 336 users" in lines[1]
    assert lines[4] == "… and 15 more for the worse, in the tables below."


def test_what_blocks_is_said_at_once():
    assert short_answer(rates())[-1] == "Findings that block verdicts: GEN."
    twice = Analysis(chain().study, (chain().findings[0], chain().findings[0]), ())
    assert short_answer(twice)[-1] == "Findings that block verdicts: PAYLOAD (2)."


def test_nothing_to_compare():
    first, *others = short_answer(operations())
    assert first == "12 runs, 1 variant, 3 levels, 4 operations; nothing is compared."
    assert [each.split(" ")[0] for each in others] == ["upload", "90"]  # SERIAL before ERR
    study = operations().study
    invalid = (replace(study.trials[0], invalid=("lag",)), *study.trials[1:])
    assert short_answer(Analysis(replace(study, trials=invalid), (), ()))[0].endswith("compared. 1 run INVALID.")


def test_what_the_findings_say_of_the_target_is_not_told_without_end():
    many = tuple(replace(operations().findings[1], statement=f"s{number}") for number in range(9))
    lines = short_answer(Analysis(operations().study, many, ()))
    assert lines[1:3] == ["s0", "s1"]
    assert lines[-1] == "… and 3 more of the kind, in the findings."
    assert short_answer(Analysis(ladder().study, many, ladder().comparisons)) == short_answer(ladder())


def test_of_many_findings_of_one_rule_a_few_stand_for_all():
    first = operations().findings[0]
    many = tuple(replace(first, statement=f"finding {number}") for number in range(7))
    blocks = list(beginning(Analysis(operations().study, (*many, operations().findings[1]), ())))
    place = blocks.index(Heading("Findings", 2))
    bullets = blocks[place + 1]
    assert isinstance(bullets, Bullets)
    assert [each.text for each in bullets.items][:3] == ["finding 0", "finding 1", "finding 2"]
    assert bullets.items[3].strong == "SERIAL, insight:"
    assert len(bullets.folded) == 4


def test_a_rule_is_told_once_and_the_evidence_each_time():
    first = operations().findings[0]
    twice = Analysis(operations().study, (first, replace(first, statement="again")), ())
    blocks = list(beginning(twice))
    bullets = blocks[blocks.index(Heading("Findings", 2)) + 1]
    assert isinstance(bullets, Bullets)
    assert [line.split(":")[0] for line in bullets.items[0].below] == ["Evidence", "Rule", "What to do"]
    assert [line.split(":")[0] for line in bullets.items[1].below] == ["Evidence"]


def test_verdicts_at_length_are_those_of_the_primary_metrics_and_not_too_many():
    text = next(block for block in verdicts(ladder()) if not isinstance(block, Heading))
    assert sum(line.startswith("p99 GET /threads/{id}") for line in text.lines) == 4
    assert not any(line.startswith("p50") for line in text.lines)
    undeclared = Analysis(
        replace(ladder().study, primary=()), (), tuple(replace(each, q=None) for each in ladder().comparisons)
    )
    assert len(undeclared.comparisons) > MOST_VERDICTS
    assert list(verdicts(undeclared)) == []

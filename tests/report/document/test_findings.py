from dataclasses import replace

import pytest
from tests.report.documents import chart, document_of, section
from tests.report.studies import chain
from tests.say.written import written

from plimsoll.report.document.blocks import NamedValue
from plimsoll.report.document.study import study_document
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.findings.finding import Where


def found_in(document):
    (block,) = section(document, "findings").blocks
    return block


def kinds(document, finding):
    """Of the charts that it is seen in, by what they were made from."""
    bases = [chart(document, name).base or name for name in finding.charts]
    return [base.split("-")[0] for base in bases]


def test_findings_that_are_alike_are_folded_away():
    findings = tuple(replace(chain().findings[0], statement=f"number {place}") for place in range(20))
    block = found_in(study_document(Analysis(chain().study, findings, ())))
    assert [each.statement for each in block.findings] == ["number 0", "number 1", "number 2"]
    assert len(block.folded) == 17


def test_a_finding_comes_with_its_evidence_and_the_pictures_of_it():
    ladder = document_of("ladder")
    by_id = {each.id: each for each in found_in(ladder).findings}
    assert [name.rsplit("-", 1)[0].startswith("ladder") for name in by_id["SAT"].charts] == [True, True]
    assert NamedValue("bracket", "162…336") in by_id["SAT"].evidence
    assert kinds(document_of("chain"), found_in(document_of("chain")).findings[1]) == ["histogram", "percentiles"]
    operations = document_of("operations")
    assert [chart(operations, name).base or name for name in found_in(operations).findings[0].charts] == [
        "failures-delete"
    ]


@pytest.mark.parametrize("shape", ["ladder", "operations", "chain"])
def test_what_is_highlighted_lies_over_a_chart_whose_data_is_not_repeated(shape):
    document = document_of(shape)
    block = found_in(document)
    names = [name for each in (*block.findings, *block.folded) for name in each.charts]
    copies = [chart(document, name) for name in names if chart(document, name).base]
    assert copies
    for each in copies:
        base = chart(document, each.base)
        assert not base.base
        assert each.spec["datasets"].keys() - base.spec["datasets"].keys()
        assert each.spec != base.spec
        assert each.title


def test_where_nothing_can_be_highlighted_the_chart_itself_is_shown():
    rates = document_of("rates")
    crash = next(each for each in found_in(rates).findings if each.id == "CRASH")
    assert "at_s" not in {each.name for each in crash.evidence}
    assert kinds(rates, crash) == ["course", "course"]
    assert not any(chart(rates, name).base for name in crash.charts)


def test_a_stall_is_shown_in_the_run_that_had_it():
    study = chain().study
    of = study.trials[4]
    where = Where(variant=of.variant)
    stall = written("STALL", "warning", "It stood still.", where, "rule", {"run": of.id, "at_s": (3.0,)})
    document = study_document(Analysis(study, (stall,), ()))
    (shown,) = found_in(document).findings
    assert len(shown.charts) == 2
    for name in shown.charts:
        each = chart(document, name)
        assert each.base.startswith(f"course-{of.id}-")
        assert each.spec["datasets"]["highlight"][0]["from"] == 3.0

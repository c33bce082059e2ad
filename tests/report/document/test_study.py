import json
import re

import numpy as np
import pytest
from tests.report.documents import CONTRACT, all_of, document_of, section, shown_charts, table, tables_of
from tests.report.studies import SAMPLES, imported

from plimsoll._engine import Histogram
from plimsoll.report.charts import MOST_COURSES
from plimsoll.report.charts.chart import config
from plimsoll.report.document.blocks import Details, TableBlock
from plimsoll.report.document.study import study_document
from plimsoll.report.render.html import to_json
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.study import Course, GeneratorCourse, Level, Measured, Study, Trial

END = ["course", "target", "verdicts", "findings", "environment", "notes"]
SECTIONS = {
    "ladder": ["summary", "careful", "ladder", "operations", *END],
    "operations": ["summary", "careful", "operations", "course", "target", "findings", "environment", "notes"],
    "chain": ["summary", "careful", "collected", "operations", *END],
    "rates": ["summary", "careful", "operations", *END],
    "imported": ["summary", "careful", "operations", "verdicts", "environment", "notes"],
}


@pytest.mark.parametrize("shape", SAMPLES)
def test_the_answer_comes_first_and_the_evidence_last(shape):
    document = document_of(shape)
    assert [each.type for each in document.head] == ["answer", "paragraph"]
    assert [each.id for each in document.sections] == SECTIONS[shape]
    assert all(each.label or each.title for each in document.sections)


@pytest.mark.parametrize("shape", SAMPLES)
def test_text_folds_details_and_evidence(shape):
    document = study_document(SAMPLES[shape](), scope="text")
    assert [each.id for each in document.sections if each.id != "details"] == ["summary", "careful", "evidence"]
    folded = [block for each in document.sections[2:] for block in each.blocks]
    assert folded
    assert all(isinstance(each, Details) for each in folded)
    assert len(document.charts) <= 3, "a wiki page has a picture or two"


def test_the_title_and_the_question_come_first():
    study = SAMPLES["ladder"]().study
    document = document_of("ladder")
    assert document.title == study.name
    assert document.lines == (study.question,)
    assert study_document(Analysis(Study("", study.trials), (), ())).title == "Report"
    assert study_document(imported(), ("a", "b")).refs == ("a", "b")
    assert document.written_by.startswith("Plimsoll ")


@pytest.mark.parametrize("shape", SAMPLES)
def test_every_picture_that_is_shown_is_there_and_no_other(shape):
    document = document_of(shape)
    names = [each.name for each in document.charts]
    bases = {each.base for each in document.charts if each.base}
    assert len(set(names)) == len(names)
    assert shown_charts(document) <= set(names)
    assert set(names) == shown_charts(document) | bases
    for each in document.charts:
        assert re.fullmatch(r"[A-Za-z0-9-]+", each.name)
        assert each.title
        assert each.description
        assert each.height > 0
    assert document.config == config("page")


@pytest.mark.parametrize("shape", SAMPLES)
def test_elements_have_ids_of_their_own(shape):
    document = document_of(shape)
    ids = [each.id for each in document.sections]
    ids += [each.id for each in all_of(TableBlock, document) if each.id]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("shape", SAMPLES)
def test_tables_have_captions_of_their_own_and_rows_a_cell_for_each_column(shape):
    tables = tables_of(document_of(shape))
    assert len({each.caption for each in tables}) == len(tables), "a caption tells a table from the others"
    for each in tables:
        assert {len(row.cells) for row in each.rows} == {len(each.columns)}


@pytest.mark.parametrize("shape", SAMPLES)
def test_it_is_what_the_page_was_promised(shape):
    text = to_json(document_of(shape))
    assert [error.message for error in CONTRACT.iter_errors(json.loads(text))] == []
    assert to_json(study_document(SAMPLES[shape]())) == text, "the same study makes the same text"


@pytest.mark.parametrize("cells", [4, 20])
def test_two_thousand_endpoints_do_not_make_a_page_that_no_browser_opens(cells):
    def measured(place: int) -> Measured:
        quantiles = {0.5: 10.0 + place, 0.9: 20.0 + place, 0.99: 40.0 + place}
        return Measured("GET", f"/some/longer/path/{place:05}", place, 0, 10.0, 12.0, 1.0, 99.0, quantiles, 100.0)

    endpoints = tuple(measured(place) for place in range(2000))
    trials = [
        Trial(id=f"{variant}-{level}", variant=variant, level=Level("users", 10 * level), endpoints=endpoints,
              total=Measured("", "Aggregated", 1000, 0, 10.0))
        for variant in ("old", "new") for level in range(1, 1 + cells // 2)
    ]  # fmt: skip
    document = study_document(Analysis(Study("wide", tuple(trials)), (), ()))
    assert len(to_json(document)) < 4_000_000
    requests = table(document, "Requests at 10 users")
    assert "/some/longer/path/01999" in [row.cells[1] for row in requests.rows]
    assert re.search(r"\d+ more are in the CSV and JSON reports", requests.note)


def test_many_long_runs_do_not_make_one_either():
    seconds, histogram, random = 300, Histogram(), np.random.default_rng(1)
    for each in random.lognormal(9.0, 0.5, 50):
        histogram.record(round(each))
    times, counts = (histogram,) * seconds, random.poisson(200, seconds)
    some = counts.astype(float)
    course = Course(counts, counts // 100, some, some, some, times, slice(10, None), service=times)
    total = Measured("", "Aggregated", 120_000, 1200, 200.0, histogram=histogram, service=histogram, course=course)
    about = {
        "duration": 290.0, "warmup": 10.0, "total": total, "users_by_second": some,
        "generator_course": GeneratorCourse(times, times, some, some, some),
    }  # fmt: skip
    trials = [
        Trial(id=f"{n}", variant="a", level=Level("users", 50), repeat=n, **about) for n in range(MOST_COURSES + 5)
    ]
    document = study_document(Analysis(Study("long", tuple(trials)), (), ()))
    assert len(to_json(document)) < 10_000_000
    (choice, note) = section(document, "course").blocks
    assert len(choice.parts) == MOST_COURSES
    assert note.text == "The first 60 of 65 runs; `plimsoll show` has each."

import pytest
from tests.report.documents import all_of, charts_in, document_of, inner, section, table, tables_of
from tests.report.studies import imported

from plimsoll.report.document.blocks import Choice, Details, Figures, Paragraph, Preformatted, TableBlock, Tabs
from plimsoll.report.document.sections import MOST_AT_A_GLANCE
from plimsoll.report.document.study import study_document
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.study import Level, Measured, Study, Trial


def only(blocks, kind):
    return [each for each in blocks if isinstance(each, kind)]


def test_an_operation_has_a_pair_of_tables_for_each_level():
    (tabs,) = section(document_of("operations"), "operations").blocks
    assert isinstance(tabs, Tabs)
    assert [part.title for part in tabs.parts] == ["upload", "read", "update", "delete"]
    for part in tabs.parts:
        levels = [each for each in only(part.blocks, Details) if each.is_level]
        assert [each.summary for each in levels] == ["10 users", "30 users", "50 users"]
        assert all(each.is_open for each in levels)
        for level in levels:
            captions = [each.table.caption for each in only(level.blocks, TableBlock)]
            place = f" of {part.title} at {level.summary}"
            assert captions == [f"Requests{place}", f"Percentiles of the times (ms){place}"]


def test_of_several_operations_each_has_its_ladder_and_its_failures():
    document = document_of("operations")
    assert "ladder" not in {each.id for each in document.sections}
    (tabs,) = section(document, "operations").blocks
    upload, *_, delete = tabs.parts
    assert [each.split("-")[0] for each in only(delete.blocks, Figures)[0].charts] == ["ladder", "ladder"]
    assert "failures-delete" in charts_in(delete.blocks)
    assert "Failures of delete" in [each.table.caption for each in only(delete.blocks, TableBlock)]
    assert Paragraph("No request failed.", "soft") in upload.blocks


def test_whether_requests_failed_is_not_told_where_it_is_not_known():
    study = Study("x", (Trial(id="1", variant="a", total=Measured("", "Aggregated", rate=3.0)),))
    blocks = section(study_document(Analysis(study, (), ())), "operations").blocks
    assert not only(blocks, Paragraph)


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        ((0, 0), ["No request failed."]),
        ((0, None), ["No request failed where failures were counted."]),
        ((0, 83_232), []),
    ],
)
def test_that_no_request_failed_is_said_only_of_counts_that_are_0(failures, expected):
    rows = [Measured("", "Aggregated", requests=480_000, failures=each) for each in failures]
    trials = tuple(Trial(id=str(number), variant=f"v{number}", total=row) for number, row in enumerate(rows))
    blocks = section(study_document(Analysis(Study("x", trials), (), ())), "operations").blocks
    assert only(blocks, Paragraph) == [Paragraph(text, "soft") for text in expected]
    failed = [each for each in only(blocks, TableBlock) if each.table.caption.startswith("Failures")]
    assert [[row.cells[0] for row in each.table.rows] for each in failed] == ([] if expected else [["83\u202f232"]])


def test_without_levels_tables_stand_in_their_section_itself():
    trial = Trial(id="1", variant="a", total=Measured("", "Aggregated", requests=3, failures=0))
    document = study_document(Analysis(Study("x", (trial,)), (), ()))
    assert len(only(section(document, "operations").blocks, TableBlock)) == 2


def test_of_many_levels_the_first_is_open():
    levels = range(10, 70, 10)
    trials = [
        Trial(id=f"{n}", variant="a", level=Level("users", n), total=Measured("", "Aggregated", requests=n))
        for n in levels
    ]
    document = study_document(Analysis(Study("x", tuple(trials)), (), ()))
    found = only(section(document, "operations").blocks, Details)
    assert [each.is_open for each in found] == [True, *[False] * 5]


def test_verdicts_can_be_filtered_by_those_that_there_are():
    blocks = section(document_of("ladder"), "verdicts").blocks
    (shown,) = only(blocks, TableBlock)
    assert (shown.id, shown.has_filter) == ("verdict-table", True)
    assert shown.words == ("DIFFERENT", "EQUIVALENT", "NOT DISTINGUISHABLE", "NO VERDICT")
    assert isinstance(blocks[0], Figures)
    assert blocks[0].wide
    assert [each.summary for each in only(blocks, Details)] == ["All ratios as charts"]


def test_long_tables_have_a_filter_and_short_ones_have_none():
    for document in map(document_of, ("ladder", "rates")):
        for each in all_of(TableBlock, document):
            assert each.has_filter == (len(each.table.rows) > MOST_AT_A_GLANCE or bool(each.words))


def test_one_run_of_many_is_chosen():
    (choice,) = section(document_of("operations"), "course").blocks
    assert isinstance(choice, Choice)
    assert len({part.title for part in choice.parts}) == len(choice.parts) == 12
    assert all(isinstance(part.blocks[0], Figures) for part in choice.parts)


def test_what_hooks_collected_is_shown_as_it_was_printed():
    texts = [
        each for each in inner(section(document_of("chain"), "collected").blocks) if isinstance(each, Preformatted)
    ]
    assert texts
    assert all("\n" in each.text for each in texts)


def test_runs_of_the_generator_and_the_target_are_in_tables():
    document = document_of("rates")
    assert len(table(document, "The load generator, run by run").rows) == 12
    assert table(document_of("ladder"), "Observed of the target").rows
    captions = {each.caption for each in tables_of(study_document(imported()))}
    assert not {"The load generator, run by run", "Observed of the target"} & captions


def test_marks_of_numbers_are_explained_in_the_notes():
    (block,) = section(document_of("rates"), "notes").blocks
    assert block.marks[0] == "¹ 63 % of the offered arrivals were begun"
    assert block.lines
    chips = [row.cells[-1] for row in table(document_of("rates"), "Comparisons").rows]
    assert any(each.text.endswith("¹") for each in chips)

from tests.report.studies import chain, ladder, operations, rates

from plimsoll.report.document.footnotes import Footnotes
from plimsoll.report.document.tables import Chip, failure_table, locust_tables, verdict_table
from plimsoll.stats.cells import cells_of
from plimsoll.stats.study import Level, Measured, Study, Trial


def titles(table):
    return [column.title for column in table.columns]


def test_the_two_tables_of_locust_have_a_row_for_each_endpoint_and_variant():
    cells = [cell for cell in cells_of(ladder().study) if cell.level == Level("users", 48)]
    requests, percentiles = locust_tables(cells, Footnotes(), 100, names_variant=True)
    assert titles(requests)[:5] == ["Method", "Name", "Variant", "# Requests", "# Fails"]
    assert titles(percentiles)[3:] == ["50%", "60%", "70%", "80%", "90%", "95%", "99%", "100%"]
    for table in (requests, percentiles):
        assert [row.cells[:3] for row in table.rows] == [
            ("POST", "/comments/", "old"),
            ("POST", "/comments/", "new"),
            ("GET", "/threads/{id}", "old"),
            ("GET", "/threads/{id}", "new"),
            ("", "Aggregated", "old"),
            ("", "Aggregated", "new"),
        ]
        assert all(len(row.cells) == len(table.columns) for row in table.rows)
    counts = [int(row.cells[3].replace("\u00a0", "")) for row in requests.rows]
    assert counts[0] + counts[2] == counts[4]


def test_a_cell_without_a_valid_run_shows_a_mark_and_no_number():
    cells = [cell for cell in cells_of(rates().study) if cell.level == Level("/s", 900)]
    notes = Footnotes()
    requests, percentiles = locust_tables(cells, notes, 100, names_variant=True)
    for table in (requests, percentiles):
        row = table.rows[-1]
        assert row.cells[:3] == ("", "Aggregated", "koding")
        assert set(row.cells[3:]) == {"—¹"}
        assert row.kind == "missing"
    assert notes.lines() == ["¹ 63 % of the offered arrivals were begun, at least 99 % are required"]


def test_of_too_many_endpoints_the_busiest_are_kept_and_a_note_says_so():
    endpoints = tuple(Measured("GET", f"/{place:04}", requests=place, failures=0) for place in range(2000))
    study = Study("x", (Trial("1", "a", endpoints=endpoints, total=Measured("", "Aggregated", requests=1)),))
    requests, _ = locust_tables(cells_of(study), Footnotes(), 50, names_variant=False)
    assert len(requests.rows) == 51
    assert requests.rows[0].cells[1] == "/1950"
    assert "1950 more" in requests.note


def test_verdicts_of_the_question_come_first_and_carry_what_they_rest_on():
    table = verdict_table(ladder(), 1000)
    assert titles(table) == [
        "Level", "Endpoint", "Metric", "old", "new", "Δ", "95 % interval of the ratio", "Verdict",
    ]  # fmt: skip
    first = table.rows[:4]
    assert [row.cells[2] for row in first] == ["p99 ●"] * 4
    assert all("●" not in row.cells[2] for row in table.rows[4:])
    chip = first[2].cells[-1]
    assert isinstance(chip, Chip)
    assert (chip.text, chip.tone, chip.word) == ("DIFFERENT, at least 5 %: slower", "worse", "DIFFERENT")
    assert any("warm-up 2 s removed" in line for line in chip.lines)


def test_a_refused_verdict_says_why_and_its_numbers_are_void():
    rows = [row for row in verdict_table(chain(), 1000).rows if row.kind == "void"]
    assert len(rows) == 18
    assert all(row.cells[-1].text == "INVALID" for row in rows)
    assert all(row.cells[-1].lines[0].startswith("PAYLOAD") for row in rows)


def test_comparisons_beyond_the_limit_are_counted():
    table = verdict_table(ladder(), 10)
    assert len(table.rows) == 10
    assert "26 more" in table.note


def test_failures_by_kind_and_message():
    cells = [("delete", cell) for cell in cells_of(operations().study) if cell.operation == "delete"]
    table = failure_table(cells, 100)
    assert table is not None
    assert {row.cells[2] for row in table.rows} == {"HTTP 400"}
    assert table.rows[0].cells[-1].startswith("400 Error")
    assert failure_table([("upload", cells_of(operations().study)[0])], 100) is None

from dataclasses import replace

from tests.report.studies import ladder, operations, rates

from plimsoll._engine import Histogram
from plimsoll.report.document.tables import failure_table, locust_tables
from plimsoll.stats.cells import cells_of
from plimsoll.stats.study import FailureKind, Level, Measured, Study, Trial


def titles(table):
    return [column.title for column in table.columns]


def test_the_two_tables_of_locust_have_a_row_for_each_endpoint_and_variant():
    cells = [cell for cell in cells_of(ladder().study) if cell.level == Level("users", 48)]
    requests, percentiles = locust_tables(cells, 100, names_variant=True)
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


def test_a_cell_without_a_valid_run_shows_its_numbers():
    cells = [cell for cell in cells_of(rates().study) if cell.level == Level("/s", 900)]
    for table in locust_tables(cells, 100, names_variant=True):
        row = table.rows[-1]
        assert row.cells[:3] == ("", "Aggregated", "koding")
        unknown = [column.title for column, cell in zip(table.columns, row.cells, strict=True) if cell == "–"]
        assert set(unknown) <= {"Unanswered"}


def test_of_too_many_endpoints_the_busiest_are_kept_and_a_note_says_so():
    endpoints = tuple(Measured("GET", f"/{place:04}", requests=place, failures=0) for place in range(2000))
    study = Study("x", (Trial(id="1", variant="a", endpoints=endpoints, total=Measured("", "Aggregated", requests=1)),))
    requests, _ = locust_tables(cells_of(study), 50, names_variant=False)
    assert len(requests.rows) == 51
    assert requests.rows[0].cells[1] == "/1950"
    assert "1950 more" in requests.note


def test_a_time_that_may_have_been_longer_is_marked():
    times = Histogram()
    times.record(10_000, 97)
    times.record(1_000_000, 3)
    given = {
        "requests": 100,
        "failures": 3,
        "mean": 39.7,
        "min": 10.0,
        "max": 1000.0,
        "histogram": times,
        "censored": 3,
    }
    measured = Measured("GET", "/", **given)
    study = Study(
        "x", (Trial(id="1", variant="a", endpoints=(measured,), total=replace(measured, method="", name="Aggregated")),)
    )
    requests, percentiles = locust_tables(cells_of(study), 10, names_variant=False)
    assert requests.rows[0].cells[5:8] == ("≥39.7", "10.0", "≥1\u202f000")
    assert percentiles.rows[0].cells[-3:] == ("10.0", "≥1\u202f000", "≥1\u202f000")


def test_failures_by_kind_and_message():
    cells = [("delete", cell) for cell in cells_of(operations().study) if cell.operation == "delete"]
    table = failure_table(cells, 100)
    assert table is not None
    assert {row.cells[2] for row in table.rows} == {"HTTP 400"}
    assert table.rows[0].cells[-1].startswith("400 Error")
    assert failure_table([("upload", cells_of(operations().study)[0])], 100) is None


def test_messages_of_several_runs_that_have_much_in_common_are_one_row():
    def rows(*ports):
        trials = [
            Trial(
                id=str(port), variant="a", repeat=number, endpoints=(Measured("GET", "/", requests=4, kinds=(
                    FailureKind("reset", f"lost 1.1.1.1:{port}", 2, group="lost [address]"),)),),
            )
            for number, port in enumerate(ports)
        ]  # fmt: skip
        table = failure_table([("x", cells_of(Study("x", tuple(trials)))[0])], 100)
        assert table is not None
        return [(row.cells[0], row.cells[-1]) for row in table.rows]

    assert rows(50001, 50002) == [("4", "lost [address]")]
    assert rows(50001, 50001) == [("4", "lost 1.1.1.1:50001")]


def test_failures_without_a_kind_are_counted_and_rounded_as_in_their_source():
    total = Measured("", "Aggregated", requests=480_000, failures=83_232, rounding={"failures": 24.0})
    (cell,) = cells_of(Study("x", (Trial(id="1", variant="a", total=total),)))
    table = failure_table([("a", cell)], 100)
    assert table is not None
    assert [row.cells for row in table.rows] == [
        ("≈83\u202f230", "17.34%", "–", "a", "", "Aggregated", "the source does not say why")
    ]


def test_counts_that_a_source_rounds_are_marked():
    rows = (
        Measured("GET", "/a", requests=12_300, failures=7, rounding={"requests": 50.0}),
        Measured("GET", "/b", requests=12_300, failures=7),
    )
    requests, _ = locust_tables(
        cells_of(Study("x", (Trial(id="1", variant="a", endpoints=rows),))), 10, names_variant=False
    )
    assert [row.cells[2:4] for row in requests.rows] == [("≈12\u202f300", "7"), ("12\u202f300", "7")]

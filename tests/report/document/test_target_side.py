from tests.report.studies import imported, ladder

from plimsoll.record import TracedRequest
from plimsoll.report.document import target_side
from plimsoll.report.document.target_side import observed_table, slowest_table, work_tables
from plimsoll.say.numbers import NONE
from plimsoll.stats.cells import cells_of
from plimsoll.stats.study import Study, TargetWork, Trial


def test_what_was_observed_has_its_first_last_least_and_most():
    table = observed_table(ladder().study)
    assert table is not None
    cells = cells_of(ladder().study)
    assert len(table.rows) == sum(
        len({(each.source, each.name) for trial in cell.trials for each in trial.observed}) for cell in cells
    )
    row = next(row for row in table.rows if "rss" in row.cells)
    first, last, least, most = (float(each.removesuffix(" MiB")) for each in row.cells[-5:-1])
    assert least <= min(first, last)
    assert most >= max(first, last)
    assert observed_table(imported().study) is None


def transaction(name: str, calls: int, ms: float, **more) -> TargetWork:
    return TargetWork("transaction", "shop", name, calls, ms, **more)


def texts(table) -> list[tuple[str, ...]]:
    return [row.cells for row in table.rows]


def test_work_has_its_shares_of_calls_and_time():
    works = (
        transaction("GET /a", 90, 90.0, view="A.list", p95=3.0, failed=9),
        transaction("GET /b", 10, 810.0, p95=100.0),
        TargetWork("statement", "db", "SELECT 1", 200, 50.0, rows=600),
    )
    study = Study("s", (Trial(id="1", variant="only", duration=50.0, warmup=10.0, work=works),))
    requests, statements = work_tables(study)
    assert [each.title for each in requests.columns] == [
        "Of", "Transaction", "Calls", "Per minute", "Share of calls", "Share of time", "Mean (ms)", "p95 (ms)",
        "Failed",
    ]  # fmt: skip
    assert texts(requests) == [
        ("shop", "GET /b", "10", "10.0", "10.00%", "90.00%", "81.0", "100", "0.00%"),
        ("shop", "GET /a (A.list)", "90", "90.0", "90.00%", "10.00%", "1.00", "3.00", "10.00%"),
    ]
    assert [each.title for each in statements.columns][-2:] == ["Mean (ms)", "Rows per call"]
    assert texts(statements) == [("db", "SELECT 1", "200", "200", "100.00%", "100.00%", "0.250", "3.00")]
    assert work_tables(imported().study) == []


def test_runs_of_a_variant_are_added_up_and_have_no_percentile():
    runs = tuple(
        Trial(
            id=str(number),
            variant=variant,
            duration=60.0,
            repeat=number,
            work=(transaction("GET /a", 30, 60.0, p95=3.0),),
        )
        for number in (1, 2)
        for variant in ("old", "new")
    )
    (table,) = work_tables(Study("s", runs))
    assert [each.title for each in table.columns][:3] == ["Variant", "Of", "Transaction"]
    assert texts(table) == [
        (variant, "shop", "GET /a", "60", "30.0", "100.00%", "100.00%", "2.00", "–", "0.00%")
        for variant in ("old", "new")
    ]


def test_what_takes_least_time_is_one_row(monkeypatch):
    monkeypatch.setattr(target_side, "MOST_NAMES", 2)
    works = tuple(transaction(f"GET /{number}", 10, 100.0 - number) for number in range(6))
    (table,) = work_tables(Study("s", (Trial(id="1", variant="only", duration=60.0, work=works),)))
    assert [row.cells[1] for row in table.rows] == ["GET /0", "GET /1", "(others): 4"]
    assert table.rows[-1].cells[2] == "40"


def test_slow_requests_have_their_traces_and_what_the_target_took_where_that_is_known():
    slowest = (
        TracedRequest("GET", "/a", "success", "ab" * 16, 12.34, 250.0, 240.0, 200.0),
        TracedRequest("GET", "/b", "timeout", "cd" * 16, 2.0, 100.0, 100.0),
    )
    table = slowest_table(Study("s", (Trial(id="1", variant="only", slowest=slowest),)))
    assert table is not None
    assert [cells[-7:] for cells in texts(table)] == [
        ("GET /a", "12.3", "250", "240", "200", "success", "ab" * 16),
        ("GET /b", "2.0", "100", "100", NONE, "timeout", "cd" * 16),
    ]
    assert slowest_table(imported().study) is None

from dataclasses import replace

from tests.report.studies import SAMPLES, chain, imported, ladder, operations, rates
from tests.say.written import written

from plimsoll.report.document.blocks import Chip
from plimsoll.report.document.summary import MOST_ROWS, summary_table
from plimsoll.report.document.tables import quantile
from plimsoll.stats.cells import cells_of
from plimsoll.stats.findings.finding import Where
from plimsoll.stats.study import TOTAL, Level


def table_of(analysis):
    return summary_table(analysis, cells_of(analysis.study))


def titles(table):
    return [column.title for column in table.columns]


def test_a_step_has_what_it_changed_and_a_verdict_against_both():
    table = table_of(chain())
    assert titles(table) == [
        "Variant", "What changed", "Requests/s", "p50 (ms)", "p99 (ms)", "Failed", "Bytes a reply",
        "p99 vs step before", "p99 vs baseline",
    ]  # fmt: skip
    assert table.caption == "Requests/s and failures of all endpoints, times of GET /todos/"
    rows = {row.cells[0]: row.cells for row in table.rows}
    assert rows["index"][1] == "an index on created_at"
    assert rows["baseline"][-2:] == ("", "")
    assert [each.text for each in rows["index"][-2:]] == ["same (±5 %)"] * 2, "the step before is the baseline, too"
    assert rows["async"][-1].text == "−31 %, other work"


def test_what_was_changed_is_no_column_where_a_variant_has_several_rows():
    study = replace(ladder().study, changes={"new": "an index on threads"})
    assert "What changed" not in titles(table_of(replace(ladder(), study=study)))


def test_a_percentile_that_mixes_two_requests_is_not_shown():
    """The times of the request that users wait for most are."""
    analysis = operations()
    level = Level("users", 50)
    mixes = written("BIMODAL", "blocks", "…", Where("2.11", level, "delete", TOTAL), "")
    cells = cells_of(analysis.study)
    (delete,) = (cell for cell in cells if (cell.operation, cell.level) == ("delete", level))
    versions = delete.endpoint(("GET", "/keys/[id]/versions"))
    table, as_it_was = table_of(replace(analysis, findings=(mixes,))), table_of(replace(analysis, findings=()))
    (mixed,) = (row.cells for row, before in zip(table.rows, as_it_was.rows, strict=True) if row != before)
    assert mixed[0:2] == ("delete", "50 users")
    assert mixed[3] == quantile(versions, 0.5)
    assert table.note.endswith(
        "Times of delete are those of GET /keys/[id]/versions, which users wait for most: percentiles of all requests "
        "together mix fast and slow ones."
    )


def test_the_variants_of_a_level_stand_together():
    table = table_of(ladder())
    assert [row.cells[:2] for row in table.rows[:2]] == [("old", "48 users"), ("new", "48 users")]
    chips = [row.cells[-1] for row in table.rows if isinstance(row.cells[-1], Chip)]
    assert [each.text for each in chips] == [
        "same (±5 %)",
        "+15 %, unclear (5 pairs)",
        "32 % slower",
        "12 % slower",
    ]
    assert [each.tone for each in chips] == ["same", "open", "worse", "worse"]


def test_the_rates_of_a_variant_stand_together():
    rows = table_of(rates()).rows
    assert [row.cells[0] for row in rows] == ["tunnel"] * 3 + ["koding"] * 3
    assert [row.cells[1] for row in rows] == ["300/s", "600/s", "900/s", "300/s", "600/s", "900/s*"]


def test_a_cell_without_the_asked_load_has_its_numbers_and_a_mark():
    table = table_of(rates())
    row = table.rows[-1]
    assert row.kind == "void"
    assert "–" not in row.cells[2:6]
    assert table.note == "* did not get the load that was asked for."


def test_one_run_each_is_said_once_below():
    table = table_of(imported())
    assert table.note == "One run each: how much of a change is noise is unknown."
    assert not any("run" in str(cell) for row in table.rows for cell in row.cells)


def test_rows_beyond_the_limit_are_counted():
    study = ladder().study
    trials = tuple(replace(study.trials[0], id=str(users), level=Level("users", users)) for users in range(1, 100))
    variants = (trials[0].variant,)
    analysis = replace(ladder(), study=replace(study, trials=trials, variants=variants), comparisons=())
    table = table_of(analysis)
    assert len(table.rows) == MOST_ROWS
    assert table.note.startswith(f"{99 - MOST_ROWS} more cells")


def test_every_row_has_a_cell_for_each_column():
    for make in SAMPLES.values():
        table = table_of(make())
        assert {len(row.cells) for row in table.rows} == {len(table.columns)}

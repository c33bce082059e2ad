from tests.report.studies import chain, imported, ladder, rates

from plimsoll.report.document.footnotes import Footnotes
from plimsoll.report.document.overview import chain_table, generator_table, observed_table, rates_table
from plimsoll.stats.cells import cells_of


def test_a_step_is_told_with_what_it_changed_and_what_came_of_it():
    analysis = chain()
    table = chain_table(analysis, cells_of(analysis.study), Footnotes())
    rows = {row.cells[0]: row.cells for row in table.rows}
    assert rows["index"][1] == "an index on created_at"
    assert rows["baseline"][7:] == ("–",) * 4
    assert "DIFFERENT but negligible" in rows["index"][7]
    assert "DIFFERENT but negligible" in rows["index"][8], "the step before is the baseline, too"
    assert "INVALID" in rows["async"][7]
    assert "ONE RUN EACH" in rows["limit"][8]


def test_rates_that_were_not_carried_are_marked_and_noted():
    notes = Footnotes()
    study = rates().study
    table = rates_table(study, cells_of(study), notes)
    assert [row.cells[:2] for row in table.rows] == [
        (variant, rate) for variant in ("tunnel", "koding") for rate in ("300/s", "600/s", "900/s")
    ]
    last = table.rows[-1]
    assert last.cells[3] == "92.2²"
    assert last.cells[-1] == "0 valid of 2"
    assert table.rows[0].cells[2] == "100.00%"
    assert len(notes.lines()) == 2


def test_the_generator_is_shown_run_by_run_if_anything_is_known_of_it():
    table = generator_table(rates().study)
    assert table is not None
    assert len(table.rows) == 12
    assert table.rows[0].cells == ("tunnel", "300/s", "1", "0.210", "0.350", "41 %", "99.96%", "0", "yes")
    closed = generator_table(ladder().study)
    assert closed is not None
    assert closed.rows[0].cells[-3] == "–", "nothing is offered in the closed model"
    assert generator_table(imported().study) is None


def test_what_was_observed_has_its_first_last_least_and_most():
    table = observed_table(ladder().study)
    assert table is not None
    assert len(table.rows) == 120
    row = next(row for row in table.rows if "rss" in row.cells)
    first, last, least, most = (float(each) for each in row.cells[-5:-1])
    assert least <= min(first, last)
    assert most >= max(first, last)
    assert observed_table(imported().study) is None

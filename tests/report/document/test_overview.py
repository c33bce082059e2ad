from tests.report.studies import imported, ladder, rates

from plimsoll.report.document.overview import generator_table, observed_table


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

from tests.report.studies import imported, ladder, rates

from plimsoll.report.document.overview import generator_table


def test_the_generator_is_shown_run_by_run_if_anything_is_known_of_it():
    table = generator_table(rates().study)
    assert table is not None
    assert len(table.rows) == 12
    assert table.rows[0].cells == ("tunnel", "300/s", "1", "0.210", "0.350", "41 %", "99.96%", "0", "yes")
    closed = generator_table(ladder().study)
    assert closed is not None
    assert closed.rows[0].cells[-3] == "–", "nothing is offered in the closed model"
    assert generator_table(imported().study) is None

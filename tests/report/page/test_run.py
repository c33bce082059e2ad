from dataclasses import replace

from plimsoll.report.page.run import MOST_ROWS, run_page
from plimsoll.stats.view import RunView


def test_a_time_that_was_cut_short_is_at_least_that(view, run, valid):
    page = run_page(view, run, valid)
    requests, response = page.tables[:2]
    slow = next(row for row in response.rows if row.cells[1] == "/slow")
    assert slow.cells[2:] == ("≥30000",) * 8
    assert requests.rows[-1].kind == "total"
    assert requests.rows[-1].cells[1:4] == ("Aggregated", "217", "9")


def test_a_run_that_can_be_read_has_percentiles_second_by_second(make_interval, make_health, run, valid):
    intervals = [make_interval([10.0] * 50, second=second) for second in range(5)]
    health = [make_health(second, users=3, lag_us=[100] * 50) for second in range(5)]
    view = RunView()
    view.add(intervals, health)
    view.length = 5.0
    run.ended = run.started + 5.0
    run.intervals, run.health = lambda: iter(intervals), lambda: iter(health)
    run.failures = run.exceptions = lambda: iter(())
    kinds = [chart.kind for course in run_page(view, run, valid).courses for chart in course.charts]
    assert kinds == ["course_rate", "course_times", "course_users"]


def test_one_that_is_in_memory_only_has_its_counts(view, valid):
    kinds = [chart.kind for course in run_page(view, None, valid).courses for chart in course.charts]
    assert kinds == ["course_rate", "course_users"]


def test_where_the_time_went(view, run, valid):
    curves = run_page(view, run, valid).operations[0].charts
    parts = next(chart for chart in curves if chart.name.startswith("parts"))
    assert parts.spec["encoding"]["color"]["scale"]["domain"] == ["response", "service", "lag"]


def test_an_invalid_run_has_its_reasons_and_its_numbers_struck_through(view, run, valid, invalid):
    page = run_page(view, run, invalid)
    assert page.struck
    assert page.doubts.bad
    assert page.doubts.lines == tuple(invalid.validity.reasons)
    assert any("clock, workers" in line for line in page.doubts.small)
    assert not run_page(view, run, valid).struck
    assert page.operations[0].charts, "they tell what the generator's limit was"


def test_what_was_hidden_is_told(view, run, valid, omission):
    lines = run_page(view, run, replace(valid, omission=omission)).doubts.small
    assert "stalls were hidden:" in lines


def test_exceptions_and_failures_are_there(view, run, valid):
    page = run_page(view, run, valid)
    assert page.exceptions[0].title == "8 × division by zero"
    assert page.exceptions[0].where.startswith("/home/ann/load/locustfile.py:12")
    kinds, messages = page.failures
    assert [row.cells[0] for row in kinds.rows] == ["connect", "http", "timeout"]
    assert {row.cells[1] for row in messages.rows} == {"http", "connect"}


def test_of_too_many_endpoints_the_busiest_are_shown(make_interval, run, valid):
    view = RunView()
    view.add([make_interval([1.0] * (1 + (place > 4)), name=f"/{place:05}") for place in range(MOST_ROWS + 5)])
    page = run_page(view, run, valid)
    assert len(page.tables[0].rows) == MOST_ROWS + 1
    assert page.tables[0].rows[0].cells[1] == "/00005"
    assert "5 more" in page.tables[0].note

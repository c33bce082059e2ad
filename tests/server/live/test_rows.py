from __future__ import annotations

import pytest
from tests.server.page_server import interval

from plimsoll.server.live import rows as live_rows
from plimsoll.server.live.rows import RowTable, row_of
from plimsoll.stats.table import live_total_of
from plimsoll.stats.view import RunView


@pytest.fixture
def view():
    return RunView()


@pytest.fixture
def table():
    return RowTable()


def add_second(view, *intervals):
    view.add(intervals)


def test_rows_take_turns_and_new_endpoints_come_first(table, view, monkeypatch):
    monkeypatch.setattr(live_rows, "ROWS_A_SECOND", 2)
    monkeypatch.setattr(live_rows, "FIRST_ROWS", 3)
    add_second(view, *(interval(0, f"/{n}", [1.0]) for n in range(5)))
    assert (len(table.turn(view)), len(table.turn(view))) == (3, 2)
    assert len(table.rows) == 5
    assert table.age == 3, "in three turns each has had its own"
    turns = [{row.name for row in table.turn(view)} for _ in range(5)]
    assert [len(each) for each in turns] == [2] * 5
    assert set().union(*turns) == {f"/{n}" for n in range(5)}
    add_second(view, interval(1, "/new", [1.0]))
    assert "/new" in {row.name for row in table.turn(view)}
    assert len(table.turn(view, everything=True)) == 6


def test_what_comes_too_late_for_now_is_not_taken_for_now(table, view):
    add_second(view, interval(30, "/a", [1.0]))
    add_second(view, interval(5, "/a", [1.0]))
    (row,) = table.turn(view)
    assert (row.requests, row.current_rps) == (2, 0.1)


def test_forgotten_rows_are_made_anew(table, view):
    add_second(view, interval(0, "/a", [1.0]))
    table.turn(view)
    table.forget()
    assert table.rows == {}
    assert [row.name for row in table.turn(RunView())] == []
    assert [row.name for row in table.turn(view)] == ["/a"]


def test_a_total_without_requests_has_no_times(view):
    row = row_of(live_total_of(view), view.total.service)
    assert (row.name, row.requests, row.rps, row.mean, row.p99, row.current_p50) == (
        "Aggregated",
        0,
        0.0,
        None,
        None,
        None,
    )


def test_a_percentile_of_so_few_exchanges_that_the_slowest_decide_is_told(table, view):
    add_second(view, interval(0, "/a", [1.0] * 300))
    for second in range(20, 23):
        add_second(view, interval(second, "/a", [1.0] * 30))
    row = row_of(live_total_of(view), view.total.service)
    assert row.requests == 390
    assert set(row.few) == {"p999", "current_p99"}, "390 are enough for a p99, and 90 for a p95"
    add_second(view, interval(23, "/b", [1.0] * 5))
    few = {each.name: set(each.few) for each in table.turn(view)}
    assert {"p50", "p90", "p99", "service_p50", "current_p50"} < few["/b"]

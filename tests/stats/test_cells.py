from __future__ import annotations

import math
from dataclasses import replace

import pytest

from plimsoll._engine import Histogram
from plimsoll.record.cells import CellKey
from plimsoll.stats.cell import geometric_mean
from plimsoll.stats.cells import cell_of, cells_of
from plimsoll.stats.findings.ladders import totals
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import GeneratorHealth, Level, Measured, Study, Trial

TEN, TWENTY = Level("users", 10), Level("users", 20)


def run(number: int, requests: int, p99: float, **others: object) -> Trial:
    known = {"failures": 1, "rate": requests / 10, "mean": p99 / 2, "min": float(number), "max": 2 * p99, "size": 100.0}
    row = Measured("GET", "/", requests=requests, quantiles={0.99: p99}, **known)
    total = Measured("", "Aggregated", requests=requests, quantiles={0.99: p99}, **known)
    trial = {"variant": "a", "level": TEN, "repeat": number, "endpoints": (row,), "total": total}
    return Trial(id=f"run{number}", **(trial | others))


def test_counts_add_up_times_are_geometric_means_and_extremes_are_those_of_all():
    row = cell_of(Study("s", (run(1, 100, 100.0), run(2, 300, 400.0))), CellKey("a", TEN)).endpoint(("GET", "/"))
    assert (row.requests, row.failures, row.min, row.max) == (400, 2, 1.0, 800.0)
    assert row.quantile(0.99) == pytest.approx(200.0)
    assert row.mean == pytest.approx(100.0)
    assert row.rate == pytest.approx(math.sqrt(10 * 30))
    assert row.failures_per_s == pytest.approx(row.rate * 2 / 400)


def test_values_are_those_of_a_comparison():
    row = cell_of(Study("s", (run(1, 100, 100.0), run(2, 300, 400.0))), CellKey("a", TEN)).total
    assert row.value(Metric.parse("p99")) == pytest.approx(200.0)
    assert row.value(Metric.parse("errors")) == pytest.approx((1 / 100 + 1 / 300) / 2)


def test_invalid_runs_take_no_part():
    cell = cell_of(Study("s", (run(1, 100, 100.0), run(2, 300, 400.0, invalid=("lag", "cpu")))), CellKey("a", TEN))
    assert cell.total.requests == 100
    assert (len(cell.trials), len(cell.valid), cell.reasons) == (2, 1, ("lag", "cpu"))


def test_without_a_valid_run_the_others_count():
    cell = cell_of(Study("s", (run(1, 100, 100.0, invalid=("lag",)),)), CellKey("a", TEN))
    assert (cell.total.requests, cell.valid, cell.reasons) == (100, (), ("lag",))


def test_what_one_run_does_not_tell_is_not_known():
    cell = cell_of(
        Study("s", (run(1, 100, 100.0), run(2, 300, 400.0, total=Measured("", "", rate=3.0)))),
        CellKey("a", TEN),
    )
    assert cell.total.quantile(0.99) is None
    assert cell.total.requests is None
    assert cell.total.failures_per_s is None


def test_achieved_is_that_of_the_worst_run():
    runs = (
        run(1, 100, 1.0, offered=10.0, generator=GeneratorHealth(achieved=0.999)),
        run(2, 90, 1.0, offered=10.0),
    )
    cell = cell_of(Study("s", runs), CellKey("a", TEN))
    assert cell.achieved == pytest.approx(0.9)
    assert cell.offered == 10.0
    assert cell_of(Study("s", (run(1, 100, 1.0),)), CellKey("a", TEN)).achieved is None


def test_cells_are_in_the_order_of_operation_level_variant():
    trials = (
        run(1, 1, 1.0, variant="b", level=TWENTY), run(2, 1, 1.0, variant="a", level=TWENTY),
        run(3, 1, 1.0, variant="b"), run(4, 1, 1.0, operation="x"),
    )  # fmt: skip
    found = [(cell.operation, cell.level, cell.variant) for cell in cells_of(Study("s", trials, variants=("a", "b")))]
    assert found == [("", TEN, "b"), ("", TWENTY, "a"), ("", TWENTY, "b"), ("x", TEN, "a")]


def test_geometric_means():
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert geometric_mean([2.0, None]) is None
    assert geometric_mean([2.0, math.nan]) is None
    assert geometric_mean([2.0, 0.0]) == 0.0
    assert geometric_mean([]) is None
    assert geometric_mean([71_876.0, 71_876.0]) == 71_876.0


def test_a_finding_and_a_table_have_the_same_mean_of_a_cell():
    study = Study("s", (run(1, 100, 100.0), run(2, 300, 400.0)))
    (ladder,) = totals(study)
    (rung,) = ladder.rungs
    row = cell_of(study, CellKey("a", TEN)).total
    assert rung.ended_rate == pytest.approx(row.rate)
    assert (rung.mean, rung.quantile(0.99)) == (row.mean, row.quantile(0.99))


def test_a_cell_of_all_is_the_cell_that_is_asked_for():
    study = Study("s", (run(2, 300, 400.0), run(1, 100, 100.0), run(1, 50, 10.0, level=TWENTY)))
    for cell in cells_of(study):
        asked = cell_of(study, CellKey(cell.variant, cell.level))
        assert (cell.trials, cell.endpoints[0].runs) == (asked.trials, asked.endpoints[0].runs)


def test_runs_of_one_name_are_repeats_where_nobody_numbered_them():
    same = [replace(run(0, 10, 1.0), id=f"r{number}") for number in (1, 2, 3)]
    study = Study("s", (*same, run(0, 10, 1.0, variant="b")))
    assert [(each.variant, each.repeat) for each in study.trials] == [("a", 0), ("a", 1), ("a", 2), ("b", 0)]
    assert [each.id for each in study.cell(CellKey("a", TEN))] == ["r1", "r2", "r3"]


def test_throughput_is_that_of_successful_requests():
    failing = replace(Measured("GET", "/", requests=1000, failures=920, rate=500.0))
    assert Metric("throughput").of(failing) == pytest.approx(40.0)
    assert Metric("throughput").of(replace(failing, failures=None)) == 500.0
    overdue = replace(failing, failures=100, overdue=50)
    assert Metric("throughput").of(overdue) == pytest.approx(500 * 900 / 950)


def test_no_percentile_is_above_the_maximum():
    histogram = Histogram()
    histogram.record(4_024_797)
    measured = Measured("GET", "/", requests=1, histogram=histogram, max=4024.797)
    assert histogram.value_at(0.99) / 1000 > 4024.797, "a bucket ends above it"
    assert measured.quantile(0.99) == 4024.797

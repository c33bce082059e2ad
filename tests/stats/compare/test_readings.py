from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.stats.runs import GET, P50, P99, TEN, own, recorded, study, table, trial

from plimsoll._engine import Histogram
from plimsoll.record.cells import CellKey
from plimsoll.stats.compare.readings import Readings, requests_of, timed_by_service, without_head
from plimsoll.stats.study import TOTAL, Level

STEADY = [[50.0, 51.0]] * 60
COLD = [[150.0, 151.0]] * 10 + [[50.0, 51.0]] * 50


def test_the_cut_is_the_most_that_any_valid_run_needs():
    bench = Readings(study(own("A", STEADY), own("B", COLD), own("A", STEADY, level=Level("users", 20))))
    assert bench.cut(CellKey("A", TEN)) == 10
    assert bench.cut(CellKey("A", Level("users", 20))) == 0
    broken = own("B", COLD, invalid=("late",))
    assert Readings(study(own("A", STEADY), broken)).cut(CellKey("A", TEN)) == 0
    less_cold = own("B", [[150.0]] * 5 + [[50.0]] * 55, repeat=1)
    assert Readings(study(own("B", COLD), less_cold)).cut(CellKey("A", TEN)) == 10
    means_only = own("C", STEADY)
    means_only = replace(means_only, total=replace(means_only.total, histogram=None))
    assert Readings(study(own("B", COLD), means_only)).cut(CellKey("A", TEN)) == 0
    of_a_table = trial("C", table(5))
    assert Readings(study(own("B", COLD), of_a_table)).cut(CellKey("A", TEN)) == 0


def test_what_never_becomes_steady_is_not_cut():
    for drifting in ([50.0 + second for second in range(100)], [300.0 - 2 * second for second in range(100)]):
        assert Readings(study(own("A", [[each] for each in drifting]))).cut(CellKey("A", TEN)) == 0


def test_the_part_of_a_second_at_the_end_does_not_count():
    stalled = [*COLD, [9000.0]]
    assert Readings(study(own("A", stalled, duration=60.2))).cut(CellKey("A", TEN)) == 10


def test_every_figure_is_of_the_window():
    cold, warm = own("A", COLD), own("B", STEADY)
    bench = Readings(study(cold, warm))
    for key in (GET, TOTAL):
        found = bench.measured(cold, key)
        assert (found.requests, found.rate, found.mean, found.max) == (100, 2.0, 50.5, 51.0)
        assert found.quantile(0.99) == pytest.approx(51, rel=1e-3)
        assert found.histogram.count == 100
        assert found.course.measured == slice(10, 60)
        assert found.size == 100.0
    assert bench.measured(warm, GET).requests == 100
    assert bench.measured(cold, GET) is bench.measured(cold, GET)
    assert bench.measured(cold, ("GET", "/none")) is None
    assert bench.measured(trial("A", table(1), table(2)), GET).quantile(0.99) == 1
    assert bench.warmup([cold, warm]) == 10.0
    assert bench.warmup([]) == 0.0


def test_without_a_cut_a_run_is_as_it_was():
    warm = own("A", STEADY, warmup=5)
    bench = Readings(study(warm))
    assert bench.measured(warm, GET) is warm.endpoints[0]
    assert bench.warmup([warm]) == 5.0


def test_the_head_beyond_the_warm_up_is_cut():
    measured = recorded([[1.0], [2.0], [], [4.0, 5.0]], warmup=1, mean_success=3.0, outcomes={"success": 4})
    left = without_head(measured, measured.course, 2, 3.0)
    assert (left.requests, left.rate, left.mean, left.max, left.min) == (2, 2.0, 4.5, 5.0, pytest.approx(4, rel=1e-3))
    assert (left.mean_success, left.outcomes) == (None, {})
    nothing = without_head(measured, measured.course, 3, 3.0)
    assert (nothing.requests, nothing.rate, nothing.mean, nothing.max, nothing.size) == (0, None, None, None, None)


def test_what_is_left_of_a_run_keeps_its_requests_without_a_response():
    """One second of load is left, and two responses came after it."""
    waits = Histogram()
    waits.record(9000, 4)
    given = {"requests": 9, "failures": 4, "unanswered": 4, "overdue": 4, "waits": waits, "service_waits": waits}
    measured = replace(recorded([[1.0], [2.0], [3.0], [4.0, 5.0]]), **given)
    left = without_head(measured, measured.course, 2, 3.0)
    assert (left.requests, left.failures, left.rate, left.size) == (7, 4, 1.0, 100.0)
    # (3 + 4 + 5 + 4 · 9) / 7, as each wait is longer than each time.
    assert (left.mean, left.max) == pytest.approx((48 / 7, 9), rel=1e-3)
    assert left.is_mean_at_least and left.is_at_least(0.9) and left.quantile(0.25) == pytest.approx(4, rel=1e-3)
    service = timed_by_service(replace(left, mean=None, max=None, service=left.histogram))
    assert (service.mean, service.max) == pytest.approx((48 / 7, 9), rel=1e-3)


def test_how_sure_a_percentile_is_within_its_run():
    rng = np.random.default_rng(1)
    run = own("A", np.exp(4 + 0.3 * rng.normal(size=(60, 40))).tolist())
    bench = Readings(study(run, metrics=(P50,), primary=(P99,)))
    found = bench.within(run, GET, 0.5)
    assert found.low < found.value < found.high
    assert found.value == pytest.approx(run.endpoints[0].quantile(0.5), rel=2e-3)
    assert bench.within(run, GET, 0.99) is not None
    assert bench.within(run, GET, 0.95) is None  # nobody asks for it
    of_a_table = trial("A", table(1))
    assert Readings(study(of_a_table)).within(of_a_table, GET, 0.99) is None


def test_pairs_are_of_the_same_repeat():
    a = [trial("A", repeat=repeat, id=f"a{repeat}{n}") for repeat, n in ((0, 0), (1, 0), (1, 1), (2, 0))]
    b = [trial("B", repeat=repeat, id=f"b{repeat}{n}") for repeat, n in ((3, 0), (1, 0), (1, 1), (0, 0))]
    bench = Readings(study(*a, *b))
    found = bench.pairs(CellKey("A", TEN), CellKey("B", TEN))
    assert [(x.id, y.id) for x, y in found] == [("a00", "b00"), ("a10", "b10"), ("a11", "b11")]
    assert bench.pairs(CellKey("A"), CellKey("B")) == ()
    assert bench.pairs(CellKey("A", TEN), CellKey("B", TEN)) is found
    assert bench.cell(CellKey("A", TEN)) == tuple(a)


def test_requests_are_told_from_a_rate_if_need_be():
    assert requests_of(table(1, requests=7), None) == 7
    assert requests_of(table(1, requests=None, rate=0.15), 300.0) == 45
    assert requests_of(table(1, requests=None, rate=0.15), None) is None
    assert requests_of(table(1, requests=None), 300.0) is None

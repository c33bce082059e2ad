import math

import pytest

from plimsoll.stats.cell import cell_value
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import Measured, Trial

P99, THROUGHPUT, ERRORS = Metric("quantile", 0.99), Metric("throughput"), Metric("errors")


def trial(number: int, **measured) -> Trial:
    invalid = measured.pop("invalid", ())
    total = Measured("", "Aggregated", **measured)
    return Trial(id=str(number), variant="a", repeat=number, total=total, invalid=invalid)


def test_the_interval_is_students_t_on_the_logarithms():
    cell = cell_value([trial(n, rate=rate) for n, rate in enumerate((10.0, 20.0, 40.0))], THROUGHPUT, ("", ""))
    assert cell is not None
    assert cell.value == pytest.approx(20.0)
    # t(2, 0.975) = 4.302653; the logarithms lie ln 2 apart, so s = ln 2.
    half = 4.302653 * math.log(2) / math.sqrt(3)
    assert cell.low == pytest.approx(20 * math.exp(-half), rel=1e-6)
    assert cell.high == pytest.approx(20 * math.exp(half), rel=1e-6)


def test_one_run_has_no_interval():
    cell = cell_value([trial(0, rate=10.0)], THROUGHPUT, ("", ""))
    assert cell is not None
    assert (cell.values, cell.value, cell.low, cell.high) == ((10.0,), pytest.approx(10.0), None, None)


def test_shares_of_failures_may_be_zero_and_stay_within_0_and_1():
    runs = [trial(n, requests=100, failures=failures) for n, failures in enumerate((0, 0, 3))]
    cell = cell_value(runs, ERRORS, ("", "Aggregated"))
    assert cell is not None
    assert cell.value == pytest.approx(0.01)
    assert cell.low == 0.0
    assert cell.high == pytest.approx(0.01 + 4.302653 * math.sqrt(0.0003) / math.sqrt(3), rel=1e-6)


def test_invalid_runs_count_only_where_no_other_does():
    runs = [trial(0, rate=10.0), trial(1, rate=99.0, invalid=("dropped",))]
    valid, invalid = (cell_value(of, THROUGHPUT, ("", "")) for of in (runs, runs[1:]))
    assert valid is not None
    assert invalid is not None
    assert (valid.values, invalid.values) == ((10.0,), (99.0,))


def test_what_is_not_known_is_none():
    assert cell_value([trial(0)], P99, ("", "")) is None
    assert cell_value([trial(0, quantiles={0.99: 5.0})], P99, ("GET", "/")) is None
    assert cell_value([], P99, ("", "")) is None

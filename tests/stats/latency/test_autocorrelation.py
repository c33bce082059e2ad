from __future__ import annotations

import math

import numpy as np
import pytest
from tests.stats.latency.block_bootstrap import bootstrap

from plimsoll._engine import Histogram
from plimsoll.stats.latency.autocorrelation import Counts, ratio_of_sums, woodruff
from plimsoll.stats.latency.ranks import order_ranks

EDGES = np.geomspace(1, 1e4, 800)


def ar(rng, n, rho, burn=100):
    noise = rng.normal(size=n + burn)
    values = np.empty(n + burn)
    values[0] = noise[0]
    for place in range(1, n + burn):
        values[place] = rho * values[place - 1] + noise[place]
    return values[burn:] * math.sqrt(1 - rho**2)


def counted(times):
    """times: seconds × requests, ms."""
    bins = np.searchsorted(EDGES, times)
    matrix = np.zeros((len(times), len(EDGES) + 1), dtype=np.int64)
    for second, row in enumerate(bins):
        np.add.at(matrix[second], row, 1)
    return Counts(matrix, np.append(EDGES, 2e4))


def a_run(rng, rho, seconds=300, rate=50, shared=0.3, own=0.4):
    """Lognormal times around 50 ms, whose seconds share a part that wanders."""
    return np.exp(math.log(50) + shared * ar(rng, seconds, rho)[:, None] + own * rng.normal(size=(seconds, rate)))


def test_counts_of_histograms():
    first, second = Histogram(), Histogram()
    first.record(1000, 3)
    first.record(5000)
    second.record(5000, 2)
    counts = Counts.of([first, None, second])
    assert counts.values.tolist() == [1.0, pytest.approx(5.0, rel=1e-3)]
    assert counts.matrix.tolist() == [[3, 1], [0, 0], [0, 2]]
    assert (counts.seconds, counts.total) == (3, 6)
    assert [counts.at_rank(place) for place in (1, 3, 4, 6)] == [1.0, 1.0, *[pytest.approx(5.0, rel=1e-3)] * 2]


def test_the_value_is_the_one_at_its_rank():
    rng = np.random.default_rng(1)
    counts = counted(a_run(rng, 0.5))
    merged = np.repeat(counts.values, counts.matrix.sum(axis=0))
    for p in (0.5, 0.95, 0.99):
        assert woodruff(counts, p).value == merged[math.ceil(p * len(merged)) - 1]


def test_independent_requests_get_the_interval_of_the_order_statistics():
    rng = np.random.default_rng(2)
    counts = counted(a_run(rng, 0.0, shared=0.0))
    merged = np.repeat(counts.values, counts.matrix.sum(axis=0))
    for p in (0.5, 0.95, 0.99):
        found = woodruff(counts, p)
        low, high = order_ranks(len(merged), p)
        assert found.effect < 2
        assert math.log(found.high / found.low) == pytest.approx(
            math.log(merged[high - 1] / merged[low - 1]), rel=0.5, abs=0.02
        )


def test_seconds_that_resemble_each_other_are_worth_fewer_requests():
    rng = np.random.default_rng(3)
    effects = [woodruff(counted(a_run(rng, rho)), 0.5).effect for rho in (0.0, 0.8)]
    assert effects[1] > 2 * effects[0] > 2


@pytest.mark.parametrize("seconds", [10, 20, 60, 300])
@pytest.mark.parametrize(("rho", "least"), [(0.0, 0.92), (0.5, 0.92), (0.8, 0.89), (0.9, 0.85)])
def test_means_of_short_runs_whose_seconds_correlate_are_covered_as_promised(rho, least, seconds):
    """1,000 runs each; the docstring has what 1,500 gave."""
    rng = np.random.default_rng(11)
    held = 0
    for _ in range(1000):
        estimate = ratio_of_sums(ar(rng, seconds, rho), np.ones(seconds))
        held += abs(estimate.value) <= estimate.half()
    assert held / 1000 >= least


@pytest.mark.long
def test_coverage_where_neighbours_correlate():
    """Nominally 95 %: Woodruff about that, order statistics of independent requests far below."""
    rng = np.random.default_rng(4)
    truth = 50 * math.exp(math.hypot(0.3, 0.4) * 1.6448536)
    held = {"woodruff": 0, "independent": 0}
    trials = 200
    for _ in range(trials):
        counts = counted(a_run(rng, 0.8))
        found = woodruff(counts, 0.95)
        held["woodruff"] += found.low <= truth <= found.high
        low, high = order_ranks(counts.total, 0.95)
        held["independent"] += counts.at_rank(low) <= truth <= counts.at_rank(high)
    assert held["woodruff"] / trials >= 0.89
    assert held["independent"] / trials < 0.8


def test_the_bootstrap_of_blocks_agrees():
    rng = np.random.default_rng(5)
    for rho in (0.0, 0.6):
        counts = counted(a_run(rng, rho))
        found, (low, high) = woodruff(counts, 0.95), bootstrap(counts, 0.95)
        assert low < found.value < high
        assert 0.5 < math.log(high / low) / math.log(found.high / found.low) < 1.5


def test_bounds_that_there_are_not():
    few = counted(np.full((30, 3), 50.0))
    found = woodruff(few, 0.99)
    assert (found.high, found.log_error) == (None, None)
    assert found.low is not None
    assert woodruff(counted(np.full((30, 300), 50.0)), 0.5).log_error == 0
    assert woodruff(counted(np.full((2, 300), 50.0)), 0.5).low is None
    assert woodruff(Counts.of([None, None]), 0.5) is None


def test_the_error_of_a_mean_of_independent_seconds():
    rng = np.random.default_rng(7)
    estimates = [ratio_of_sums(rng.normal(100, 10, size=400), np.ones(400)) for _ in range(50)]
    assert np.mean([each.error for each in estimates]) == pytest.approx(10 / math.sqrt(400), rel=0.1)
    assert np.std([each.value for each in estimates]) == pytest.approx(0.5, rel=0.35)
    assert estimates[0].freedom == 400 / 21 - 1


def test_a_mean_is_weighted_by_its_counts():
    estimate = ratio_of_sums([10.0, 300.0, 0.0], [1, 3, 0])
    assert estimate.value == 77.5
    nothing = ratio_of_sums([], [])
    assert math.isnan(nothing.value)
    assert nothing.half() == math.inf

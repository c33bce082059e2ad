from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from plimsoll._engine import Histogram
from plimsoll.stats.latency.sudden import slower_p, sudden_start

if TYPE_CHECKING:
    from collections.abc import Sequence


def histogram(times_ms: Sequence[float]) -> Histogram:
    found = Histogram()
    for each in times_ms:
        found.record(max(1, round(1000 * each)))
    return found


def seconds(random: np.random.Generator, medians: Sequence[float], per_s: int, sigma: float) -> list[Histogram | None]:
    return [histogram(random.lognormal(np.log(median), sigma, per_s)) for median in medians]


@pytest.mark.parametrize("seed", range(20))
def test_the_test_of_ranks_is_that_of_scipy(seed: int) -> None:
    random = np.random.default_rng(seed)
    those, others = random.integers(1, 60, 80), random.integers(1, 50, 300)
    expected = mannwhitneyu(those, others, alternative="greater", method="asymptotic", use_continuity=False).pvalue
    assert slower_p(histogram(those / 1000), histogram(others / 1000)) == pytest.approx(expected, rel=1e-6)


def test_equal_times_are_no_slower() -> None:
    assert slower_p(histogram([5.0] * 10), histogram([5.0] * 30)) == 1.0


@pytest.mark.parametrize(("per_s", "sigma"), [(20, 0.5), (20, 1.5), (60, 2.0), (8, 2.0)])
def test_a_long_tail_makes_no_cold_start(per_s: int, sigma: float) -> None:
    """Single slow requests make the mean of a second many times that of another."""
    random = np.random.default_rng(3)
    said = sum(
        sudden_start(seconds(random, [10.0] * int(random.integers(4, 9)), per_s, sigma), 5)[0] > 0 for _ in range(500)
    )
    assert said <= 2


def test_a_cold_start_is_seen_beside_a_later_second_that_is_slow_too() -> None:
    random = np.random.default_rng(3)
    found, excess = sudden_start(seconds(random, [300.0, 10, 10, 10, 350, 10, 10, 10], 30, 0.3), 5)
    assert found == 1
    assert 15 < excess < 45


def test_seconds_without_requests_belong_to_the_start() -> None:
    random = np.random.default_rng(3)
    found, _ = sudden_start([None, *seconds(random, [900.0, 10, 10, 11, 10, 9], 30, 0.3)], 5)
    assert found == 2


@pytest.mark.parametrize(
    "medians", [[10.0] * 3, [30.0, 30, 30, 30, 30, 10, 10, 10, 10, 10, 10], [300.0, 10, 200, 210, 250, 10]]
)
def test_what_is_short_or_long_or_comes_again_is_no_sudden_start(medians: list[float]) -> None:
    assert sudden_start(seconds(np.random.default_rng(3), medians, 30, 0.2), 5) == (0, 1.0)

"""How often intervals hold the truth that claim to in 95 % of cases: the table of docs/statistics.md.

    .venv/bin/python tests/stats/coverage.py

Pairs of runs of 60 s with 50 requests/s and no difference between the two: log-normal times (σ 0.4), seconds that
resemble their neighbours (AR(1), ρ 0.8, σ 0.15), 6 % between runs. Compared are their p99. Drift: the bench becomes
35 % slower from the first run to the last.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import ttest_ind

from plimsoll.stats.compare.pairs import paired
from plimsoll.stats.latency.ranks import order_ranks, rank

SECONDS, RATE, TRIALS = 60, 50, 1000
N, P = SECONDS * RATE, 0.99
METHODS = ("all requests together", "bootstrap of runs", "paired t", "Welch's t")


def runs(rng: np.random.Generator, k: int, drift: float) -> np.ndarray:
    """Sorted times of 2k runs, in the order in which they were made."""
    seconds = np.empty((2 * k, SECONDS))
    seconds[:, 0] = rng.normal(size=2 * k)
    for second in range(1, SECONDS):
        seconds[:, second] = 0.8 * seconds[:, second - 1] + 0.6 * rng.normal(size=2 * k)
    level = drift * np.arange(2 * k) / (2 * k - 1) + 0.06 * rng.normal(size=2 * k)
    own = 0.4 * rng.normal(size=(2 * k, SECONDS, RATE))
    times: np.ndarray = (level[:, None, None] + 0.15 * seconds[:, :, None] + own).reshape(2 * k, N)
    return np.sort(times, axis=1)


def held(rng: np.random.Generator, k: int, drift: float, interleaved: bool) -> list[bool]:
    """Of each method: whether its interval of ln(b/a) holds 0."""
    times = runs(rng, k, drift)
    first = rng.integers(0, 2, size=k)
    pairs = np.arange(2 * k).reshape(k, 2)
    a = pairs[np.arange(k), first] if interleaved else np.arange(k)
    b = pairs[np.arange(k), 1 - first] if interleaved else np.arange(k, 2 * k)
    values = times[:, rank(N, P) - 1]
    difference = values[b] - values[a]
    resampled = difference[rng.integers(0, k, size=(1000, k))].mean(axis=1)
    found = paired(difference.tolist())
    assert found is not None
    welch = ttest_ind(values[b], values[a], equal_var=False).confidence_interval()
    intervals = [pooled(times[a], times[b]), np.quantile(resampled, (0.025, 0.975)), found.interval, welch]
    return [bool(low <= 0 <= high) for low, high in intervals]


def pooled(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """By the order statistics of independent requests."""
    low, high = order_ranks(a.size, P)
    assert low is not None
    assert high is not None
    places = [low - 1, rank(a.size, P) - 1, high - 1]
    (low_a, mid_a, high_a), (low_b, mid_b, high_b) = (np.sort(each, axis=None)[places] for each in (a, b))
    centre = mid_b - mid_a
    return (
        centre - math.hypot(mid_b - low_b, high_a - mid_a),
        centre + math.hypot(high_b - mid_b, mid_a - low_a),
    )


def main() -> None:
    rng = np.random.default_rng(1)
    print("| pairs |", " | ".join(METHODS), "|")
    rows = [(3, 0.0, True), (5, 0.0, True), (8, 0.0, True), (5, 0.3, True), (5, 0.3, False)]
    for k, drift, interleaved in rows:
        rates = np.mean([held(rng, k, drift, interleaved) for _ in range(TRIALS)], axis=0)
        print(f"| {k}, drift {drift:g}, {'interleaved' if interleaved else 'one after the other'} |", end=" ")
        print(" | ".join(f"{100 * rate:.0f} %" for rate in rates), "|", flush=True)


if __name__ == "__main__":
    main()

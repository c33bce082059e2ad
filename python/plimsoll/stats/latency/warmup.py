"""The end of a run's warm-up: the point from which its seconds are similar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.stats.distributions.trends import kendall_p

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

BATCH = 5
"""Seconds."""
LEAST_BATCHES = 5
"""With fewer, any trend may be chance: of four batches, one order in twelve is monotonic."""
COLD = 1.2
"""A head this many times as slow as the rest was warming up. Without this bound every second run of identical seconds
has one: the minimum that MSER finds is then anywhere (simulated: 33 % of runs of 300 s, 49 % of 40 s)."""
SHORT_BATCHES = 6
"""Of a run that is too short for so many batches of `BATCH` seconds. Of six, two orders in 720 are monotonic."""
SHORT_LEAST = 10
"""Seconds: with fewer, most of the batches would be a single second."""
SHORT_RATIO = 2.0
"""Last batch / first batch, or the inverse: neighbouring seconds resemble each other, so a smaller trend of a short run
may be chance (simulated: this is 0.2 % of runs whose seconds have an autocorrelation of 0.8 and differ by 20 %, and 2 %
if they differ by 50 %)."""
TREND = 0.01
"""p of no trend, below which the half that MSER may cut does not suffice. A point at the limit alone is no evidence: 40
% of stationary runs of 20 s have it there, 15 % of 40 s."""


@dataclass(frozen=True, slots=True)
class WarmUp:
    """The result of MSER-5 for a series."""

    seconds: int
    """Better left out at its start; a multiple of `BATCH`, at most half of it."""
    stationary: bool
    """False: the minimum is at the limit and there is a trend, so no steady state was reached."""
    excess: float = 1.0
    """Mean of the seconds left out / mean of the others."""

    @property
    def cold(self) -> bool:
        """Whether there was a warm-up worth cutting off."""
        return self.seconds > 0 and self.excess > COLD


def mser5(values: ArrayLike) -> WarmUp:
    """values: one per second, e.g. mean times or counts; NaN for a second without any.

    Means z of batches of five seconds; the cut d ≤ n/2 that minimises Σ_{i>d} (z_i − z̄_d)² / (n − d)², the squared
    standard error of the mean of the rest: White, Cobb and Spratt, WSC 2000. Fails on periodic series.
    """
    batches = _batches(np.asarray(values, dtype=np.float64))
    if len(batches) < 2:
        return WarmUp(0, True)
    limit = len(batches) // 2
    scores = _scores(batches, limit)
    # The first of those that are equal except for rounding.
    rounding = (1e-9 * np.abs(batches).max()) ** 2 / len(batches)
    cut = int(np.flatnonzero(scores <= scores.min() * (1 + 1e-9) + rounding)[0])
    stationary = cut < limit or not _has_trend(batches)
    rest = float(batches[cut:].mean())
    excess = float(batches[:cut].mean()) / rest if cut and rest else 1.0
    return WarmUp(cut * BATCH, stationary, excess)


def short_trend(values: ArrayLike) -> bool:
    """Whether a run of less than `SHORT_BATCHES` batches of `BATCH` seconds moves in one direction all the time, by
    `SHORT_RATIO` or more; values as for `mser5`."""
    seconds = np.asarray(values, dtype=np.float64)
    seconds = seconds[np.isfinite(seconds)]
    if not SHORT_LEAST <= len(seconds) < SHORT_BATCHES * BATCH:
        return False
    batches = np.array([part.mean() for part in np.array_split(seconds, SHORT_BATCHES)])
    first, last = float(batches[0]), float(batches[-1])
    return max(first, last) >= SHORT_RATIO * min(first, last) and kendall_p(batches) < TREND


def _batches(values: np.ndarray) -> np.ndarray:
    """Means of five; a batch without a value repeats the one before."""
    whole = values[: len(values) // BATCH * BATCH].reshape(-1, BATCH)
    counts = np.isfinite(whole).sum(axis=1)
    if not counts.any():
        return np.empty(0)
    means = np.nansum(np.where(np.isfinite(whole), whole, 0.0), axis=1) / np.maximum(counts, 1)
    known = np.flatnonzero(counts)
    before = np.maximum(np.searchsorted(known, np.arange(len(means)), side="right") - 1, 0)
    filled: np.ndarray = means[known[before]]
    return filled


def _scores(batches: np.ndarray, limit: int) -> np.ndarray:
    """Of each cut from 0 to limit: Σ(z − z̄)² / n² of the n batches after it, as (Σz² − (Σz)² / n) / n²."""
    # The batches are taken from the mean of those that no cut leaves out, or the difference would lose its digits.
    apart = batches - batches[limit:].mean()
    n = np.arange(len(batches), len(batches) - limit - 1, -1)
    sums, squares = (np.cumsum(each[::-1])[::-1][: limit + 1] for each in (apart, apart**2))
    scores: np.ndarray = np.maximum(squares - sums**2 / n, 0) / n**2
    return scores


def _has_trend(batches: np.ndarray) -> bool:
    """By Mann and Kendall: the rank correlation of the batches with their position."""
    if len(batches) < LEAST_BATCHES:
        return False
    return kendall_p(batches) < TREND

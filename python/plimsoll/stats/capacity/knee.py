"""The load at which throughput stops following the load: a broken-stick fit, and the rungs around it.

X = a · min(N, N_k), fitted by least squares to the rungs up to the highest throughput; later rungs (collapse) are not
fitted. The fit gives a number, the rungs give what is certain: the last one that keeps pace and the first one that does
not. A knee is a change that stays: no rung after it keeps pace again, and one lags by more than runs differ by chance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

KEEPS = 0.95
"""A rung keeps pace with at least this share of a · N: a larger gap exceeds the scatter between runs."""
LAGS = 0.90
"""A rung clearly lags below this share; values in between are undecided."""
LEAST_RUNGS = 3
"""Up to the peak: two parameters fit two points exactly, which proves nothing."""
LEAST_RISING = 2
"""Rungs that keep pace: a single one would be compared only with itself."""


@dataclass(frozen=True, slots=True)
class Knee:
    """Loads are in the given unit, users or arrivals per second."""

    load: float | None
    """N_k, where the rising and the flat part meet; None if that is not in (low, high]: then the rungs beside it
    contradict the fit."""
    slope: float
    """a: requests per second that one more user (or arrival) adds before the knee."""
    capacity: float
    """Requests per second of the flat part: a · N_k; the highest throughput of a rung, if N_k is unknown."""
    low: float
    """The last rung that keeps pace."""
    high: float
    """The first rung after it that clearly lags, and after which all lag: the knee is in (low, high]."""


def knee(loads: Sequence[float], rates: Sequence[float], margin: float = 0.0) -> Knee | None:
    """From the throughput per rung, loads ascending. margin: how far ln X of a rung may be below ln(a · N) by chance.

    None if there are fewer than `LEAST_RUNGS` rungs up to the highest throughput, fewer than `LEAST_RISING` that keep
    pace, or if those beyond do not lag to the end, and by more than chance: then the ladder does not show a knee.
    Raises ValueError for lists of different lengths or loads that do not ascend.
    """
    n, x = _checked(loads, rates)
    peak = int(x.argmax()) + 1
    if peak < LEAST_RUNGS:
        return None
    slope, bend = _broken_stick(n[:peak], x[:peak])
    share = x / (slope * n)
    keeping = np.flatnonzero(share >= KEEPS)
    if len(keeping) < LEAST_RISING:
        return None
    last = int(keeping[-1])
    lagging = last + 1 + np.flatnonzero(share[last + 1 :] < LAGS)
    if not len(lagging) or share[lagging].min() > math.exp(-margin):
        return None
    low, high = float(n[last]), float(n[lagging[0]])
    if not low < bend <= high:
        return Knee(None, slope, float(x.max()), low, high)
    return Knee(bend, slope, slope * bend, low, high)


def proportional(loads: Sequence[float], rates: Sequence[float]) -> float | None:
    """The slope if throughput follows the load at every rung, so that the knee is beyond the ladder; else None.

    Raises ValueError like `knee`.
    """
    n, x = _checked(loads, rates)
    if len(n) < LEAST_RUNGS:
        return None
    slope = float(n @ x / (n @ n))
    return slope if bool((x >= KEEPS * slope * n).all()) else None


def saturation_bound(cycle: float, capacity: float) -> float:
    """N* = (R₀ + Z) · X_max: above this number users must wait for one another. cycle: seconds between requests of a
    single user without others; capacity: requests per second. (Asymptotic bounds of operational analysis, Denning and
    Buzen 1978.)"""
    return cycle * capacity


def _checked(loads: Sequence[float], rates: Sequence[float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    n, x = np.asarray(loads, dtype=float), np.asarray(rates, dtype=float)
    if len(n) != len(x):
        raise ValueError(f"{len(n)} loads for {len(x)} rates")
    if len(n) == 0 or n[0] <= 0 or (np.diff(n) <= 0).any():
        raise ValueError("loads have to be positive and ascending")
    return n, x


def _broken_stick(n: NDArray[np.float64], x: NDArray[np.float64]) -> tuple[float, float]:
    """(a, N_k) with the least squares: exact, since each of the few ways to split the rungs is a linear problem."""
    fits = []
    for rising in range(1, len(n)):
        slope = float(n[:rising] @ x[:rising] / (n[:rising] @ n[:rising]))
        bend = float(x[rising:].mean() / slope) if slope > 0 else n[0]
        if n[rising - 1] <= bend <= n[rising]:
            fits.append((slope, bend))
    for bend in n:
        bent = np.minimum(n, bend)
        fits.append((float(bent @ x / (bent @ bent)), float(bend)))
    return min(fits, key=lambda fit: float(((fit[0] * np.minimum(n, fit[1]) - x) ** 2).sum()))

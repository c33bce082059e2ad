"""How much load meets an objective, from runs around the place where it stops being met.

A search by halves ends at a bracket that rarely holds the truth: each of its steps trusts one noisy run. So the runs
that confirm are spread evenly around the bracket, in random order, and the load at which the criterion's value crosses
its limit is read off a line through them: ln(value) = a + e * ln(load), where e is the elasticity. The confidence
interval of that crossing is Fieller's (E. C. Fieller, 1954, JRSS B 16, 175–185; for calibration N. R. Draper and
H. Smith, Applied Regression Analysis, 3rd ed., section 3.2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.study import LoadUnit
    from plimsoll.stats.thresholds.grammar import Threshold
    from plimsoll.stats.thresholds.slo import Strain

CONFIDENCE = 0.95
LEAST_POINTS = 6
"""Confirming runs with a value; the line has two parameters, and its spread is to be told too."""

ProbePhase = Literal["double", "bisect", "confirm"]


@dataclass(frozen=True, slots=True)
class CapacityProbe:
    """One run of the search."""

    load: float
    """Users, or arrivals per second."""
    seconds: float
    """Measured, without the warm-up."""
    phase: ProbePhase
    strains: tuple[Strain, ...]
    invalid: tuple[str, ...] = ()
    """Why it says nothing of the target."""
    run: str = ""

    @property
    def passed(self) -> bool:
        return not self.invalid and all(each.held for each in self.strains)

    @property
    def strain(self) -> float:
        """Of the criterion that came closest to breaking, or broke most."""
        return max(each.strain for each in self.strains)


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where a criterion's value crosses its limit."""

    criterion: Threshold
    load: float
    low: float
    high: float
    elasticity: float
    """d ln(value) / d ln(load)."""
    spread: float
    """Standard deviation of ln(value) around the line: how far runs at the same load lie apart."""
    runs: int


@dataclass(frozen=True, slots=True)
class Capacity:
    """The answer. load None: the objective is not met even at the lowest load that was tried."""

    load: float | None
    low: float | None
    """95 % confidence interval if `crossing`, else the bracket of runs."""
    high: float | None
    """None: nothing that was tried broke the objective, or could be judged."""
    crossing: Crossing | None
    failed: tuple[Threshold, ...]
    """The criteria that broke above it, the one that broke most first."""
    why: str
    """How it was found, or why there is no interval."""


def capacity(probes: Sequence[CapacityProbe], unit: LoadUnit) -> Capacity:
    """probes: all valid and invalid ones of a search, in any order."""
    valid = [each for each in probes if not each.invalid]
    passed = sorted(each.load for each in valid if each.passed)
    failed = [each for each in valid if not each.passed]
    broken = _broken(failed)
    if not valid:
        return Capacity(None, None, None, None, (), _unbroken(probes, unit))
    if not passed:
        lowest = min((each.load for each in failed), default=None)
        return Capacity(None, None, lowest, None, broken, "the objective was not met at any load that was tried")
    if not failed:
        return Capacity(passed[-1], passed[-1], None, None, (), _unbroken(probes, unit))
    confirming = [each for each in valid if each.phase == "confirm"]
    crossings = [found for each in broken if isinstance(found := cross(confirming, each), Crossing)]
    first = min(crossings, key=lambda each: each.load, default=None)
    if first is None:
        low, high = bracket(valid)
        why = f"the bracket of the runs themselves: {cross(confirming, broken[0])}"
        return Capacity(low or None, low or None, high, None, broken, why)
    for other in broken:
        held, broke = step(confirming, other)
        if other != first.criterion and broke is not None and broke < first.low:
            why = f"the bracket of {len(confirming)} runs, in random order: {other.subject} breaks there"
            return Capacity(held, held, broke, None, broken, why)
    why = f"{first.runs} runs around it, in random order; {first.criterion.subject} crosses its limit there"
    return Capacity(first.load, first.low, first.high, first, broken, why)


def cross(confirming: Sequence[CapacityProbe], criterion: Threshold) -> Crossing | str:
    """Or why there is none, in words."""
    points = [
        (math.log(each.load), math.log(strain.value))
        for each in confirming
        for strain in each.strains
        if strain.criterion == criterion and strain.value is not None and strain.value > 0 and not strain.at_least
    ]
    if criterion.subject.kind not in ("quantile", "mean", "min", "max") or criterion.limit <= 0:
        return f"{criterion.subject} does not grow smoothly with the load, so there is no line to read it off"
    if len(points) < LEAST_POINTS or len({x for x, _ in points}) < 3:
        return f"{len(points)} confirming runs with a value are too few for a line (at least {LEAST_POINTS})"
    from scipy import stats

    x, y = np.array(points).T
    line = stats.linregress(x, y)
    slope, count = float(line.slope), len(points)
    rest = y - (line.intercept + slope * x)
    spread = math.sqrt(float(rest @ rest) / (count - 2))
    around = float(((x - x.mean()) ** 2).sum())
    t = float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 2))
    # Fieller: all loads whose value on the line is not distinguishable from the limit. g < 1: the slope is certain.
    g = (t * spread) ** 2 / (slope**2 * around) if slope else math.inf
    if slope <= 0 or g >= 1:
        return f"{criterion.subject} does not certainly grow with the load there (elasticity {slope:.2g})"
    centre = float(x.mean())
    offset = (math.log(criterion.limit) - float(y.mean())) / slope
    half = t * spread / slope * math.sqrt((1 - g) / count + offset**2 / around)
    low, high = ((offset + sign * half) / (1 - g) for sign in (-1, 1))
    if not _reached(centre + offset, x):
        return (
            f"the line crosses the limit outside of the loads that were confirmed, at {math.exp(centre + offset):.4g}"
        )
    return Crossing(
        criterion, math.exp(centre + offset), math.exp(centre + low), math.exp(centre + high), slope, spread, count
    )


def step(confirming: Sequence[CapacityProbe], criterion: Threshold) -> tuple[float | None, float | None]:
    """The loads between which a criterion that has no line breaks: where the fewest runs disagree with "held up to
    there, and not beyond". None: beyond the loads of the runs."""
    runs = sorted(
        (each.load, strain.held) for each in confirming for strain in each.strains if strain.criterion == criterion
    )
    disagree = [
        sum(not held for _, held in runs[:split]) + sum(held for _, held in runs[split:])
        for split in range(len(runs) + 1)
    ]
    split = disagree.index(min(disagree))
    return runs[split - 1][0] if split else None, runs[split][0] if split < len(runs) else None


def bracket(valid: Sequence[CapacityProbe]) -> tuple[float, float | None]:
    """The lowest load at which most runs did not meet the objective, and the highest one below it at which most did."""
    by_load: dict[float, list[bool]] = {}
    for each in valid:
        by_load.setdefault(each.load, []).append(each.passed)
    met = {load: sum(each) * 2 > len(each) for load, each in by_load.items()}
    high = min((load for load, good in met.items() if not good), default=None)
    low = max((load for load, good in met.items() if good and (high is None or load < high)), default=0.0)
    return low, high


def _reached(place: float, x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    """Within what was confirmed, give or take a tenth of it: a line says nothing of what lies beyond."""
    margin = 0.1 * float(x.max() - x.min())
    return bool(x.min() - margin <= place <= x.max() + margin)


def _broken(failed: Sequence[CapacityProbe]) -> tuple[Threshold, ...]:
    """The criteria that broke, those first that did at the lowest loads, and of these the ones that broke most."""
    worst: dict[Threshold, tuple[float, float]] = {}
    for probe in failed:
        for each in probe.strains:
            if not each.held:
                key = probe.load, -each.strain
                worst[each.criterion] = min(worst.get(each.criterion, key), key)
    return tuple(sorted(worst, key=lambda each: worst[each]))


def _unbroken(probes: Sequence[CapacityProbe], unit: LoadUnit) -> str:
    invalid = [each for each in probes if each.invalid]
    if invalid:
        first = min(invalid, key=lambda each: each.load)
        what = "users" if unit == "users" else "/s"
        return f"at {first.load:g} {what} the generator was the limit: {first.invalid[0]}"
    return "nothing that was tried broke the objective"

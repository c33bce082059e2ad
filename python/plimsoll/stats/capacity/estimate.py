"""The capacity for an objective: the result of a search, from all of its runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll.stats.capacity.boundary import boundary, split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.capacity.probe import CapacityProbe
    from plimsoll.stats.thresholds.grammar import Threshold

CONFIDENCE = 0.95
NEAR = 0.9
"""Only runs from this share of the capacity on show whether the backlog still grows there."""

Ending = Literal["found", "bracket", "unbroken", "unmet", "unknown"]


@dataclass(frozen=True, slots=True)
class Capacity:
    """The result."""

    ending: Ending
    """found: `load` with its 95 % interval. bracket: the runs disagree too much for an interval; all runs at `low` and
    below met the objective, all at `high` and above broke it. unbroken: no run broke it, and `low` is the highest load.
    unmet: no run met it, and `high` is the lowest load. unknown: no valid run."""
    load: float | None = None
    low: float | None = None
    high: float | None = None
    broken: tuple[Threshold, ...] = ()
    """The criteria that broke above it, those broken by the most runs first."""
    generator: tuple[float, str] | None = None
    """The lowest load without a valid run, and why its runs do not count, if the generator ended the search."""
    grows: tuple[float, float] | None = None
    """(load, requests per second): the backlog still grew this fast at the highest such load that met the objective;
    (load, 0): it did not grow up to there. None: unknown."""


def capacity(probes: Sequence[CapacityProbe]) -> Capacity:
    """probes: all of a search, in any order; including invalid ones."""
    valid = [probe for probe in probes if not probe.invalid]
    runs = [(probe.load, probe.passed) for probe in valid]
    broken = _broken(valid)
    if not valid:
        return Capacity("unknown", generator=_limit(probes))
    low, high = split(runs)
    if not any(met for _, met in runs):
        return Capacity("unmet", None, None, high, broken)
    if not broken:
        return Capacity("unbroken", None, low, None, broken, _limit(probes), _growth(valid, low))
    found = boundary(runs) if low is not None and high is not None else None
    if found is None or found.low is None or found.high is None:
        held = max((load for load, _ in runs if all(met for at, met in runs if at <= load)), default=None)
        broke = min((load for load, _ in runs if not any(met for at, met in runs if at >= load)), default=None)
        return Capacity(
            "bracket", None, held, broke, broken, _limit(probes) if high is None else None, _growth(valid, held)
        )
    return Capacity("found", found.load, found.low, found.high, broken, None, _growth(valid, found.load))


def _growth(valid: Sequence[CapacityProbe], load: float | None) -> tuple[float, float] | None:
    """By majority of the runs that met the objective close to the capacity: a single one may include a stall."""
    near = [
        (probe.load, probe.backlog)
        for probe in valid
        if load is not None and probe.passed and probe.backlog is not None and NEAR * load <= probe.load <= load
    ]
    if not near:
        return None
    growing = [(at, growth) for at, growth in near if growth > 0]
    return max(growing) if len(growing) * 2 > len(near) else (max(near)[0], 0.0)


def _broken(valid: Sequence[CapacityProbe]) -> tuple[Threshold, ...]:
    """The criteria that most runs broke first; of several the one that broke at the lowest load."""
    counts: dict[Threshold, int] = {}
    for probe in sorted(valid, key=lambda probe: probe.load):
        for result in probe.results:
            if not result.held:
                counts[result.criterion] = counts.get(result.criterion, 0) + 1
    return tuple(sorted(counts, key=lambda criterion: -counts[criterion]))


def _limit(probes: Sequence[CapacityProbe]) -> tuple[float, str] | None:
    counted = {probe.load for probe in probes if not probe.invalid}
    first = min((probe for probe in probes if probe.load not in counted), key=lambda probe: probe.load, default=None)
    return (first.load, first.invalid[0]) if first is not None else None

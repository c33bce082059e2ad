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
    generator: str = ""
    """Why runs above were invalid, if the generator ended the search."""
    grows: tuple[float, float] | None = None
    """(load, requests per second): the backlog still grew this fast at the highest such load that met the objective;
    (load, 0): it did not grow up to there. None: unknown."""


def capacity(probes: Sequence[CapacityProbe]) -> Capacity:
    """probes: all of a search, in any order; including invalid ones."""
    valid = [each for each in probes if not each.invalid]
    runs = [(each.load, each.passed) for each in valid]
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
            "bracket", None, held, broke, broken, _limit(probes) if high is None else "", _growth(valid, held)
        )
    return Capacity("found", found.load, found.low, found.high, broken, "", _growth(valid, found.load))


def _growth(valid: Sequence[CapacityProbe], load: float | None) -> tuple[float, float] | None:
    """By majority of the runs that met the objective close to the capacity: a single one may include a stall."""
    near = [
        (each.load, each.backlog)
        for each in valid
        if load is not None and each.passed and each.backlog is not None and NEAR * load <= each.load <= load
    ]
    if not near:
        return None
    growing = [each for each in near if each[1] > 0]
    return max(growing) if len(growing) * 2 > len(near) else (max(near)[0], 0.0)


def _broken(valid: Sequence[CapacityProbe]) -> tuple[Threshold, ...]:
    """The criteria that most runs broke first; of several the one that broke at the lowest load."""
    counts: dict[Threshold, int] = {}
    for probe in sorted(valid, key=lambda each: each.load):
        for each in probe.results:
            if not each.held:
                counts[each.criterion] = counts.get(each.criterion, 0) + 1
    return tuple(sorted(counts, key=lambda each: -counts[each]))


def _limit(probes: Sequence[CapacityProbe]) -> str:
    """The lowest load without valid runs, and the reason; "" if there is none."""
    counted = {each.load for each in probes if not each.invalid}
    first = min((each for each in probes if each.load not in counted), key=lambda each: each.load, default=None)
    return f"at {first.load:.12g}: {first.invalid[0]}" if first is not None else ""

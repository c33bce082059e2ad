"""ELAST: loads where a little more load makes the tail much longer."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.ladders import of_endpoints
from plimsoll.stats.findings.overload import backlog
from plimsoll.stats.findings.subject import Subject, subject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.findings.ladders import Ladder, Rung
    from plimsoll.stats.study import Level, Study

STEEP = 4.0
"""A queue with random arrivals and services (M/M/1) has e = ρ/(1 − ρ), 4 at 80 % utilisation: a limit for use."""


def elasticity(load: float, value: float, next_load: float, next_value: float) -> float:
    """Relative growth of the value per relative growth of the load: Δ ln value / Δ ln load."""
    return math.log(next_value / value) / math.log(next_load / load)


def utilisation(e: float) -> float:
    """ρ at which an M/M/1 queue has this elasticity."""
    return e / (1 + e)


@dataclass(frozen=True, slots=True)
class SteepTail(Finding):
    """A tail that grows much more than the load."""

    id = "ELAST"
    subject: Subject
    elasticity: float
    loads: tuple[float, float]
    p99_ms: tuple[float, float]
    utilisation: float | None
    """Of a queue with this elasticity; None where the rule of the queue does not apply."""
    levels: tuple[Level, Level]
    endpoints: tuple[tuple[str, float], ...]
    """Label and elasticity of all endpoints that grow so, the steepest one included."""
    known: float
    """Endpoints whose p99 is known."""
    label: tuple[str]
    """Of the steepest endpoint."""


def steep(study: Study) -> Iterable[Finding]:
    by_cell: defaultdict[tuple[str, str, float, float], list[tuple[float, Ladder, Rung, Rung]]] = defaultdict(list)
    for ladder in of_endpoints(study):
        for lower, upper in pairwise(ladder.rungs):
            before, after = lower.quantile(0.99), upper.quantile(0.99)
            if before and after and not all(backlog(trial) for trial in upper.trials):
                e = elasticity(lower.load, before, upper.load, after)
                by_cell[ladder.variant, ladder.operation, lower.load, upper.load].append((e, ladder, lower, upper))
    for (variant, operation, _, _), found in by_cell.items():
        flagged = [each for each in found if each[0] >= STEEP]
        if flagged:
            yield _finding(study, variant, operation, flagged, len(found))


def _finding(
    study: Study, variant: str, operation: str, flagged: list[tuple[float, Ladder, Rung, Rung]], known: int
) -> Finding:
    e, ladder, lower, upper = max(flagged, key=lambda each: each[0])
    # Beyond its capacity, where requests fail, a queue has no utilisation.
    is_queue = ladder.unit == "/s" and (upper.failures or 0) <= study.tolerance * (upper.requests or 0)
    return SteepTail(
        subject(study, variant, operation),
        elasticity=e,
        loads=(lower.load, upper.load),
        p99_ms=(lower.quantile(0.99) or 0.0, upper.quantile(0.99) or 0.0),
        utilisation=utilisation(e) if is_queue else None,
        levels=(lower.level, upper.level),
        endpoints=tuple((entry[1].label, entry[0]) for entry in flagged),
        known=float(known),
        label=(ladder.label,),
        where=Where(variant, upper.level, operation, ladder.key if known == 1 and ladder.label else None),
        weight="insight",
    )

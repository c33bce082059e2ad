"""ELAST: loads where a little more load makes the tail much longer."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from plimsoll.stats import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.ladders import of_endpoints
from plimsoll.stats.findings.overload import backlog

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.findings.ladders import Ladder, Rung
    from plimsoll.stats.study import Study

STEEP = 4.0
"""A queue with random arrivals and services (M/M/1) has e = ρ/(1 − ρ), 4 at 80 % utilisation: a limit for use."""
RULE = (
    "e = Δ ln p99 / Δ ln load between two levels is at least 4; a queue with random arrivals (M/M/1) has "
    "e = ρ/(1 − ρ), so that is 80 % utilisation. In a closed loop users slow down with the target, so e is a flag only"
)


def elasticity(load: float, value: float, next_load: float, next_value: float) -> float:
    """Relative growth of the value per relative growth of the load: Δ ln value / Δ ln load."""
    return math.log(next_value / value) / math.log(next_load / load)


def utilisation(e: float) -> float:
    """ρ at which an M/M/1 queue has this elasticity."""
    return e / (1 + e)


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
    who = wording.lead(wording.subject(study, variant, operation))
    of = f" of {ladder.label}" if known > 1 else ""
    others = f" ({len(flagged)} of {known} endpoints grow so)" if known > 1 else ""
    meaning = f", as in a queue at {wording.whole_percent(utilisation(e))} utilisation" if is_queue else ""
    evidence: dict[str, float | str | tuple[float, ...]] = {
        "elasticity": e,
        "loads": (lower.load, upper.load),
        "p99_ms": (lower.quantile(0.99) or 0.0, upper.quantile(0.99) or 0.0),
    }
    if is_queue:
        evidence["utilisation"] = utilisation(e)
    evidence.update({f"elasticity of {each[1].label}": each[0] for each in flagged if each[1].label})
    return Finding(
        "ELAST",
        "insight",
        f"{who}from {lower.level} to {upper.level} p99{of} grows from {wording.ms(lower.quantile(0.99) or 0)} to "
        f"{wording.ms(upper.quantile(0.99) or 0)}: each 1 % more load makes it {e:.3g} % longer{meaning}{others}.",
        Where(variant, upper.level, operation, ladder.key if known == 1 and ladder.label else None),
        RULE,
        evidence,
        f"Keep the load below {upper.level} where p99 matters.",
    )

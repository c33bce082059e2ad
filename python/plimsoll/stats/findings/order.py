"""ORDER: numbers of one row that contradict each other."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from plimsoll.stats.findings import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Measured, Precision, Study

RULE = "min ≤ p50 ≤ … ≤ p99 ≤ max, within one step of the tool's rounding: otherwise one of the numbers is wrong"


def order(study: Study) -> Iterable[Finding]:
    for trial in study.trials:
        for measured in rows_of(trial):
            wrong = disorder(measured, trial.precision)
            if wrong is None:
                continue
            (low, less), (high, more) = wrong
            yield Finding(
                "ORDER",
                "blocks",
                f"{wording.place(study, trial, measured.label)}: {low} {wording.ms(less)} is above {high} "
                f"{wording.ms(more)}, which no set of requests can give.",
                Where(trial.variant, trial.level, trial.operation, measured.key, trial.id),
                RULE,
                {f"{low}_ms": less, f"{high}_ms": more},
                "Look the row up where it came from: a digit is missing, or two cells are swapped.",
            )


def disorder(measured: Measured, precision: Precision) -> tuple[tuple[str, float], tuple[str, float]] | None:
    """The first two neighbours that are in the wrong order by more than a step of rounding."""
    told = [(f"p{q * 100:.10g}", value) for q, value in sorted(measured.quantiles.items())]
    extremes = (measured.min, measured.max)
    values = [
        *((("min", extremes[0]),) if extremes[0] is not None else ()),
        *told,
        *((("max", extremes[1]),) if extremes[1] is not None else ()),
    ]
    for first, second in pairwise(values):
        if first[1] > second[1] + precision.step(max(first[1], second[1])):
            return first, second
    return None

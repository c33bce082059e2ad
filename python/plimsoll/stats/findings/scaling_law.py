"""USL: the parameters of the universal scalability law, or why they are unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.capacity.scaling import LawDoubt, too_short, usl
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.ladders import totals, users_of
from plimsoll.stats.findings.retrograde import ALARM, fall_p, is_repeated
from plimsoll.stats.findings.subject import Subject, subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.capacity.scaling import ScalabilityLaw
    from plimsoll.stats.findings.ladders import Ladder, Rung
    from plimsoll.stats.study import Level, Study

LEAST_TO_MENTION = 3
"""Rungs below which fitting the law is not mentioned."""


@dataclass(frozen=True, slots=True)
class ScalingLaw(Finding):
    """The parameters of the law. Loads are requests in flight."""

    id = "USL"
    subject: Subject
    loads: tuple[float, float]
    """Of the lowest and the highest level."""
    slope_per_s: float
    contention: float
    coherence: float
    peak: float
    capacity_per_s: float
    r2: float


@dataclass(frozen=True, slots=True)
class NoScalingLaw(Finding):
    """Why the parameters are unknown."""

    id = "USL"
    subject: Subject
    peak: float
    """The load with the highest throughput, …"""
    peak_per_s: float
    level: Level
    """… and its level."""
    doubts: tuple[LawDoubt, ...]


def scaling_law(study: Study) -> Iterable[Finding]:
    for ladder in totals(study):
        rungs, rates = ladder.with_rates()
        if ladder.unit != "users" or len(rungs) < LEAST_TO_MENTION:
            continue
        lacks = too_short([rung.load for rung in rungs], rates)
        loads = _loads(rungs, rates)
        unknown = () if loads else (LawDoubt("pauses" if _pauses_are_unknown(rungs) else "no mean"),)
        failed = () if min(rates) else (LawDoubt("no success"),)
        if lacks or loads is None or failed:
            yield _refused(study, ladder, (*lacks, *unknown, *failed), rungs, rates)
            continue
        fit = usl(loads, rates)
        reasons = fit.reasons or _not_fallen(rungs, rates)
        yield _refused(study, ladder, reasons, rungs, rates) if reasons else _published(study, ladder, fit)


def _pauses_are_unknown(rungs: Sequence[Rung]) -> bool:
    return any(trial.think is None for rung in rungs for trial in rung.trials)


def _not_fallen(rungs: Sequence[Rung], rates: Sequence[float]) -> tuple[LawDoubt, ...]:
    """Whether repeated runs do not show the fall beyond the peak of the curve."""
    p = fall_p(rungs, rates) if is_repeated(rungs) else None
    if p is None or p <= ALARM:
        return ()
    return (LawDoubt("no fall", (p,), str(rungs[-1].level)),)


def _loads(rungs: Sequence[Rung], rates: Sequence[float]) -> list[float] | None:
    """Users who never pause, else exchanges in flight: X · R. None if neither is known."""
    if all(trial.think == 0 for rung in rungs for trial in rung.trials):
        return [users_of(rung) for rung in rungs]
    if any(rung.mean is None for rung in rungs):
        return None
    return [rate * (rung.mean or 0.0) / 1000 for rung, rate in zip(rungs, rates, strict=True)]


def _published(study: Study, ladder: Ladder, fit: ScalabilityLaw) -> Finding:
    return ScalingLaw(
        subject(study, ladder.variant, ladder.operation),
        loads=(ladder.rungs[0].load, ladder.rungs[-1].load),
        slope_per_s=fit.slope,
        contention=fit.contention,
        coherence=fit.coherence,
        peak=fit.peak or 0.0,
        capacity_per_s=fit.capacity or 0.0,
        r2=fit.r2,
        where=Where(ladder.variant, None, ladder.operation),
        weight="insight",
    )


def _refused(
    study: Study, ladder: Ladder, doubts: tuple[LawDoubt, ...], rungs: Sequence[Rung], rates: Sequence[float]
) -> Finding:
    top = max(range(len(rates)), key=lambda index: rates[index])
    return NoScalingLaw(
        subject(study, ladder.variant, ladder.operation),
        peak=rungs[top].load,
        peak_per_s=rates[top],
        level=rungs[top].level,
        doubts=doubts,
        where=Where(ladder.variant, None, ladder.operation),
        weight="insight",
    )

"""USL: the parameters of the universal scalability law, or why they cannot be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.stats.capacity.scaling import LEAST_R2, LEAST_RUNGS, LEAST_SIDE, MOST_RESIDUAL, too_short, usl
from plimsoll.stats.findings import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.ladders import totals, users_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.capacity.scaling import ScalabilityLaw
    from plimsoll.stats.findings.ladders import Ladder, Rung
    from plimsoll.stats.study import Study

RULE = (
    f"σ and κ are published only with at least {LEAST_RUNGS} rungs, {LEAST_SIDE} on each side of the peak, "
    f"R² ≥ {LEAST_R2}, no rung further off than {MOST_RESIDUAL * 100:.0f} % of the highest throughput, no parameter at "
    "its bound and the peak inside the ladder: otherwise other values fit as well"
)
LEAST_TO_MENTION = 3
"""Rungs from which on somebody might want to fit a law at all."""


def scaling_law(study: Study) -> Iterable[Finding]:
    for ladder in totals(study):
        rungs, rates = ladder.with_rates()
        if ladder.unit != "users" or len(rungs) < LEAST_TO_MENTION:
            continue
        lacks = too_short([rung.load for rung in rungs], rates)
        loads = _loads(rungs, rates)
        if lacks or loads is None:
            unknown = () if loads else ("users pause an unknown time, so it is not known how many are in flight",)
            yield _refused(study, ladder, (*lacks, *unknown), rungs, rates)
            continue
        fit = usl(loads, rates)
        yield _published(study, ladder, fit) if fit.published else _refused(study, ladder, fit.reasons, rungs, rates)


def _loads(rungs: Sequence[Rung], rates: Sequence[float]) -> list[float] | None:
    """Users who never pause, else exchanges in flight: X · R. None where neither is known."""
    if all(trial.think == 0 for rung in rungs for trial in rung.trials):
        return [users_of(rung) for rung in rungs]
    if any(rung.mean is None for rung in rungs):
        return None
    return [rate * (rung.mean or 0.0) / 1000 for rung, rate in zip(rungs, rates, strict=True)]


def _published(study: Study, ladder: Ladder, fit: ScalabilityLaw) -> Finding:
    who = wording.subject(study, ladder.variant, ladder.operation)
    return Finding(
        "USL",
        "insight",
        f"{who + ': ' if who else ''}the universal scalability law fits (R² {fit.r2:.3f}): contention σ "
        f"{fit.contention:.3g}, coherence κ {fit.coherence:.3g}, so throughput peaks at "
        f"{wording.number(fit.peak or 0)} in flight with {wording.number(fit.capacity or 0)} requests/s.",
        Where(ladder.variant, None, ladder.operation),
        RULE,
        {
            "loads": (ladder.rungs[0].load, ladder.rungs[-1].load),
            "slope_per_s": fit.slope,
            "contention": fit.contention,
            "coherence": fit.coherence,
            "peak": fit.peak or 0.0,
            "capacity_per_s": fit.capacity or 0.0,
            "r2": fit.r2,
        },
    )


def _refused(
    study: Study, ladder: Ladder, reasons: Sequence[str], rungs: Sequence[Rung], rates: Sequence[float]
) -> Finding:
    who = wording.subject(study, ladder.variant, ladder.operation)
    top = max(range(len(rates)), key=lambda index: rates[index])
    return Finding(
        "USL",
        "insight",
        f"{who + ': ' if who else ''}no scalability law is published ({'; '.join(reasons)}); what stands is the "
        f"highest throughput, {wording.number(rates[top])} requests/s at {rungs[top].level}.",
        Where(ladder.variant, None, ladder.operation),
        RULE,
        {"refused": "; ".join(reasons), "peak": rungs[top].load, "peak_per_s": rates[top]},
        f"A ladder for it has at least {LEAST_RUNGS} rungs, from 1 user to well beyond the peak.",
    )

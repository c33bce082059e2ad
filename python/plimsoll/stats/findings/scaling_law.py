"""USL: the parameters of the universal scalability law, or why they are unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.stats import wording
from plimsoll.stats.capacity.scaling import (
    CHANCE,
    LEAST_R2,
    LEAST_RUNGS,
    LEAST_SIDE,
    MOST_ABOVE,
    MOST_RESIDUAL,
    too_short,
    usl,
)
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.ladders import totals, users_of
from plimsoll.stats.findings.retrograde import ALARM, fall_p, is_repeated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.capacity.scaling import ScalabilityLaw
    from plimsoll.stats.findings.ladders import Ladder, Rung
    from plimsoll.stats.study import Study

RULE = (
    f"σ and κ are published only with at least {LEAST_RUNGS} levels, {LEAST_SIDE} on each side of the peak, "
    f"R² ≥ {LEAST_R2}, no level further off than {MOST_RESIDUAL * 100:.0f} % of the highest throughput, no parameter "
    f"at its bound, the peak inside the ladder and at most {MOST_ABOVE * 100:.0f} % above a measured throughput, "
    f"and a κ that chance makes in less than {CHANCE * 100:.0f} % of ladders without a fall: otherwise other values "
    "fit as well"
)
LEAST_TO_MENTION = 3
"""Rungs below which fitting the law is not mentioned."""


def scaling_law(study: Study) -> Iterable[Finding]:
    for ladder in totals(study):
        rungs, rates = ladder.with_rates()
        if ladder.unit != "users" or len(rungs) < LEAST_TO_MENTION:
            continue
        lacks = too_short([rung.load for rung in rungs], rates)
        loads = _loads(rungs, rates)
        unknown = () if loads else ("users pause an unknown time, so it is not known how many are in flight",)
        failed = () if min(rates) else ("no request succeeds at one of the levels",)
        if lacks or loads is None or failed:
            yield _refused(study, ladder, (*lacks, *unknown, *failed), rungs, rates)
            continue
        fit = usl(loads, rates)
        reasons = fit.reasons or _not_fallen(rungs, rates)
        yield _refused(study, ladder, reasons, rungs, rates) if reasons else _published(study, ladder, fit)


def _not_fallen(rungs: Sequence[Rung], rates: Sequence[float]) -> tuple[str, ...]:
    """Why repeated runs do not show the fall beyond the peak of the curve."""
    p = fall_p(rungs, rates) if is_repeated(rungs) else None
    if p is None or p <= ALARM:
        return ()
    return (f"the runs at {rungs[-1].level} are not shown to be below those of the peak (p = {p:.2g})",)


def _loads(rungs: Sequence[Rung], rates: Sequence[float]) -> list[float] | None:
    """Users who never pause, else exchanges in flight: X · R. None if neither is known."""
    if all(trial.think == 0 for rung in rungs for trial in rung.trials):
        return [users_of(rung) for rung in rungs]
    if any(rung.mean is None for rung in rungs):
        return None
    return [rate * (rung.mean or 0.0) / 1000 for rung, rate in zip(rungs, rates, strict=True)]


def _published(study: Study, ladder: Ladder, fit: ScalabilityLaw) -> Finding:
    who = wording.lead(wording.subject(study, ladder.variant, ladder.operation))
    return Finding(
        "USL",
        "insight",
        f"{who}the universal scalability law fits (contention σ {fit.contention:.3g}, coherence κ "
        f"{fit.coherence:.3g}): throughput peaks at {wording.number(fit.capacity or 0)} requests/s with "
        f"{wording.number(fit.peak or 0)} requests in flight.",
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
    who = wording.lead(wording.subject(study, ladder.variant, ladder.operation))
    top = max(range(len(rates)), key=lambda index: rates[index])
    return Finding(
        "USL",
        "insight",
        f"{who}the highest throughput is {wording.number(rates[top])} requests/s at {rungs[top].level}; no scalability "
        f"law is fitted ({'; '.join(reasons)}).",
        Where(ladder.variant, None, ladder.operation),
        RULE,
        {"refused": "; ".join(reasons), "peak": rungs[top].load, "peak_per_s": rates[top]},
        f"For a law, run at least {LEAST_RUNGS} levels, from 1 user to well beyond the peak.",
    )

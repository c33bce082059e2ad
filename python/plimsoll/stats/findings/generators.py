"""GEN: runs limited by the load generator. NAMES: runs with more names than it counts separately. CORRECTED: latencies
that were changed afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.record import OTHERS
from plimsoll.stats import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import whole
from plimsoll.stats.names import folded_names, naming_hint
from plimsoll.stats.study import PLIMSOLL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import GeneratorHealth, Study, Trial

ACHIEVED = 0.98
"""Of the offered arrivals: below this, the load was not the reported one."""
LATE_MS = 1.0
LATE_SHARE = 0.05
"""Lag is part of the latency: at most this many ms, or this share of the target's p50 if that is more."""
CPU = 0.80
"""Of a core: a queue with fixed service (M/D/1) waits two services at 80 %, 4.5 at 90 %."""
RULE = (
    f"the generator began at least {ACHIEVED * 100:.0f} % of the arrivals, or nothing is compared; it sent 99 % of the "
    f"requests at most {LATE_MS:g} ms or {LATE_SHARE * 100:.0f} % of the target's p50 late, and used at most "
    f"{CPU * 100:.0f} % of a core"
)
NAMES = (
    f'no request is counted as "{OTHERS[1]}": names get rows of their own, up to --max-names, in the order of their '
    "first requests; with several workers a row may lack requests of its name that another worker counted as others"
)
CORRECTED = (
    "a correction for coordinated omission is right for one requester that waits for each reply; arrivals at a rate "
    "need none when latency counts from the intended time, and the correction adds requests that never were"
)


def generators(study: Study) -> Iterable[Finding]:
    """For runs of other tools: ours are judged second by second when they are read (`stats.validity`), with more data;
    the results are in `Trial.invalid`."""
    for trial in study.trials:
        if trial.invalid or trial.generator is None or trial.precision.tool == PLIMSOLL.tool:
            continue
        reasons, evidence = saturated(trial.generator, _median(trial))
        if reasons:
            # With late requests the load is still the requested one: the lateness widens comparisons.
            was_the_limit = "achieved" in evidence
            what = "was the limit" if was_the_limit else "may have added to the times"
            yield Finding(
                "GEN",
                "blocks" if was_the_limit else "warning",
                f"{wording.place(study, trial)}: the load generator {what}: {'; '.join(reasons)}.",
                Where(trial.variant, trial.level, trial.operation, None, trial.id),
                RULE,
                evidence,
                "More workers, a lower rate, or a machine of its own for the generator.",
            )


def saturated(
    health: GeneratorHealth, median: float | None
) -> tuple[list[str], dict[str, float | str | tuple[float, ...]]]:
    """The faults of the generator, with the numbers. median: of the target, in ms."""
    reasons: list[str] = []
    evidence: dict[str, float | str | tuple[float, ...]] = {}
    if health.achieved is not None and health.achieved < ACHIEVED:
        reasons.append(f"{wording.percent(health.achieved)} of the arrivals were begun")
        evidence["achieved"] = health.achieved
    limit = max(LATE_MS, LATE_SHARE * median) if median is not None else LATE_MS
    if health.lag_p99 is not None and health.lag_p99 > limit:
        reasons.append(f"1 % of the requests left more than {wording.ms(health.lag_p99)} late")
        evidence |= {"lag_p99_ms": health.lag_p99, "limit_ms": limit}
    if health.cpu_max is not None and health.cpu_max > CPU:
        reasons.append(f"it used {wording.whole_percent(health.cpu_max)} of a core")
        evidence["cpu"] = health.cpu_max
    return reasons, evidence


def names(study: Study) -> Iterable[Finding]:
    found = [(trial, row) for trial in study.trials for row in trial.endpoints if row.key == OTHERS and row.requests]
    if not found:
        return
    known = {row.name for trial, _ in found for row in trial.endpoints if row.key != OTHERS}
    apart = min(len(trial.endpoints) - 1 for trial, _ in found)
    requests = sum(row.requests or 0 for _, row in found)
    who = "This run" if len(study.trials) == 1 else wording.count(len(found), "run")
    yield Finding(
        "NAMES",
        "warning",
        folded_names(apart, requests, who),
        Where(endpoint=OTHERS),
        NAMES,
        {"names": float(apart), "requests": float(requests)},
        naming_hint(sorted(known)),
    )


def corrected(study: Study) -> Iterable[Finding]:
    trials = [each for each in study.trials if each.precision.clock == "corrected" and each.model == "open"]
    if not trials:
        return
    yield Finding(
        "CORRECTED",
        "warning",
        f"The percentiles of {wording.count(len(trials), 'run')} at a given rate were corrected for coordinated "
        "omission afterwards: they count requests that were never sent, so how far they are off is not known.",
        Where(kinds=("quantile", "mean")),
        CORRECTED,
        {"runs": float(len(trials))},
        "Record latency from the intended send time: then nothing is omitted.",
    )


def _median(trial: Trial) -> float | None:
    row = whole(trial)
    return row.quantile(0.5) if row is not None else None

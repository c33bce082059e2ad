"""SAT and PRE-KNEE: the load at which throughput stops following it, and ladders that start beyond that point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.stats import wording
from plimsoll.stats.capacity.knee import KEEPS, LAGS, LEAST_RUNGS, knee, proportional, saturation_bound
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.ladders import chance_margin, totals, users_of
from plimsoll.stats.findings.rows import fastest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.capacity.knee import Knee
    from plimsoll.stats.findings.ladders import Ladder, Rung
    from plimsoll.stats.study import Study

SAT = (
    f"the knee of a · min(N, N_k), fitted up to the highest throughput of successful requests, lies between the last "
    f"level with at least {KEEPS * 100:.0f} % of a · N and the first with less than {LAGS * 100:.0f} %; a level "
    "beyond it lags by more than runs differ by chance (as their repeats do, or by 10 % where there is one run of each)"
)
PRE_KNEE = (
    "more users than N* = (R_min + Z) · X_max must wait for one another; R_min is the fastest request of the lowest "
    f"level, its warm-up included. Levels that begin above N*, the second with less than {LAGS * 100:.0f} % of the "
    "throughput in proportion, show only the queue"
)


def saturation(study: Study) -> Iterable[Finding]:
    for ladder in totals(study):
        rungs, rates = ladder.with_rates()
        if len(rungs) < LEAST_RUNGS:
            continue
        found = _knee(study, ladder, rungs, rates) or _no_knee(study, ladder, rungs, rates)
        if found is not None:
            yield found


def _knee(study: Study, ladder: Ladder, rungs: Sequence[Rung], rates: Sequence[float]) -> Finding | None:
    bend = knee([rung.load for rung in rungs], rates, chance_margin(rungs))
    if bend is None:
        return None
    peak = max(range(len(rates)), key=lambda index: rates[index])
    unit = " users" if ladder.unit == "users" else " requests/s"
    evidence: dict[str, float | str | tuple[float, ...]] = {
        "bracket": (bend.low, bend.high),
        "capacity_per_s": bend.capacity,
        "peak": rungs[peak].load,
        "peak_per_s": rates[peak],
        "per_s_and_load": bend.slope,
    }
    if bend.load is not None:
        evidence = {"knee": bend.load, **evidence}
    if ladder.unit == "users":
        # While users do not wait for one another: each sends one request in this many seconds.
        cycle = min(rung.load / rate for rung, rate in zip(rungs, rates, strict=True) if rate)
        evidence["cycle_s"] = cycle
        evidence["bound_users"] = saturation_bound(cycle, rates[peak])
    who = wording.lead(wording.subject(study, ladder.variant, ladder.operation))
    return Finding(
        "SAT",
        "insight",
        f"{who}throughput follows the load up to {bend.low:g}{unit} and lags at {bend.high:g}{unit}: "
        f"{_where(bend, unit)} {wording.number(bend.capacity)} {_counted(study, rungs)}/s.",
        Where(ladder.variant, None, ladder.operation),
        SAT,
        evidence,
        f"For a closer answer, add levels between {bend.low:g} and {bend.high:g}{unit}.",
    )


def _where(bend: Knee, unit: str) -> str:
    if bend.load is None:
        return "the knee is between them, at up to"
    # Rounded, it must not look outside of its bracket.
    digits = 0 if bend.low < round(bend.load) <= bend.high else 3
    return f"the knee is near {bend.load:.{digits}f}{unit}, at"


def _no_knee(study: Study, ladder: Ladder, rungs: Sequence[Rung], rates: Sequence[float]) -> Finding | None:
    if ladder.unit != "users":
        # Arrivals do not depend on the target: until requests fail, throughput is the offered rate.
        return None
    rise = proportional([rung.load for rung in rungs], rates)
    if rise is None:
        return None
    who = wording.lead(wording.subject(study, ladder.variant, ladder.operation))
    return Finding(
        "SAT",
        "insight",
        f"{who}throughput follows the load at all levels up to {wording.users(rungs[-1].load)} "
        f"({wording.number(rates[-1])} {_counted(study, rungs)}/s), so the capacity is above that.",
        Where(ladder.variant, None, ladder.operation),
        SAT,
        {"last": rungs[-1].load, "last_per_s": rates[-1], "per_s_and_load": rise},
        "To find the capacity, add higher levels.",
    )


def _counted(study: Study, rungs: Sequence[Rung]) -> str:
    """The kind of requests in the throughput."""
    failed = any((rung.failures or 0) > study.tolerance * (rung.requests or 0) for rung in rungs)
    return "successful requests" if failed else "requests"


def pre_knee(study: Study) -> Iterable[Finding]:
    for ladder in totals(study):
        rungs, rates = ladder.with_rates()
        # A single user waits for no other.
        if ladder.unit != "users" or len(rungs) < 2 or users_of(rungs[0]) <= 1 or not rates[0]:
            continue
        first, rate = rungs[0], max(rates)
        wait, least = _wait(first, rates[0]), _least_cycle(first)
        follows = rates[1] / rates[0] >= LAGS * rungs[1].load / first.load
        if least is None or wait is None or follows:
            continue
        seconds, derived = wait
        bound, pausing = saturation_bound(least, rate), saturation_bound(least + seconds, rate)
        if pausing >= users_of(first):
            continue
        served = wording.count(float(f"{max(1.0, bound):.2g}"), "user")
        yield Finding(
            "PRE-KNEE",
            "warning",
            f"{wording.lead(wording.subject(study, ladder.variant, ladder.operation))}"
            f"all levels are beyond saturation: the lowest has {wording.users(users_of(first))}, and at most "
            f"{served} can be served without waiting for one another "
            f"({wording.number(rate)} requests/s, the fastest in {wording.ms(least * 1000)}).",
            Where(ladder.variant, None, ladder.operation),
            PRE_KNEE,
            {
                "bound_users": bound if derived else pausing,
                "bound_with_pauses_users": pausing,
                "first_users": users_of(first),
                "min_s": least,
                "rate_per_s": rate,
            },
            "Run 1, 2 and 4 users too: without them neither the unloaded latency nor a scaling law is known.",
        )


def _least_cycle(rung: Rung) -> float | None:
    """Minimum seconds of a request, averaged over the endpoints in the users' mix."""
    parts = [
        (least, part.requests)
        for trial in rung.trials
        for part in trial.endpoints
        if part.requests and (least := fastest(trial, part)) is not None
    ]
    if parts and len(parts) == sum(len(trial.endpoints) for trial in rung.trials):
        return sum(least * count for least, count in parts) / sum(count for _, count in parts) / 1000
    return rung.fastest / 1000 if rung.fastest is not None else None


def _wait(rung: Rung, rate: float) -> tuple[float, bool] | None:
    """Seconds that users pause between requests, and whether that is only an upper bound: Z ≤ N/X − R."""
    pauses = [trial.think for trial in rung.trials]
    if pauses[0] is not None:
        return pauses[0], False
    if rung.mean is None:
        return None
    return max(0.0, users_of(rung) / rate - rung.mean / 1000), True

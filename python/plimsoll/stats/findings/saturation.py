"""SAT and PRE-KNEE: where throughput stops following the load, and ladders that begin beyond that point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.stats.capacity.knee import KEEPS, LAGS, LEAST_RUNGS, knee, proportional, saturation_bound
from plimsoll.stats.findings import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.ladders import totals, users_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.findings.ladders import Ladder, Rung
    from plimsoll.stats.study import Study

SAT = (
    f"the knee of a · min(N, N_k), fitted up to the highest throughput, lies between the last rung with at least "
    f"{KEEPS * 100:.0f} % of a · N and the first with less than {LAGS * 100:.0f} %"
)
PRE_KNEE = (
    "more users than N* = (R_min + Z) · X_max must wait for one another; a ladder whose first rung is above that, and "
    f"whose second has less than {LAGS * 100:.0f} % of the throughput in proportion, shows only the queue"
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
    bend = knee([rung.load for rung in rungs], rates)
    if bend is None:
        return None
    peak = max(range(len(rates)), key=lambda index: rates[index])
    unit = " users" if ladder.unit == "users" else "/s"
    evidence: dict[str, float | str | tuple[float, ...]] = {
        "knee": bend.load,
        "bracket": (bend.low, bend.high),
        "capacity_per_s": bend.capacity,
        "peak": rungs[peak].load,
        "peak_per_s": rates[peak],
        "per_s_and_load": bend.slope,
    }
    if ladder.unit == "users":
        # Users who do not yet wait for one another: one request each every so many seconds.
        cycle = min(rung.load / rate for rung, rate in zip(rungs, rates, strict=True))
        evidence["cycle_s"] = cycle
        evidence["bound_users"] = saturation_bound(cycle, rates[peak])
    who = wording.subject(study, ladder.variant, ladder.operation)
    return Finding(
        "SAT",
        "insight",
        f"{who + ': ' if who else ''}throughput follows the load up to {bend.low:g}{unit} and lags at "
        f"{bend.high:g}{unit}; the knee is between them, by the fit at {bend.load:.0f}{unit} and "
        f"{wording.number(bend.capacity)} requests/s.",
        Where(ladder.variant, None, ladder.operation),
        SAT,
        evidence,
        f"For a closer answer, add rungs between {bend.low:g} and {bend.high:g}{unit}.",
    )


def _no_knee(study: Study, ladder: Ladder, rungs: Sequence[Rung], rates: Sequence[float]) -> Finding | None:
    if ladder.unit != "users":
        # Arrivals come whatever the target does: until requests fail, throughput is what was offered.
        return None
    rise = proportional([rung.load for rung in rungs], rates)
    if rise is None:
        return None
    who = wording.subject(study, ladder.variant, ladder.operation)
    return Finding(
        "SAT",
        "insight",
        f"{who + ': ' if who else ''}throughput follows the load at all rungs up to {rungs[-1].load:g} users "
        f"({wording.number(rates[-1])} requests/s): the ladder does not reach the knee.",
        Where(ladder.variant, None, ladder.operation),
        SAT,
        {"last": rungs[-1].load, "last_per_s": rates[-1], "per_s_and_load": rise},
        "To find the capacity, add rungs above.",
    )


def pre_knee(study: Study) -> Iterable[Finding]:
    for ladder in totals(study):
        rungs, rates = ladder.with_rates()
        if ladder.unit != "users" or len(rungs) < 2:
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
        who = wording.subject(study, ladder.variant, ladder.operation)
        pauses = f" ({wording.number(pausing)} if they pause as long as Little's law allows)" if derived else ""
        yield Finding(
            "PRE-KNEE",
            "warning",
            f"{who + ': ' if who else ''}the ladder begins beyond saturation: at {wording.number(rate)} requests/s, "
            f"of which the fastest take {wording.ms(least * 1000)}, at most {bound:.2g} users{pauses} can be served "
            f"without waiting for one another; its lowest rung has {users_of(first):g}.",
            Where(ladder.variant, None, ladder.operation),
            PRE_KNEE,
            {
                "bound_users": bound if derived else pausing,
                "bound_with_pauses_users": pausing,
                "first_users": users_of(first),
                "min_s": least,
                "rate_per_s": rate,
            },
            "Run 1, 2 and 4 users too: without them neither the unloaded latency nor a scaling law can be told.",
        )


def _least_cycle(rung: Rung) -> float | None:
    """Seconds that a request takes at the least, on average over the endpoints as users mix them."""
    parts = [
        (part.min, part.requests)
        for trial in rung.trials
        for part in trial.endpoints
        if part.min is not None and part.requests
    ]
    if parts and len(parts) == sum(len(trial.endpoints) for trial in rung.trials):
        return sum(least * count for least, count in parts) / sum(count for _, count in parts) / 1000
    return rung.min / 1000 if rung.min is not None else None


def _wait(rung: Rung, rate: float) -> tuple[float, bool] | None:
    """Seconds that users pause between requests, and whether that is only an upper bound: Z ≤ N/X − R."""
    told = [trial.think for trial in rung.trials]
    if told[0] is not None:
        return told[0], False
    if rung.mean is None:
        return None
    return max(0.0, users_of(rung) / rate - rung.mean / 1000), True

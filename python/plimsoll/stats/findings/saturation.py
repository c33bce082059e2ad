"""SAT and PRE-KNEE: the load at which throughput stops following it, and ladders that start beyond that point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.capacity.knee import LAGS, LEAST_RUNGS, knee, proportional, saturation_bound
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.ladders import chance_margin, totals, users_of
from plimsoll.stats.findings.rows import fastest
from plimsoll.stats.findings.subject import Subject, subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.findings.ladders import Ladder, Rung
    from plimsoll.stats.study import LoadUnit, Study


@dataclass(frozen=True, slots=True)
class Saturation(Finding):
    """The load at which throughput stops following it. Loads are in the unit of the levels."""

    id = "SAT"
    subject: Subject
    knee: float | None
    """None if it may be anywhere in the bracket."""
    bracket: tuple[float, float]
    """The last load that throughput follows, and the first where it lags."""
    capacity_per_s: float
    peak: float
    """The load with the highest throughput."""
    peak_per_s: float
    per_s_and_load: float
    """Throughput per load below the knee."""
    cycle_s: float | None
    """Of users: seconds per request of each, while they do not wait for one another."""
    bound_users: float | None
    """Users above which some must wait."""
    unit: LoadUnit
    has_failures: bool
    """Whether more requests fail than the study tolerates: these are not in the throughput."""


@dataclass(frozen=True, slots=True)
class NotSaturated(Finding):
    """Throughput that follows the number of users at all levels."""

    id = "SAT"
    subject: Subject
    last: float
    """Users of the highest level."""
    last_per_s: float
    per_s_and_load: float
    has_failures: bool


@dataclass(frozen=True, slots=True)
class BeyondSaturation(Finding):
    """A ladder whose lowest level has more users than are served without waiting."""

    id = "PRE-KNEE"
    subject: Subject
    bound_users: float
    """Users served without waiting."""
    bound_with_pauses_users: float
    first_users: float
    """Of the lowest level."""
    min_s: float
    """Of the fastest request."""
    rate_per_s: float
    most_users: float
    """`bound_users` without any pauses, at least 1."""


def saturation(study: Study) -> Iterable[Finding]:
    for ladder in totals(study):
        rungs, rates = ladder.with_rates()
        if len(rungs) < LEAST_RUNGS or ladder.is_starved:
            continue
        found = _knee(study, ladder, rungs, rates) or _no_knee(study, ladder, rungs, rates)
        if found is not None:
            yield found


def _knee(study: Study, ladder: Ladder, rungs: Sequence[Rung], rates: Sequence[float]) -> Finding | None:
    bend = knee([rung.load for rung in rungs], rates, chance_margin(rungs))
    if bend is None:
        return None
    peak = max(range(len(rates)), key=lambda index: rates[index])
    is_closed = ladder.unit == "users"
    cycle = min(rung.load / rate for rung, rate in zip(rungs, rates, strict=True) if rate)
    return Saturation(
        subject(study, ladder.variant, ladder.operation),
        knee=bend.load,
        bracket=(bend.low, bend.high),
        capacity_per_s=bend.capacity,
        peak=rungs[peak].load,
        peak_per_s=rates[peak],
        per_s_and_load=bend.slope,
        cycle_s=cycle if is_closed else None,
        bound_users=saturation_bound(cycle, rates[peak]) if is_closed else None,
        unit=ladder.unit,
        has_failures=_has_failures(study, rungs),
        where=Where(ladder.variant, None, ladder.operation),
        weight="insight",
    )


def _no_knee(study: Study, ladder: Ladder, rungs: Sequence[Rung], rates: Sequence[float]) -> Finding | None:
    if ladder.unit != "users":
        # Arrivals do not depend on the target: until requests fail, throughput is the offered rate.
        return None
    rise = proportional([rung.load for rung in rungs], rates)
    if rise is None:
        return None
    return NotSaturated(
        subject(study, ladder.variant, ladder.operation),
        last=rungs[-1].load,
        last_per_s=rates[-1],
        per_s_and_load=rise,
        has_failures=_has_failures(study, rungs),
        where=Where(ladder.variant, None, ladder.operation),
        weight="insight",
    )


def _has_failures(study: Study, rungs: Sequence[Rung]) -> bool:
    return any((rung.failures or 0) > study.tolerance * (rung.requests or 0) for rung in rungs)


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
        yield BeyondSaturation(
            subject(study, ladder.variant, ladder.operation),
            bound_users=bound if derived else pausing,
            bound_with_pauses_users=pausing,
            first_users=users_of(first),
            min_s=least,
            rate_per_s=rate,
            most_users=max(1.0, bound),
            where=Where(ladder.variant, None, ladder.operation),
            weight="warning",
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

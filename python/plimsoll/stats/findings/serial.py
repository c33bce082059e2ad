"""SERIAL: one bottleneck serves all, and more users only wait longer. SHARED: whether it serves them in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.stats import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.ladders import of_endpoints, slope, straight, totals, users_of
from plimsoll.stats.little import BUSY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.findings.ladders import Ladder, Rung
    from plimsoll.stats.study import Study

FLAT = 0.15
"""|d ln X / d ln N|: the end of a run cuts off up to about R/T of the requests, which grows with N."""
PROPORTIONAL = (0.85, 1.15)
"""d ln R / d ln N: exactly 1 for a closed queue that is always busy; ±0.15 for the cut-off at the end."""
LEAST_RUNGS = 3
"""Nothing can contradict a line through two points."""
DOMINANT = 0.5
"""Share of the time in requests: the endpoint that users of the others wait for."""
ALONE = 2.0
"""A request to an idle server takes one service time; services vary, so up to this many of them."""
RULE = (
    f"over at least {LEAST_RUNGS} levels |d ln X / d ln N| ≤ {FLAT}, d ln R / d ln N within "
    f"{PROPORTIONAL[0]}…{PROPORTIONAL[1]}, and users spend at least {BUSY * 100:.0f} % of their time in requests: a "
    "slope of 1 is exact for a saturated closed queue"
)
SHARED = (
    "behind a queue that serves in order, the first request, in the warm-up too, meets an idle server and takes one "
    f"service time, 1/X; a fastest request of more than {ALONE:g}/X at every level rules that out"
)


def serial(study: Study) -> Iterable[Finding]:
    whole = {(ladder.variant, ladder.operation): ladder for ladder in totals(study)}
    for ladder in of_endpoints(study):
        if ladder.unit != "users" or len(ladder.rungs) < LEAST_RUNGS:
            continue
        rungs, rates = ladder.with_rates()
        means = [rung.mean for rung in rungs if rung.mean]
        busy, shares = _busy(whole[ladder.variant, ladder.operation].rungs), _busy(rungs)
        if {len(rates), len(means), len(busy), len(shares)} != {len(ladder.rungs)} or not min(rates):
            continue
        users = [users_of(rung) for rung in rungs]
        flat, steep = slope(users, rates), slope(users, means)
        is_dominant = all(own >= DOMINANT * all_ for own, all_ in zip(shares, busy, strict=True))
        in_proportion = PROPORTIONAL[0] <= steep <= PROPORTIONAL[1]
        if abs(flat) <= FLAT and in_proportion and min(busy) >= BUSY and is_dominant:
            yield _capacity(study, ladder, users, rates, means, busy, (flat, steep))
            yield from _shared(study, ladder, users, rates)


def _capacity(
    study: Study,
    ladder: Ladder,
    users: Sequence[float],
    rates: Sequence[float],
    means: Sequence[float],
    busy: Sequence[float],
    slopes: tuple[float, float],
) -> Finding:
    best = max(range(len(rates)), key=lambda index: rates[index])
    capacity = rates[best]
    rung = ladder.rungs[best]
    evidence: dict[str, float | str | tuple[float, ...]] = {
        "capacity_per_s": capacity,
        "held_s": 1 / capacity,
        "s_per_user": straight(users, means) / 1000,
        "dlnX_dlnN": slopes[0],
        "dlnR_dlnN": slopes[1],
        "busy": tuple(busy),
        "loads": (users[0], users[-1]),
    }
    interval = ""
    bounds = rung.interval()
    if bounds is not None:
        evidence["capacity_interval_per_s"] = bounds
        interval = f" ({bounds[0]:.3g} to {bounds[1]:.3g})"
    who = wording.lead(wording.subject(study, ladder.variant, ladder.operation, ladder.label))
    return Finding(
        "SERIAL",
        "insight",
        f"{who}throughput stays at {capacity:.3g} requests/s{interval} from {users[0]:.0f} to "
        f"{wording.users(users[-1])}: one bottleneck has {wording.ms(1000 / capacity)} for each request, and every "
        f"further user adds {wording.ms(straight(users, means))} of waiting.",
        Where(ladder.variant, None, ladder.operation, ladder.key if ladder.label else None),
        RULE,
        evidence,
        "More users measure only the queue: find what all requests wait for, and raise its capacity.",
    )


def _shared(study: Study, ladder: Ladder, users: Sequence[float], rates: Sequence[float]) -> Iterable[Finding]:
    fastest = [rung.fastest for rung in ladder.rungs if rung.fastest is not None]
    if len(fastest) < len(rates) or any(
        least / 1000 * rate < ALONE for least, rate in zip(fastest, rates, strict=True)
    ):
        return
    per_user = [least / count for least, count in zip(fastest, users, strict=True)]
    who = wording.lead(wording.subject(study, ladder.variant, ladder.operation, ladder.label))
    yield Finding(
        "SHARED",
        "insight",
        f"{who}even the fastest requests took {wording.times(per_user)} for each user there was: hypothesis: the "
        "bottleneck serves all requests at once, each the slower, and not one after another.",
        Where(ladder.variant, None, ladder.operation, ladder.key if ladder.label else None),
        SHARED,
        {"min_s_per_user": tuple(each / 1000 for each in per_user), "alone_s": 1 / max(rates)},
        "Limit how many requests are in progress: each of them then is faster.",
    )


def _busy(rungs: Sequence[Rung]) -> list[float]:
    """X · R / N per rung: the share of the users' time spent in requests, including failed ones."""
    return [rung.ended_rate * rung.mean / 1000 / users_of(rung) for rung in rungs if rung.ended_rate and rung.mean]

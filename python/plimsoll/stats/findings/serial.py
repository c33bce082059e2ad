"""SERIAL: one thing serves all, one after another (or shared), and more users only wait longer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll.stats.findings import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.ladders import of_endpoints, slope, straight, totals, users_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.findings.ladders import Ladder, Rung
    from plimsoll.stats.study import Study

FLAT = 0.15
"""|d ln X / d ln N|: the edge at the end of a run hides up to about R/T of the requests, which grows with N."""
PROPORTIONAL = (0.85, 1.15)
"""d ln R / d ln N: exactly 1 for a closed queue that is always busy; ±0.15 for the edge."""
BUSY = 0.85
"""Least share of the users' time that is spent in requests."""
LEAST_RUNGS = 3
"""A line through two points has nothing that could contradict it."""
DOMINANT = 0.5
"""Of the time in requests: the endpoint that the others' users wait behind."""
ALONE = 2.0
"""A request that meets an idle server takes one service time; services vary, so up to so many of them."""
RULE = (
    f"over at least {LEAST_RUNGS} rungs |d ln X / d ln N| ≤ {FLAT}, d ln R / d ln N within "
    f"{PROPORTIONAL[0]}…{PROPORTIONAL[1]}, and users spend at least {BUSY * 100:.0f} % of their time in requests: a "
    "slope of 1 is exact for a saturated closed queue"
)
SHARED = (
    f"behind a queue that serves in order, the first request meets an idle server and takes one service time, 1/X; "
    f"a fastest request of more than {ALONE:g}/X at every rung rules that out"
)


def serial(study: Study) -> Iterable[Finding]:
    whole = {(ladder.variant, ladder.operation): ladder for ladder in totals(study)}
    for ladder in of_endpoints(study):
        if ladder.unit != "users" or len(ladder.rungs) < LEAST_RUNGS:
            continue
        rungs, rates = ladder.with_rates()
        means = [rung.mean for rung in rungs if rung.mean]
        busy = _busy(whole[ladder.variant, ladder.operation].rungs)
        if len(means) < len(ladder.rungs) or len(rates) < len(ladder.rungs) or len(busy) != len(ladder.rungs):
            continue
        users = [users_of(rung) for rung in rungs]
        flat, steep = slope(users, rates), slope(users, means)
        shares = [rate * mean / 1000 / count for rate, mean, count in zip(rates, means, users, strict=True)]
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
        # As many decimals as the capacity has with three digits.
        decimals = max(0, 2 - math.floor(math.log10(capacity)))
        interval = f" [{bounds[0]:.{decimals}f}, {bounds[1]:.{decimals}f}]"
    who = wording.subject(study, ladder.variant, ladder.operation, ladder.label)
    return Finding(
        "SERIAL",
        "insight",
        f"{who + ': ' if who else ''}throughput stays at {capacity:.3g}/s{interval} from {users[0]:.3g} "
        f"to {users[-1]:.3g} users while latency grows in proportion (slope {slopes[1]:.2f}): a serial bottleneck of "
        f"which each request holds {wording.ms(1000 / capacity)}, and every further user adds "
        f"{wording.ms(straight(users, means))} of waiting.",
        Where(ladder.variant, None, ladder.operation, ladder.key if ladder.label else None),
        RULE,
        evidence,
        "More users measure only the queue; look for what admits one request at a time, or raise its capacity.",
    )


def _shared(study: Study, ladder: Ladder, users: Sequence[float], rates: Sequence[float]) -> Iterable[Finding]:
    fastest = [rung.min for rung in ladder.rungs if rung.min is not None]
    if len(fastest) < len(rates) or any(
        least / 1000 * rate < ALONE for least, rate in zip(fastest, rates, strict=True)
    ):
        return
    per_user = [least / 1000 / count for least, count in zip(fastest, users, strict=True)]
    who = wording.subject(study, ladder.variant, ladder.operation, ladder.label)
    yield Finding(
        "SHARED",
        "insight",
        f"{who + ': ' if who else ''}even the fastest request took {min(per_user):.2f} to {max(per_user):.2f} s for "
        f"each user there was, where one served alone takes {1 / max(rates):.2g} s: hypothesis: the capacity is shared "
        "among all requests in flight, not given to one after another.",
        Where(ladder.variant, None, ladder.operation, ladder.key if ladder.label else None),
        SHARED,
        {"min_s_per_user": tuple(per_user), "alone_s": 1 / max(rates)},
    )


def _busy(rungs: Sequence[Rung]) -> list[float]:
    """X · R / N of all endpoints together, per rung."""
    return [rung.rate * rung.mean / 1000 / users_of(rung) for rung in rungs if rung.rate and rung.mean]

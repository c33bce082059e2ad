"""SERIAL: one bottleneck serves all, and more users only wait longer. SHARED: whether it serves them in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.ladders import of_endpoints, slope, straight, totals, users_of
from plimsoll.stats.findings.subject import Subject, subject
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


@dataclass(frozen=True, slots=True)
class SerialBottleneck(Finding):
    """One bottleneck that serves all, whose throughput does not grow with the users."""

    id = "SERIAL"
    subject: Subject
    capacity_per_s: float
    held_s: float
    """Time of the bottleneck per request: 1 / capacity."""
    s_per_user: float
    """Waiting that each further user adds."""
    throughput_slope: float
    """d ln X / d ln N."""
    latency_slope: float
    """d ln R / d ln N."""
    busy: tuple[float, ...]
    """Share of the users' time in requests, level by level."""
    loads: tuple[float, float]
    """Users of the lowest and of the highest level."""
    capacity_interval_per_s: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class SharedBottleneck(Finding):
    """A bottleneck that serves all requests at once."""

    id = "SHARED"
    subject: Subject
    min_s_per_user: tuple[float, ...]
    """The fastest request / users, level by level."""
    alone_s: float
    """Time of a request that is served alone: 1 / X."""


def serial(study: Study) -> Iterable[Finding]:
    whole = {(ladder.variant, ladder.operation): ladder for ladder in totals(study)}
    for ladder in of_endpoints(study):
        if ladder.unit != "users" or len(ladder.rungs) < LEAST_RUNGS or ladder.is_starved:
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
    return SerialBottleneck(
        _subject(study, ladder),
        capacity_per_s=capacity,
        held_s=1 / capacity,
        s_per_user=straight(users, means) / 1000,
        throughput_slope=slopes[0],
        latency_slope=slopes[1],
        busy=tuple(busy),
        loads=(users[0], users[-1]),
        capacity_interval_per_s=ladder.rungs[best].interval(),
        where=Where(ladder.variant, None, ladder.operation, ladder.key if ladder.label else None),
        weight="insight",
    )


def _subject(study: Study, ladder: Ladder) -> Subject:
    return subject(study, ladder.variant, ladder.operation, ladder.label)


def _shared(study: Study, ladder: Ladder, users: Sequence[float], rates: Sequence[float]) -> Iterable[Finding]:
    fastest = [rung.fastest for rung in ladder.rungs if rung.fastest is not None]
    if len(fastest) < len(rates) or any(
        least / 1000 * rate < ALONE for least, rate in zip(fastest, rates, strict=True)
    ):
        return
    yield SharedBottleneck(
        _subject(study, ladder),
        min_s_per_user=tuple(least / 1000 / count for least, count in zip(fastest, users, strict=True)),
        alone_s=1 / max(rates),
        where=Where(ladder.variant, None, ladder.operation, ladder.key if ladder.label else None),
        weight="insight",
    )


def _busy(rungs: Sequence[Rung]) -> list[float]:
    """X · R / N per rung: the share of the users' time spent in requests, including failed ones."""
    return [rung.ended_rate * rung.mean / 1000 / users_of(rung) for rung in rungs if rung.ended_rate and rung.mean]

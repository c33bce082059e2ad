"""The lateness of the generator, and its effect on the numbers. A run is invalid for it only if its load was not the
requested load: if arrivals left seconds late, or a full worker fell further and further behind."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from plimsoll.stats.latency.milliseconds import CLEAN_THROUGHPUT
from plimsoll.stats.totals import AGGREGATED
from plimsoll.stats.validity import causes
from plimsoll.stats.validity.causes import CPU_SHARE
from plimsoll.stats.validity.check import ACHIEVED, ValidityCheck

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.latency.milliseconds import Latency, Milliseconds
    from plimsoll.stats.totals import Totals
    from plimsoll.stats.validity.causes import LatenessCause
    from plimsoll.stats.view import RunView

LEAST_FOR_P99 = 100
"""Below this number the p99 would be the maximum of a few values."""
JUDGED = {"p99": 0.99, "p95": 0.95, "p90": 0.9, "p50": 0.5}
"""Percentiles whose share is judged, in addition to the mean's."""
GROWTH = 2.0
GROWTH_MS = 50.0
"""Lag grows if its mean in the last third of a full worker's seconds is this many times that in the first third, and
this many ms more."""
LEAST_FULL_SECONDS = 2
ALL_USERS = 0.99
"""Of the most users: with fewer, more of them are starting, which makes lag grow for a while."""


@dataclass(frozen=True, slots=True)
class UncleanFigure:
    """A figure of which the generator has too large a share."""

    name: str
    """A key of `JUDGED`, mean, or throughput."""
    share: float
    """ms that the generator may have added; the part, 0…1, of the throughput that it may have cost."""
    value: float = 0.0
    """ms, of a time."""
    endpoint: str = ""
    """Method and name; "" for all together."""


@dataclass(frozen=True, slots=True)
class LagCheck(ValidityCheck):
    """The p99 of lag, ms."""

    name = "lag"
    requests: int = 0
    """Whose lag is known."""
    figure: UncleanFigure | None = None
    """The first one."""
    cause: LatenessCause | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LateArrivals(ValidityCheck):
    """Open model: arrivals that left so late that the target did not have them when they were due. The value is their
    share."""

    name = "lag"
    late: int
    offered: int
    longest_ms: float
    """Lag."""
    first_second: int
    last_second: int
    cause: LatenessCause


@dataclass(frozen=True, slots=True)
class DelayCheck(ValidityCheck):
    """The part of the throughput that lag and delay cost in the closed model, in which they delay the next request."""

    name = "delay"
    replies: int = 0
    """Whose delay is known."""
    p99_ms: float = 0.0
    """Of the delay."""
    cause: LatenessCause | None = None


@dataclass(frozen=True, slots=True)
class CpuCheck(ValidityCheck):
    """The share of the workers' seconds in which they were full."""

    name = "cpu"
    limit: float | None = CPU_SHARE
    full: float = 0.0
    """Of one core: a worker that uses more is full."""
    cause: LatenessCause | None = None
    """None if it costs nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowingLag(CpuCheck):
    """A worker was never idle, and fell further and further behind."""

    cause: LatenessCause
    before_ms: float
    after_ms: float


def lag(view: RunView, manifest: Manifest, facts: RunFacts, rows: Iterable[Totals]) -> ValidityCheck:
    """rows: those to judge, the sum first."""
    if late := _late_arrivals(view, manifest, facts):
        return late
    times = view.generator.lag
    if times.count < LEAST_FOR_P99:
        return LagCheck("unknown" if times.count else "n/a", requests=times.count)
    p99 = times.value_at(0.99) / 1000
    figure = next((figure for row in rows for figure in unclean(row, view.timed)), None)
    if figure is None:
        return LagCheck("ok", p99, requests=times.count)
    return LagCheck("remark", p99, requests=times.count, figure=figure, cause=causes.lateness(view, manifest, facts))


def _late_arrivals(view: RunView, manifest: Manifest, facts: RunFacts) -> LateArrivals | None:
    generator = view.generator
    if not manifest.is_open or not generator.offered:
        return None
    late = min(sum(generator.late_by_second.values()), generator.offered)
    if late <= (1 - ACHIEVED) * generator.offered:
        return None
    return LateArrivals(
        "failed",
        late / generator.offered,
        1 - ACHIEVED,
        late=late,
        offered=generator.offered,
        longest_ms=generator.lag.max / 1000,
        first_second=generator.late_since,
        last_second=max(generator.late_by_second),
        cause=causes.lateness(view, manifest, facts),
    )


def delay(view: RunView, manifest: Manifest, facts: RunFacts) -> DelayCheck:
    times = view.generator.delay
    if times.count < LEAST_FOR_P99:
        return DelayCheck("unknown" if times.count else "n/a", replies=times.count)
    p99, part = times.value_at(0.99) / 1000, throughput_share(view, manifest)
    if part is None:
        return DelayCheck("ok", replies=times.count, p99_ms=p99)
    if part <= CLEAN_THROUGHPUT:
        return DelayCheck("ok", part, CLEAN_THROUGHPUT, times.count, p99)
    return DelayCheck("remark", part, CLEAN_THROUGHPUT, times.count, p99, causes.lateness(view, manifest, facts))


def cpu(view: RunView, manifest: Manifest, facts: RunFacts) -> CpuCheck:
    if not view.generator.workers or view.duration < 1:
        return CpuCheck("unknown")
    full = causes.full_cpu(manifest)
    share = view.generator.busy_share(full)
    before, after = _full_lag(view, manifest, full)
    if after - before > GROWTH_MS and after > GROWTH * before:
        cause = causes.full(view, facts)
        return GrowingLag("failed", share, full=full, cause=cause, before_ms=before, after_ms=after)
    if share <= CPU_SHARE:
        return CpuCheck("ok", share, full=full)
    # Where it costs nothing, more processes would change nothing: users wait for the target.
    return CpuCheck("remark", share, full=full, cause=causes.full(view, facts) if is_costly(view, manifest) else None)


def is_costly(view: RunView, manifest: Manifest) -> bool:
    """Whether the generator was so late that it shows in the times of all requests, or in the throughput."""
    part = throughput_share(view, manifest)
    return any(unclean(view.total, view.timed)) or (part is not None and part > CLEAN_THROUGHPUT)


def unclean(row: Totals, timed: Container[str]) -> Iterator[UncleanFigure]:
    """The times of a row with too large a share of the generator, p99 first."""
    endpoint = "" if row.name == AGGREGATED else f"{row.method} {row.name}".strip()
    for name, time in _figures(row.response_of(timed)):
        if time is not None and not time.is_clean:
            yield UncleanFigure(name, time.share, time.value, endpoint)


def unclean_figures(view: RunView, manifest: Manifest) -> tuple[UncleanFigure, ...]:
    """Those of a whole run."""
    times = tuple(figure for row in (view.total, *view.endpoints) for figure in unclean(row, view.timed))
    part = throughput_share(view, manifest)
    if part is None or part <= CLEAN_THROUGHPUT:
        return times
    return (*times, UncleanFigure("throughput", part))


def throughput_share(view: RunView, manifest: Manifest) -> float | None:
    """Closed model: mean lag and delay, divided by the mean time from one request of a user to its next. They do not
    include the time for which workers slept to read more replies at a time: sleeps that cost throughput are given up.
    None for the open model, and if the time of a user is unknown."""
    generator = view.generator
    if manifest.is_open or not generator.lag.count:
        return None
    users = generator.users_by_second()
    present = [count for count in users.values() if count]
    if not present or not view.duration:
        return None
    cycle = fmean(present) * min(view.duration, len(present)) / generator.lag.count
    late = (generator.lag.mean + generator.delay.mean) / 1e6 - generator.gathered / generator.lag.count
    return min(1.0, max(0.0, late) / cycle)


def _full_lag(view: RunView, manifest: Manifest, limit: float) -> tuple[float, float]:
    """Mean lag, ms, in the first and in the last third of the seconds in which a worker was full. In the closed model
    those with all users: its lag grows with them, and is bounded."""
    generator = view.generator
    seconds = generator.full_seconds(limit)
    if not manifest.is_open:
        users = generator.users_by_second()
        most = max(users.values(), default=0)
        seconds = [second for second in seconds if users.get(second, 0) >= ALL_USERS * most]
    by_second = generator.mean_lag_by_second()
    lags = [by_second[second] for second in seconds if second in by_second]
    if len(lags) < LEAST_FULL_SECONDS:
        return 0.0, 0.0
    third = max(1, len(lags) // 3)
    return fmean(lags[:third]), fmean(lags[-third:])


def _figures(times: Latency) -> Iterator[tuple[str, Milliseconds | None]]:
    for name, quantile in JUDGED.items():
        yield name, times.quantile(quantile)
    yield "mean", times.mean

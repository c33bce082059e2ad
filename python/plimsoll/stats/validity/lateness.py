"""The lateness of the generator, its cause, and its effect on the numbers. A run is invalid for it only if its load was
not the requested load: if arrivals left seconds late, or a full worker fell further and further behind."""

from __future__ import annotations

from itertools import chain
from statistics import fmean
from typing import TYPE_CHECKING

from plimsoll.stats.generator import LATE_MS
from plimsoll.stats.latency.milliseconds import CLEAN_MS, CLEAN_PART, CLEAN_THROUGHPUT
from plimsoll.stats.totals import AGGREGATED
from plimsoll.stats.validity import standstill, throttling
from plimsoll.stats.validity.check import ACHIEVED, ValidityCheck, about, ms, percent
from plimsoll.stats.wording import count, number

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.latency.milliseconds import Latency, Milliseconds
    from plimsoll.stats.totals import Totals
    from plimsoll.stats.view import RunView

LEAST_FOR_P99 = 100
"""Below this number the p99 would be the maximum of a few values."""
JUDGED = {"p99": 0.99, "p95": 0.95, "p90": 0.9, "p50": 0.5}
"""Percentiles whose share is judged, in addition to the mean's."""
CPU = {"native": 0.80, "python": 0.90}
"""Of one core: above it a worker is full. The wait in a queue with fixed service (M/D/1) is two services at 80 %, 4.5
at 90 %; a Python user's own code is part of its work, so its worker may use more."""
MUCH_CPU = 0.5
"""Of one core: above it native users wait for each other noticeably, though their worker is not full."""
CPU_SHARE = 0.05
"""Share of the workers' seconds in which they may exceed it."""
GROWTH = 2.0
GROWTH_MS = 50.0
"""Lag grows if its mean in the last third of a full worker's seconds is this many times that in the first third, and
this many ms more."""
LEAST_FULL_SECONDS = 2
ALL_USERS = 0.99
"""Of the most users: with fewer, more of them are starting, which makes lag grow for a while."""
STOOD_STILL = 0.5
"""Share of the p99 of lag for which a worker stood still at once: that is evidence that something blocked its loop."""
UNKNOWN = "the reason is not known"
CPU_WAIT = 0.2
"""Time in which workers waited for a CPU, per CPU time that they used: above it the computer was busy. On an idle one
it is a few per cent."""


def lag(view: RunView, manifest: Manifest, facts: RunFacts, rows: Iterable[Totals]) -> ValidityCheck:
    """rows: those to judge, the sum first."""
    if missed := _late_arrivals(view, manifest, facts):
        return missed
    times = view.generator.lag
    if times.count < LEAST_FOR_P99:
        few = f"too few requests to judge lag ({times.count} of {LEAST_FOR_P99})"
        return ValidityCheck("lag", "unknown" if times.count else "n/a", None, None, few)
    late = times.value_at(0.99) / 1000
    figures = next((found for row in rows if (found := unclean(row, view.timed))), None)
    if figures is None:
        text = (
            f"99 % of the requests left within {about(late)}: the generator's share of each time is at most "
            f"{percent(CLEAN_PART)} or {ms(CLEAN_MS)}"
        )
        return ValidityCheck("lag", "ok", late, None, text)
    name, time = next(iter(figures.items()))
    text = (
        f"Requests left up to {about(max(late, time.share))} late: {cause(view, manifest, facts)}. "
        f"{'The ' if name.startswith('mean') else ''}{name} may be up to {about(time.share)} too high."
    )
    return ValidityCheck("lag", "remark", late, None, text)


def _late_arrivals(view: RunView, manifest: Manifest, facts: RunFacts) -> ValidityCheck | None:
    """Open model: arrivals that left so late that the target did not have them when they were due."""
    generator = view.generator
    if not manifest.is_open or not generator.offered:
        return None
    late = min(sum(generator.late_by_second.values()), generator.offered)
    if late <= (1 - ACHIEVED) * generator.offered:
        return None
    text = (
        f"{number(late)} of {count(generator.offered, 'arrival')} left more than {LATE_MS // 1000} s after they were "
        f"due, up to {ms(generator.lag.max / 1000)}, from second {generator.late_since} to second "
        f"{max(generator.late_by_second)}: {cause(view, manifest, facts)}"
    )
    return ValidityCheck("lag", "failed", late / generator.offered, 1 - ACHIEVED, text)


def delay(view: RunView, manifest: Manifest, facts: RunFacts) -> ValidityCheck:
    """The cost of lag and delay in the closed model, in which they delay the next request."""
    times = view.generator.delay
    if times.count < LEAST_FOR_P99:
        few = f"too few replies to judge delay ({times.count} of {LEAST_FOR_P99})"
        return ValidityCheck("delay", "unknown" if times.count else "n/a", None, None, few)
    late = f"99 % of the replies were read within {about(times.value_at(0.99) / 1000)}"
    part = throughput_share(view, manifest)
    if part is None:
        return ValidityCheck("delay", "ok", None, None, f"{late}, which is part of no time")
    if part <= CLEAN_THROUGHPUT:
        text = f"{late}; lag and delay cost at most {percent(part)} of the throughput"
        return ValidityCheck("delay", "ok", part, CLEAN_THROUGHPUT, text)
    text = f"Throughput may be up to {percent(part)} too low: {cause(view, manifest, facts)}."
    return ValidityCheck("delay", "remark", part, CLEAN_THROUGHPUT, text)


def cpu(view: RunView, manifest: Manifest, facts: RunFacts) -> ValidityCheck:
    if not view.generator.workers or view.duration < 1:
        return ValidityCheck("cpu", "unknown", None, CPU_SHARE, "no worker reported its CPU for a whole second")
    limit = _cpu_limit(manifest)
    share = view.generator.busy_share(limit)
    above = f"workers used more than {percent(limit)} CPU in {percent(share)} of their seconds"
    before, after = _full_lag(view, manifest, limit)
    if after - before > GROWTH_MS and after > GROWTH * before:
        text = (
            f"a worker was never idle, and requests left later and later ({about(before)} to {about(after)} late): "
            f"{throttling.cause(view, facts) or _full(view)}, a lower load, or another machine"
        )
        return ValidityCheck("cpu", "failed", share, CPU_SHARE, text)
    if share <= CPU_SHARE:
        return ValidityCheck("cpu", "ok", share, CPU_SHARE, above)
    # Where it costs nothing, more processes would change nothing: users wait for the target.
    why = (
        f": {throttling.cause(view, facts) or _full(view)}"
        if is_costly(view, manifest)
        else ", and sent and read in time all the same"
    )
    return ValidityCheck("cpu", "remark", share, CPU_SHARE, f"{above[:1].upper()}{above[1:]}{why}.")


def is_costly(view: RunView, manifest: Manifest) -> bool:
    """Whether the generator was so late that it shows in the times of all requests, or in the throughput."""
    part = throughput_share(view, manifest)
    return bool(unclean(view.total, view.timed)) or (part is not None and part > CLEAN_THROUGHPUT)


def unclean(row: Totals, timed: Container[str]) -> dict[str, Milliseconds]:
    """The values of a row with too large a share of the generator, p99 first."""
    times = row.response_of(timed)
    of = "" if row.name == AGGREGATED else f" of {f'{row.method} {row.name}'.strip()}"
    return {f"{name}{of}": time for name, time in _figures(times) if time is not None and not time.is_clean}


def unclean_figures(view: RunView, manifest: Manifest) -> tuple[str, ...]:
    """Those of a whole run, in words."""
    rows = (view.total, *view.endpoints)
    found = chain.from_iterable(unclean(row, view.timed).items() for row in rows)
    times = tuple(f"{name} {ms(time.value)}, up to {about(time.share)} of it the generator's" for name, time in found)
    part = throughput_share(view, manifest)
    if part is None or part <= CLEAN_THROUGHPUT:
        return times
    return (*times, f"throughput, up to {percent(part)} too low")


def throughput_share(view: RunView, manifest: Manifest) -> float | None:
    """Closed model: mean lag and delay, divided by the mean time from one request of a user to its next. They do not
    include the time for which workers slept to read more replies at a time: sleeps that cost throughput are given up.
    None for the open model, and if the time of a user is unknown."""
    generator = view.generator
    if manifest.is_open or not generator.lag.count:
        return None
    users = generator.users_by_second()
    present = [each for each in users.values() if each]
    if not present or not view.duration:
        return None
    cycle = fmean(present) * min(view.duration, len(present)) / generator.lag.count
    late = (generator.lag.mean + generator.delay.mean) / 1e6 - generator.gathered / generator.lag.count
    return min(1.0, max(0.0, late) / cycle)


def cause(view: RunView, manifest: Manifest, facts: RunFacts) -> str:
    """The cause of the generator's lateness, in a few words. It has evidence of its own: that other causes have none is
    no evidence."""
    generator = view.generator
    # A worker that was stopped waited for a CPU, and stood still: those would be the wrong causes.
    if throttled := throttling.cause(view, facts):
        return throttled
    if generator.busy_share(_cpu_limit(manifest)) > CPU_SHARE:
        return _full(view)
    if silences := generator.silences(LATE_MS):
        return standstill.cause(view, silences, manifest, facts)
    stood_still = max(generator.silences(0), key=lambda silence: silence.ms, default=None)
    is_cause = stood_still is not None and stood_still.ms >= STOOD_STILL * generator.lag.value_at(0.99) / 1000
    # A worker that did not wait for a CPU while it stood still waited for something else, for example for a file.
    was_blocked = stood_still is not None and is_cause and stood_still.waited_ms < standstill.MUCH * stood_still.ms
    has_waited = generator.cpu_waited > CPU_WAIT * generator.cpu_used and not was_blocked
    is_native = manifest.is_native
    if is_native and not has_waited and generator.busy_share(MUCH_CPU) > CPU_SHARE:
        return f"a worker reads one reply after another: use --processes {generator.workers + 1}"
    if has_waited:
        return "this computer was busy with something else"
    if stood_still is None or not is_cause:
        return UNKNOWN
    blocked = f"a worker stood still for up to {ms(stood_still.ms)}"
    if is_native:
        return f"{blocked}, because its process was stopped, or this computer was busy"
    # Without a reading of how long the worker waited for a CPU, both are possible.
    busy = "" if generator.cpu_waited else "this computer was busy, or "
    return f"{blocked}, because {busy}the users' own code blocks"


def _full(view: RunView) -> str:
    workers = view.generator.workers
    are = "one worker is full" if workers == 1 else f"{count(workers, 'worker')} are full"
    return f"{are}: use --processes {workers + 1}"


def _cpu_limit(manifest: Manifest) -> float:
    return CPU["native" if manifest.is_native else "python"]


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

"""Is a run's verdict about the target, or about its own generator? Ten checks, each with its numbers.

A check that fails makes the run invalid. One that cannot be made says why: it is "unknown" when something is not known
that should be, and "n/a" when the question does not arise. Neither makes a run invalid.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from plimsoll._engine import Histogram
from plimsoll.record import TIMED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.stats.totals import Totals
    from plimsoll.stats.view import RunView

CheckState = Literal["ok", "failed", "unknown", "n/a"]

ACHIEVED = 0.99
"""Least share of the offered arrivals that were begun while load was offered."""
LATE_MS = 1.0
LATE_SHARE = 0.05
"""Lag and delay: at most so many ms, or this share of the target's p50 if that is more."""
LEAST_FOR_P99 = 100
"""Values without which the p99 would be the maximum of a few."""
CPU = {"native": 0.80, "python": 0.90}
"""Of one core: from here on a worker cannot be trusted to be on time. The wait in a queue with fixed service (M/D/1) is
two services at 80 %, 4.5 at 90 %; a Python user's own code is part of what it does, so its worker may use more."""
CPU_SHARE = 0.05
"""Share of the workers' seconds in which they may be above that."""
SPARE = 0.5
"""Of one core: a worker that used no more in any second had time for what it did late."""
STEP_MS = 1.0
"""What a clock may have been set by, in ms: the limit of lag and delay."""
LITTLE_SAMPLES = 10
LITTLE_MEAN = 10.0
"""Fewer samples, or fewer exchanges in flight, and their mean says too little."""
LITTLE_TOLERANCE = 0.10
"""What the two sides of Little's law may differ by besides the error of sampling."""

_HOUR_MS = 3_600_000.0
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}


@dataclass(frozen=True, slots=True)
class ValidityCheck:
    """One question and its answer. value and limit are in the unit that the text names; None where there is none."""

    name: str
    state: CheckState
    value: float | None
    limit: float | None
    text: str
    """One line for people."""


@dataclass(frozen=True, slots=True)
class Validity:
    """The checks in the order in which they were made."""

    checks: tuple[ValidityCheck, ...]

    @property
    def valid(self) -> bool:
        """Nothing failed."""
        return not self.reasons

    @property
    def reasons(self) -> list[str]:
        """Why it is invalid."""
        return [check.text for check in self.checks if check.state == "failed"]


def judge(view: RunView, manifest: Mapping[str, Any], facts: Mapping[str, Any]) -> Validity:
    """Of the manifest, `model` and `users_kind` are read; of the facts, `lost_workers` and `clock_step_ms`."""
    checks = judge_so_far(view, manifest, facts).checks
    return Validity((*checks[:-1], _percentiles(view), checks[-1]))


def judge_so_far(view: RunView, manifest: Mapping[str, Any], facts: Mapping[str, Any]) -> Validity:
    """The same while the run goes on, without the check of the record, which reads every endpoint."""
    generator = view.generator
    return Validity(
        (
            _offered(view, manifest),
            _dropped(view, manifest),
            _late("lag", generator.lag, view, f"the generator sent late{_why_late(view, manifest)}"),
            _late("delay", generator.delay, view, f"the generator read late{_why_late(view, manifest)}"),
            _cpu(view, manifest),
            _workers(facts),
            _clock(facts),
            _exhausted(view),
            _little(view),
        )
    )


def _offered(view: RunView, manifest: Mapping[str, Any]) -> ValidityCheck:
    if manifest.get("model", "closed") != "open":
        return ValidityCheck("offered", "n/a", None, ACHIEVED, "the closed model offers no rate that could be missed")
    generator = view.generator
    if not generator.offered:
        return ValidityCheck("offered", "unknown", None, ACHIEVED, "no arrival was due after the warm-up")
    left = max(generator.dropped, _waiting_at_the_end(view))
    begun = max(0, generator.offered - left)
    achieved = begun / generator.offered
    seconds = sum(1 for count in generator.offered_by_second().values() if count)
    rates = f"{begun / seconds:.4g}/s of {generator.offered / seconds:.4g}/s offered were begun in time"
    if achieved >= ACHIEVED:
        return ValidityCheck("offered", "ok", achieved, ACHIEVED, f"{rates} ({_percent(achieved)})")
    text = (
        f"only {rates} ({_percent(achieved)}, less than {_percent(ACHIEVED)}): the others waited for a user or were "
        "dropped; more users (--max-users), or a rate that the target can keep up with"
    )
    return ValidityCheck("offered", "failed", achieved, ACHIEVED, text)


def _waiting_at_the_end(view: RunView) -> int:
    """Arrivals that still waited when the last one was offered; after that the queue is only worked off."""
    last = max((second for second, count in view.generator.offered_by_second().items() if count), default=-1)
    return view.generator.waiting_by_second().get(last, 0)


def _dropped(view: RunView, manifest: Mapping[str, Any]) -> ValidityCheck:
    dropped = max(view.generator.dropped, view.total.dropped)
    if dropped:
        text = f"{_count(dropped, 'arrival')} dropped: due, but never sent; more users (--max-users), or a lower rate"
        return ValidityCheck("dropped", "failed", dropped, 0, text)
    if manifest.get("model", "closed") != "open":
        return ValidityCheck("dropped", "n/a", None, 0, "in the closed model nothing is due that could be dropped")
    return ValidityCheck("dropped", "ok", 0, 0, "no arrival was dropped")


def _late(name: str, times: Histogram, view: RunView, meaning: str) -> ValidityCheck:
    if times.count < LEAST_FOR_P99:
        few = f"{_count(times.count, 'exchange')}, too few for a p99 of {name}: at least {LEAST_FOR_P99} are needed"
        return ValidityCheck(name, "unknown" if times.count else "n/a", None, None, few)
    median = view.total.service.median
    limit = max(LATE_MS, LATE_SHARE * median.value) if median else LATE_MS
    rule = f"{_ms(LATE_MS)} or {_percent(LATE_SHARE)} of the target's p50" + (
        f" of {_ms(median.value)}" if median else ""
    )
    value = times.value_at(0.99) / 1000
    if value <= limit:
        return ValidityCheck(
            name, "ok", value, limit, f"{name} p99 {_ms(value)} is within its limit of {_ms(limit)} ({rule})"
        )
    return ValidityCheck(
        name, "failed", value, limit, f"{name} p99 {_ms(value)} is over its limit of {_ms(limit)} ({rule}): {meaning}"
    )


def _cpu(view: RunView, manifest: Mapping[str, Any]) -> ValidityCheck:
    limit = CPU["native" if manifest.get("users_kind") == "native" else "python"]
    if not view.generator.workers or view.duration < 1:
        return ValidityCheck("cpu", "unknown", None, CPU_SHARE, "no worker told its CPU for a whole second")
    share = view.generator.busy_share(limit)
    above = f"workers used more than {_percent(limit)} CPU in {_percent(share)} of their seconds"
    if share <= CPU_SHARE:
        return ValidityCheck("cpu", "ok", share, CPU_SHARE, f"{above}, at most {_percent(CPU_SHARE)} are allowed")
    text = f"{above}, over the limit of {_percent(CPU_SHARE)}: the generator was short of CPU; {_relief(manifest)}"
    return ValidityCheck("cpu", "failed", share, CPU_SHARE, text)


def _workers(facts: Mapping[str, Any]) -> ValidityCheck:
    lost = facts.get("lost_workers")
    if lost is None:
        return ValidityCheck("workers", "unknown", None, 0, "it is not known whether a worker was lost")
    if not lost:
        return ValidityCheck("workers", "ok", 0, 0, "no worker was lost")
    text = f"{_count(lost, 'worker')} lost: a part of the load was missing from then on"
    return ValidityCheck("workers", "failed", lost, 0, text)


def _clock(facts: Mapping[str, Any]) -> ValidityCheck:
    step = facts.get("clock_step_ms")
    if step is None:
        return ValidityCheck("clock", "unknown", None, STEP_MS, "it is not known whether the clock was set")
    if abs(step) <= STEP_MS:
        return ValidityCheck("clock", "ok", abs(step), STEP_MS, "the clock was not set")
    text = (
        f"the clock was set by {_ms(abs(step))}: receive stamps around that moment are wrong by as much; "
        "no time synchronisation that steps while a run goes on"
    )
    return ValidityCheck("clock", "failed", abs(step), STEP_MS, text)


def _exhausted(view: RunView) -> ValidityCheck:
    failed = view.generator.exhausted
    if not view.generator.workers:
        return ValidityCheck("exhausted", "unknown", None, 0, "no worker told whether files, ports and memory sufficed")
    if not failed:
        return ValidityCheck("exhausted", "ok", 0, 0, "files, ports and memory sufficed")
    text = (
        f"{_count(failed, 'exchange')} failed because files, ports or memory of the generator ran out; "
        "`plimsoll doctor` says which"
    )
    return ValidityCheck("exhausted", "failed", failed, 0, text)


def _percentiles(view: RunView) -> ValidityCheck:
    """Exact extremes and counts against the histograms: they can only disagree if the record is damaged."""
    timed = [each for each in (*view.endpoints, view.total) if each.response.count]
    if not timed:
        return ValidityCheck("percentiles", "n/a", None, None, "nothing was timed")
    wrong = [f"{_label(each)}: {disorder}" for each in timed if (disorder := _disorder(each))]
    if not wrong:
        return ValidityCheck("percentiles", "ok", 0, 0, "min ≤ p50 ≤ p90 ≤ p99 ≤ p99.9 ≤ max at every endpoint")
    text = f"times contradict each other ({wrong[0]}): the record is damaged"
    return ValidityCheck("percentiles", "failed", len(wrong), 0, text)


def _disorder(endpoint: Totals) -> str | None:
    """The first two times in the wrong order. Not by `Latency`, which keeps percentiles within the extremes."""
    parts = [each for outcome, each in endpoint.outcomes.items() if outcome in TIMED and each.timed]
    times = Histogram()
    for each in parts:
        times.add(each.response)
    if times.count != sum(each.timed for each in parts):
        return f"{times.count} times of {sum(each.timed for each in parts)} exchanges"
    # Histograms end at 1 h; the extremes do not.
    smallest = min(min(each.response_min for each in parts) / 1e6, _HOUR_MS)
    largest = max(each.response_max for each in parts) / 1e6
    values = [
        ("min", smallest),
        *((name, times.value_at(q) / 1000) for name, q in _QUANTILES.items()),
        ("max", largest),
    ]
    for (name, value), (above, bound) in pairwise(values):
        # A histogram rounds to a µs and a thousandth.
        if value > bound * 1.001 + 0.001:
            return f"{name} {_ms(value)} is above {above} {_ms(bound)}"
    return None


def _little(view: RunView) -> ValidityCheck:
    """Little's law: what is in flight on average is what all the times add up to, per second.

    The tolerance is three standard errors of the sampled mean, `LITTLE_TOLERANCE`, and the edge: exchanges cut off at
    the end, or begun in the warm-up, are on one side only, which is at most the longest time's share of the run.
    """
    reason, samples = _no_little(view), _in_flight(view)
    if reason:
        return ValidityCheck("little", "n/a", None, None, f"Little's law is not applied: {reason}")
    counted = statistics.fmean(samples)
    timed = _busy_seconds(view) / view.duration
    error = 3 * statistics.stdev(samples) / math.sqrt(len(samples))
    tolerance = error + counted * (LITTLE_TOLERANCE + _longest(view) / view.duration)
    figures = f"the times add up to {timed:.4g} in flight, {counted:.4g} were counted"
    if abs(timed - counted) <= tolerance:
        text = f"Little's law: {figures} (within ±{tolerance:.3g})"
        return ValidityCheck("little", "ok", abs(timed - counted), tolerance, text)
    text = (
        f"Little's law: {figures} (more than ±{tolerance:.3g} apart): times are wrong, or exchanges were not recorded"
    )
    return ValidityCheck("little", "failed", abs(timed - counted), tolerance, text)


def _no_little(view: RunView) -> str | None:
    """Why it cannot be told."""
    samples = _in_flight(view)
    if len(samples) > 1 and statistics.stdev(samples) > statistics.fmean(samples):
        # A target that stalls in step with the seconds is always caught at the same point.
        return "what was in flight changes too much between samples"
    if len(samples) < LITTLE_SAMPLES:
        return f"{_count(len(samples), 'sample')} of what was in flight, at least {LITTLE_SAMPLES} are needed"
    if statistics.fmean(samples) < LITTLE_MEAN:
        return f"{statistics.fmean(samples):.3g} in flight on average, at least {LITTLE_MEAN:.0f} are needed"
    if sum(each.timed for each in view.total.outcomes.values()) != view.generator.lag.count:
        return "a client of the user's own timed exchanges that the engine did not count"
    if _longest(view) > 0.5 * view.duration:
        return f"exchanges took up to {_longest(view):.3g} s, the run only {view.duration:.3g} s"
    return None


def _in_flight(view: RunView) -> list[int]:
    """At the end of each whole second."""
    end = view.length if view.length is not None else view.last_second
    return [count for second, count in view.generator.in_flight_by_second().items() if second + 1 <= end]


def _busy_seconds(view: RunView) -> float:
    """Seconds for which exchanges were in flight, all of them added up: until they were read, not only arrived."""
    delay = view.generator.delay
    return sum(each.service_sum for each in view.total.outcomes.values()) / 1e9 + delay.mean * delay.count / 1e6


def _longest(view: RunView) -> float:
    """Seconds."""
    return max((each.service.max for each in view.total.outcomes.values()), default=0) / 1e6


def _why_late(view: RunView, manifest: Mapping[str, Any]) -> str:
    """And what helps. More workers do not, where those that there are had nothing to do."""
    generator = view.generator
    if not generator.cpu_max or generator.busy_share(SPARE):
        return f"; {_relief(manifest)}"
    if manifest.get("users_kind") == "native":
        return ", with CPU to spare: something else kept it waiting; a machine of its own"
    return (
        ", with CPU to spare: something else kept it waiting, or users' code that blocks; a machine of its own, or no "
        "blocking calls"
    )


def _relief(manifest: Mapping[str, Any]) -> str:
    if manifest.get("model", "closed") == "open":
        return "more workers (--processes), more users (--max-users), or a machine of its own"
    return "more workers (--processes), fewer users, or a machine of its own"


def _label(endpoint: Totals) -> str:
    return f"{endpoint.method} {endpoint.name}".strip()


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:.3g} ms" if milliseconds < 1000 else f"{milliseconds:.0f} ms"


def _percent(share: float) -> str:
    """Never 100 % of what is not all."""
    return f"{math.floor(share * 1000) / 10:g} %"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"

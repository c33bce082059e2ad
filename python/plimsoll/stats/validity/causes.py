"""The cause of the generator's lateness, and of a worker that stood still."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll.stats.generator import LATE_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record.facts import CpuPeriods, RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.generator import Silence
    from plimsoll.stats.view import RunView

CPU = {"native": 0.80, "python": 0.90}
"""Of one core: above it a worker is full. The wait in a queue with fixed service (M/D/1) is two services at 80 %, 4.5
at 90 %; a Python user's own code is part of its work, so its worker may use more."""
MUCH_CPU = 0.5
"""Of one core: above it native users wait for each other noticeably, though their worker is not full."""
CPU_SHARE = 0.05
"""Share of the workers' seconds in which they may exceed it."""
CPU_WAIT = 0.2
"""Time in which workers waited for a CPU, per CPU time that they used: above it the computer was busy. On an idle one
it is a few per cent."""
STOOD_STILL = 0.5
"""Share of the p99 of lag for which a worker stood still at once: that is evidence that something blocked its loop."""
MUCH = 0.5
"""Share of a silence for which a worker used a CPU, or waited for one, that tells its cause."""

CauseId = Literal["CPU limit", "full", "one by one", "stood still", "suspects", "unknown"]
Suspect = Literal["computer busy", "worker busy", "process stopped", "users' code"]


@dataclass(frozen=True, slots=True)
class LatenessCause:
    """Why the generator was late. `plimsoll.say.causes` has the words."""

    id: CauseId
    """CPU limit: that of the workers' control group, as a container has one. Once the group has used up the time of a
    period, all of its processes stand still until the next one, on a computer that may be idle. full: workers were.
    one by one: a worker reads one reply after another. suspects: one of these. stood still: a worker did, because of
    one of these."""
    workers: int = 0
    periods: CpuPeriods | None = None
    suspects: tuple[Suspect, ...] = ()
    stood_still_ms: float = 0.0


def cpu_limit(view: RunView, facts: RunFacts) -> LatenessCause | None:
    """None if it was not the limit of a control group."""
    periods = facts.cpu_periods
    if periods is None or not periods.is_material:
        return None
    return LatenessCause("CPU limit", view.generator.workers, periods)


def full(view: RunView, facts: RunFacts) -> LatenessCause:
    """Of workers that were never idle."""
    return cpu_limit(view, facts) or LatenessCause("full", view.generator.workers)


def lateness(view: RunView, manifest: Manifest, facts: RunFacts) -> LatenessCause:
    """It has evidence of its own: that other causes have none is no evidence."""
    generator = view.generator
    # A worker that was stopped waited for a CPU, and stood still: those would be the wrong causes.
    if limit := cpu_limit(view, facts):
        return limit
    if generator.busy_share(full_cpu(manifest)) > CPU_SHARE:
        return full(view, facts)
    if silences := generator.silences(LATE_MS):
        return standstill(view, silences, manifest, facts)
    stood_still = max(generator.silences(0), key=lambda silence: silence.ms, default=None)
    is_cause = stood_still is not None and stood_still.ms >= STOOD_STILL * generator.lag.value_at(0.99) / 1000
    # A worker that did not wait for a CPU while it stood still waited for something else, for example for a file.
    was_blocked = stood_still is not None and is_cause and stood_still.waited_ms < MUCH * stood_still.ms
    has_waited = generator.cpu_waited > CPU_WAIT * generator.cpu_used and not was_blocked
    is_native = manifest.is_native
    if is_native and not has_waited and generator.busy_share(MUCH_CPU) > CPU_SHARE:
        return LatenessCause("one by one", generator.workers)
    if has_waited:
        return LatenessCause("suspects", suspects=("computer busy",))
    if stood_still is None or not is_cause:
        return LatenessCause("unknown")
    suspects: tuple[Suspect, ...] = ("process stopped", "computer busy")
    if not is_native:
        # Without a reading of how long the worker waited for a CPU, both are possible.
        suspects = ("users' code",) if generator.cpu_waited else ("computer busy", "users' code")
    return LatenessCause("stood still", suspects=suspects, stood_still_ms=stood_still.ms)


def standstill(view: RunView, silences: Sequence[Silence], manifest: Manifest, facts: RunFacts) -> LatenessCause:
    """Of the longest silence, by what its worker did meanwhile."""
    if limit := cpu_limit(view, facts):
        return limit
    longest = max(silences, key=lambda silence: silence.ms)
    suspects: tuple[Suspect, ...]
    if longest.waited > MUCH:
        suspects = ("computer busy",)
    elif longest.cpu > MUCH:
        suspects = ("worker busy",) if manifest.is_native else ("users' code",)
    elif manifest.is_native:
        suspects = ("process stopped", "computer busy")
    elif view.generator.cpu_waited:
        suspects = ("process stopped", "users' code")
    else:
        # Without a reading of how long the worker waited for a CPU, that is possible, too.
        suspects = ("process stopped", "computer busy", "users' code")
    return LatenessCause("suspects", suspects=suspects)


def full_cpu(manifest: Manifest) -> float:
    """Of one core: above it a worker of this run is full."""
    return CPU["native" if manifest.is_native else "python"]

"""A recorded run as a probe: how it fared, whether it counts, and whether the backlog grew."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Protocol

from plimsoll.stats.capacity.probe import CapacityProbe
from plimsoll.stats.thresholds.slo import strains
from plimsoll.stats.validity import judge
from plimsoll.stats.view import RecordedRun, RunView

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from collections.abc import Set as AbstractSet

    from plimsoll.stats.capacity.probe import ProbePhase
    from plimsoll.stats.thresholds.grammar import Threshold
    from plimsoll.stats.thresholds.slo import Strain

LATENESS = frozenset({"lag", "delay", "cpu"})
"""Checks of a run's validity that are about time which the generator took."""
TOO_FEW = frozenset({"offered", "dropped"})
"""Checks that fail when fewer requests were sent than asked for, because the target answered too slowly."""
LEAST_SECONDS = 6
"""Measured seconds without which a growing backlog is not known from one that varies."""
GROWTH = 0.01
"""Share of the arrivals by which a backlog must grow to be called growing."""


class ProbeRun(RecordedRun, Protocol):
    @property
    def id(self) -> str: ...


def probe_of(run: ProbeRun, criteria: Sequence[Threshold], load: float, phase: ProbePhase) -> CapacityProbe:
    """load: users, or arrivals per second, that were asked for. Raises StoreError when the run cannot be read."""
    view = RunView.of(run)
    counted = (each for each in run.intervals() if each.second >= view.warmup)
    found = strains(criteria, counted, view.duration, view.timed)
    failed = [each for each in judge(view, run.manifest, run.facts).checks if each.state == "failed"]
    owed = (view.generator.lag.value_at(0.99) + view.generator.delay.value_at(0.99)) / 1000
    counts = still_counts({each.name for each in failed}, found, owed)
    reasons = () if counts else tuple(each.text for each in failed)
    waits = view.generator.waiting_by_second()
    backlog = [
        count + waits.get(second, 0)
        for second, count in sorted(view.generator.in_flight_by_second().items())
        if view.warmup <= second and second + 1 <= view.warmup + view.duration
    ]
    growth = backlog_growth(backlog, load) if run.manifest.get("model") == "open" else None
    return CapacityProbe(load, view.duration, phase, found, reasons, run.id, growth, owed)


def still_counts(failed: AbstractSet[str], found: Collection[Strain], owed: float) -> bool:
    """Whether what was wrong with a run leaves its verdict on an objective as it is.

    What was sent late is in the response times, so an objective that was met in spite of that was met. One that was
    broken was broken by the target if it still is with all taken off that the generator owed (ms, at its p99); and if
    the target broke it with fewer requests than were asked for. failed: names of the checks of the run's validity that
    failed.
    """
    if all(each.held for each in found):
        return not failed - LATENESS
    if failed - LATENESS - TOO_FEW:
        return False
    return not failed or any(
        not each.criterion.subject.is_time or (each.value is not None and each.value - owed > each.criterion.limit)
        for each in found
        if not each.held
    )


def backlog_growth(backlog: Sequence[int], rate: float) -> float | None:
    """Requests per second by which a backlog grew: its mean in the last third against the first. 0 when it did not:
    when the two thirds overlap, or the growth is a matter of less than `GROWTH` of the arrivals. None: too short.

    backlog: requests in flight or waiting, second by second. rate: arrivals per second.
    """
    if len(backlog) < LEAST_SECONDS:
        return None
    third = len(backlog) // 3
    first, last = backlog[:third], backlog[-third:]
    growth = (statistics.fmean(last) - statistics.fmean(first)) / (len(backlog) - third)
    return growth if min(last) > max(first) and growth >= GROWTH * rate else 0.0

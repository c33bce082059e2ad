"""A recorded run as a probe: its result, its validity, and whether the backlog grew."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Protocol

from plimsoll.record import NO_REQUESTS
from plimsoll.stats.capacity.probe import CapacityProbe
from plimsoll.stats.thresholds.slo import results
from plimsoll.stats.validity import judge
from plimsoll.stats.view import RecordedRun, RunView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.capacity.probe import ProbePhase
    from plimsoll.stats.thresholds.grammar import Threshold

TOO_FEW = frozenset({"offered", "dropped"})
"""Checks that fail if fewer requests were sent than requested. A target that broke the objective with fewer would have
broken it with all."""
UNREACHABLE = frozenset({"connect", "tls"})
"""Outcomes of requests that did not reach the target."""
LEAST_SECONDS = 6
"""Measured seconds below which a growing backlog cannot be distinguished from a varying one."""
GROWTH = 0.01
"""A backlog grows if it grows by more than this share of the arrivals."""


class ProbeRun(RecordedRun, Protocol):
    @property
    def id(self) -> str: ...


def probe_of(run: ProbeRun, criteria: Sequence[Threshold], load: float, phase: ProbePhase) -> CapacityProbe:
    """load: the requested users, or arrivals per second. Raises StoreError for an unreadable run."""
    view = RunView.of(run)
    thresholds = results(criteria, view)
    held = all(threshold.held for threshold in thresholds)
    failed = [check for check in judge(view, run.manifest, run.facts, run.status).checks if check.state == "failed"]
    reasons = tuple(check.text for check in failed if held or check.name not in TOO_FEW)
    if held and any(threshold.within_share for threshold in thresholds):
        reasons = (*reasons, "without what the load generator may have added the objective was met, with it broken")
    waits = view.generator.waiting_by_second()
    backlog = [
        count + waits.get(second, 0)
        for second, count in sorted(view.generator.in_flight_by_second().items())
        if view.warmup <= second and second + 1 <= view.warmup + view.duration
    ]
    growth = backlog_growth(backlog, load) if run.manifest.is_open else None
    outcomes = {name for name, sums in view.total.outcomes.items() if sums.count} - NO_REQUESTS
    unreachable = outcomes and outcomes <= UNREACHABLE
    why = next((failure.text for failure in run.failures()), "no connection") if unreachable else ""
    return CapacityProbe(load, view.duration, phase, thresholds, reasons, run.id, growth, why)


def backlog_growth(backlog: Sequence[int], rate: float) -> float | None:
    """Requests per second by which a backlog grew: its mean in the last third minus that in the first. 0 if it did not:
    if the two thirds overlap, or the growth is less than `GROWTH` of the arrivals. None: too short.

    backlog: requests in flight or waiting, second by second. rate: arrivals per second.
    """
    if len(backlog) < LEAST_SECONDS:
        return None
    third = len(backlog) // 3
    first, last = backlog[:third], backlog[-third:]
    growth = (statistics.fmean(last) - statistics.fmean(first)) / (len(backlog) - third)
    return growth if min(last) > max(first) and growth >= GROWTH * rate else 0.0

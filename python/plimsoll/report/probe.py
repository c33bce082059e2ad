"""A run as a probe of a search for capacity: its result, why it does not count, and whether its backlog grew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from plimsoll.say.validity import UNDECIDED, check_texts
from plimsoll.stats.capacity.probe import CapacityProbe
from plimsoll.stats.capacity.reading import backlog_growth, backlog_of, is_unreachable
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


class ProbeRun(RecordedRun, Protocol):
    @property
    def id(self) -> str: ...


def probe_of(run: ProbeRun, criteria: Sequence[Threshold], load: float, phase: ProbePhase) -> CapacityProbe:
    """load: the requested users, or arrivals per second. Raises StoreError for an unreadable run."""
    view = RunView.of(run)
    thresholds = results(criteria, view)
    held = all(threshold.held for threshold in thresholds)
    failed = judge(view, run.manifest, run.facts, run.status).failed
    reasons = check_texts(check for check in failed if held or check.name not in TOO_FEW)
    if held and any(threshold.within_share for threshold in thresholds):
        reasons.append(UNDECIDED)
    growth = backlog_growth(backlog_of(view), load) if run.manifest.is_open else None
    why = next((failure.text for failure in run.failures()), "no connection") if is_unreachable(view) else ""
    return CapacityProbe(load, view.duration, phase, thresholds, tuple(reasons), run.id, growth, why)

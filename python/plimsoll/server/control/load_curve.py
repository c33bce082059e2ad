"""The load of a run that was not started yet, for the start form to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.server.messages import LoadCurve

if TYPE_CHECKING:
    from plimsoll.record.cells import LoadUnit
    from plimsoll.run.plan import RunPlan

POINTS = 200
"""Distances between the levels of a curve: one for two pixels of the drawing."""
SHORTEST_ENDLESS_S = 10.0
"""Seconds to draw at least of a load without an end."""
AFTER_LAST_CHANGE = 1.5
"""How long a load without an end is drawn, as a multiple of the time at which it changes last."""

EMPTY = LoadCurve("users", SHORTEST_ENDLESS_S, is_endless=True, levels=())
"""Of a request that cannot be read."""


def curve_of(plan: RunPlan, *, is_shaped: bool) -> LoadCurve:
    """is_shaped: a LoadTestShape of the locustfile decides how many users there are."""
    unit: LoadUnit = "/s" if plan.is_open else "users"
    if is_shaped:
        return LoadCurve(unit, plan.seconds or SHORTEST_ENDLESS_S, plan.seconds is None, ())
    seconds = plan.seconds or max(SHORTEST_ENDLESS_S, AFTER_LAST_CHANGE * _last_change(plan))
    levels = tuple(_level(plan, seconds * point / POINTS) for point in range(POINTS + 1))
    return LoadCurve(unit, seconds, plan.seconds is None, levels)


def _level(plan: RunPlan, at: float) -> float:
    if plan.load is not None:
        # A phase ends just before its last second is over, so the end of the curve is looked at from within.
        return plan.load.level_at(min(at, (plan.load.seconds or at + 1) - 1e-6))
    return min(plan.users, plan.spawn_rate * at)


def _last_change(plan: RunPlan) -> float:
    """When a load without an end begins to stay as it is, s."""
    if plan.load is None:
        return plan.users / plan.spawn_rate
    shapes = ((phase, phase.shape.build().seconds) for phase in plan.load.phases)
    return max(phase.start + (phase.seconds or length or 0.0) for phase, length in shapes)

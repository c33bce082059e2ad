"""What a recorded run tells a search for capacity: whether it reached the target, and whether its backlog grew."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from plimsoll.record import NO_REQUESTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.view import RunView

UNREACHABLE = frozenset({"connect", "tls"})
"""Outcomes of requests that did not reach the target."""
LEAST_SECONDS = 6
"""Measured seconds below which a growing backlog cannot be distinguished from a varying one."""
GROWTH = 0.01
"""A backlog grows if it grows by more than this share of the arrivals."""


def is_unreachable(view: RunView) -> bool:
    """No request reached the target."""
    outcomes = {name for name, sums in view.total.outcomes.items() if sums.count} - NO_REQUESTS
    return bool(outcomes) and outcomes <= UNREACHABLE


def backlog_of(view: RunView) -> list[int]:
    """Requests in flight or waiting, in each measured second."""
    waits = view.generator.waiting_by_second()
    return [
        count + waits.get(second, 0)
        for second, count in sorted(view.generator.in_flight_by_second().items())
        if view.warmup <= second and second + 1 <= view.warmup + view.duration
    ]


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

"""The backlog of the open model: requests in flight, and arrivals that wait for a user. A queue below its capacity
comes to rest, so a backlog that keeps growing shows more arrivals than the target serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plimsoll.stats.distributions.trends import theil_sen

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from plimsoll.stats.view import RunView

LEAST_SECONDS = 8
"""Four in each half."""
SHORT_SECONDS = 4
"""The least that is judged at all."""
EXCESS = 0.02
"""Share of the arrivals that must join the backlog: the fluctuation of a busy queue is smaller over a run."""
SHORT_EXCESS = 0.1
"""The same for fewer than `LEAST_SECONDS`, in all of which it must grow."""
ALIKE = 1.15
"""Replies per second in the second half of a short run, as a multiple of those in the first: while a slow target has
not answered its first requests yet, its backlog grows too, but so do its replies."""
CPU = 0.80
"""Of a core: above it the generator itself may fall behind."""


def growth(seconds: ArrayLike, backlog: ArrayLike, replies: ArrayLike | None, rate: float) -> float | None:
    """Requests per second by which it grows; None if it does not, or if that is unknown. seconds: whole ones with load.
    replies: in each of them; None: unknown, so a short run is not judged. rate: arrivals per second."""
    at, waiting = np.asarray(seconds, dtype=float), np.asarray(backlog, dtype=float)
    half = len(at) // 2
    if len(at) < LEAST_SECONDS:
        if len(at) < SHORT_SECONDS or replies is None or np.diff(waiting).min() <= 0:
            return None
        answered = np.asarray(replies, dtype=float)
        before, after = float(answered[:half].mean()), float(answered[-half:].mean())
        slope = theil_sen(at, waiting).value
        return slope if before > 0 and after <= ALIKE * before and slope >= SHORT_EXCESS * rate else None
    whole, second = theil_sen(at, waiting), theil_sen(at[half:], waiting[half:])
    is_certain = min(whole.low, second.low) > 0
    return whole.value if is_certain and whole.value >= EXCESS * rate else None


def growth_in(view: RunView) -> tuple[float, float] | None:
    """Of a run of the open model, in its whole seconds with load: growth and arrivals per second."""
    state = view.generator
    end = view.last_second if view.length is None else int(view.length)
    if view.loaded is not None:
        end = min(end, view.loaded.stop)
    inside = range(view.warmup, max(view.warmup, end))
    offered, flying, waiting = (
        each(inside) for each in (state.offered_by_second, state.in_flight_by_second, state.waiting_by_second)
    )
    known = [second for second in inside if offered.get(second) and second in flying]
    rate = sum(offered[second] for second in known) / len(known) if known else 0.0
    if not rate or state.cpu_max > CPU:
        return None
    counts = view.total.requests_by_second
    replies = [counts[second] if second < len(counts) else 0 for second in known]
    found = growth(known, [flying[second] + waiting.get(second, 0) for second in known], replies, rate)
    return None if found is None else (found, rate)

"""An endpoint that became slower in the course of a run, under a load that stayed the same.

Only the time counts in which the load was at least `STEADY` of its highest: users in the closed model, arrivals in the
open one. Its means by span have a trend (Mann, Econometrica 13, 1945; Kendall, Rank Correlation Methods, 1975) with
|z| ≥ `Z`, which chance reaches once in two thousand endpoints, and the mean of the last quarter is at least `TIMES`
that of the first one and `NOTICED_MS` above it. All this holds as well without the time that a request takes at the
end: for so long after the load is whole, a queue of closed users may still fill up. An endpoint that is asked more
often at the end than at first has another load.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.headline.waiting import waiting_shares
from plimsoll.stats.spans import SpanSum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.view import EndpointView, RunView

TIMES = 1.5
NOTICED_MS = 10.0
STEADY = 0.95
LEAST_SHARE = 0.1
"""Of all waiting. Nobody minds what nobody waits for."""
LEAST_SPANS = 8
LEAST_RESPONSES = 20
"""Of each quarter."""
Z = 3.5


@dataclass(frozen=True, slots=True)
class GrowingTimes:
    """Means of the first and of the last quarter of the steady time."""

    label: str
    first_ms: float
    last_ms: float
    first_bytes: float
    last_bytes: float

    @property
    def has_larger_replies(self) -> bool:
        return self.first_bytes > 0 and self.last_bytes >= TIMES * self.first_bytes


def growing_times(view: RunView, manifest: Manifest) -> GrowingTimes | None:
    """Of the endpoint with the largest share of all waiting among those that became slower."""
    steady = _steady(view, manifest)
    if steady is None:
        return None
    shares = waiting_shares(view)
    rows = [row for row in view.endpoints if shares.get((row.method, row.name), 0.0) >= LEAST_SHARE]
    for row in sorted(rows, key=lambda row: -shares[row.method, row.name]):
        found = _growth(row, steady)
        if found is not None:
            found = _growth(row, range(steady.start + int(found[1].mean_ms / 1000), steady.stop))
        if found is not None:
            first, last = found
            return GrowingTimes(
                f"{row.method} {row.name}".strip(),
                first.mean_ms,
                last.mean_ms,
                first.mean_bytes,
                last.mean_bytes,
            )
    return None


def _growth(row: EndpointView, seconds: range) -> tuple[SpanSum, SpanSum] | None:
    """The first and the last quarter of these seconds, if there is a trend upwards."""
    spans = [span for span in row.spans.within(seconds) if span.responses]
    if len(spans) < LEAST_SPANS:
        return None
    quarter = len(spans) // 4
    first, last = SpanSum(), SpanSum()
    for span in spans[:quarter]:
        first.add(span)
    for span in spans[-quarter:]:
        last.add(span)
    is_more = last.mean_ms >= max(TIMES * first.mean_ms, first.mean_ms + NOTICED_MS)
    is_asked_more = last.responses > TIMES * first.responses
    if not is_more or is_asked_more or min(first.responses, last.responses) < LEAST_RESPONSES:
        return None
    return (first, last) if _z([span.mean_ms for span in spans]) >= Z else None


def _z(means: Sequence[float]) -> float:
    """Of Kendall's S, which is nearly normal from ten values on."""
    count = len(means)
    s = sum((b > a) - (b < a) for place, a in enumerate(means) for b in means[place + 1 :])
    return s / math.sqrt(count * (count - 1) * (2 * count + 5) / 18)


def _steady(view: RunView, manifest: Manifest) -> range | None:
    """The seconds from the first with nearly the highest load on; None if the load fell after it."""
    state, seconds = view.generator, view.whole_seconds
    loads = state.offered_by_second(seconds) if manifest.is_open else state.users_by_second(seconds)
    most = max(loads.values(), default=0)
    start = next((second for second, load in loads.items() if load >= STEADY * most), None)
    if not most or start is None:
        return None
    # Arrivals at random times scatter.
    least = STEADY * most if not manifest.is_open else STEADY * most - 4 * math.sqrt(most)
    if any(load < least for second, load in loads.items() if second >= start):
        return None
    return range(start, seconds.stop)

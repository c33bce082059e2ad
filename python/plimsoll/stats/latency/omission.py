"""The effect of a stalling target that a closed model hides (coordinated omission), estimated.

N users who wait for their replies send nothing during a stall, so it counts once for each user instead of once for each
request that would have come in the meantime. The numbers here are modelled: they are shown next to the recorded ones
and never mixed into them.

Two conditions must hold. Some exchanges were very long; and the whole run sent so much less in some of its seconds that
their users cannot have waited alone. Without the second, long times are those of slow requests, and independent clients
would have sent the others in the meantime as these users did. A stall in every second looks like the target's ordinary
pace, and is not found.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from plimsoll._engine import Histogram
from plimsoll.record import TIMED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.view import RunView

QUANTILES = (0.9, 0.99, 0.999)

HIDDEN = 2.0
"""A modelled percentile more than this many times the recorded one is worth a warning."""
OF_MEDIAN = 10.0
"""A stall is longer than this many medians: so is one lognormal time in 500,000 (sigma 0.5), or in 94 (sigma 1)."""
DIP = 0.25
"""A second is short of requests if it lacks this share of a typical one, and more than `NOISE` deviations."""
NOISE = 4.0
BACKED = 0.5
"""Share of the missed requests that must be lacking in such seconds. Simulated: a freeze of 1 s has 0.75 to 1 of them,
slow requests that do not block others have none."""
LEAST_USERS = 5
"""With fewer, a single slow exchange makes a second short of requests, which looks like a stall."""
LEAST_SECONDS = 3
LEAST_EXCHANGES = 100
"""With fewer there is no typical second to model."""

_MAD = 1.4826
"""Standard deviations per median absolute deviation, of a normal distribution."""


@dataclass(frozen=True, slots=True)
class Omission:
    """Percentiles in ms, by quantile: as recorded, and as seen by an open model at the run's own pace."""

    rate: float
    """Requests per second of a typical second: the pace of independent clients."""
    interval: float
    """Seconds from one request of a user to its next at that pace."""
    recorded: dict[float, float]
    modelled: dict[float, float]
    """As recorded, if nothing was missed."""
    stalls: int
    """Exchanges so long that their users missed requests."""
    missed: int
    """Requests that would have come in the meantime."""
    stall_ms: float
    """An exchange that took longer was a stall."""

    @property
    def is_significant(self) -> bool:
        """Whether the run hides something that matters. `plimsoll.say.validity` has the words."""
        return any(self.modelled[q] > HIDDEN * self.recorded[q] for q in QUANTILES)


def omission(view: RunView, manifest: Manifest) -> Omission | None:
    """None for the open model, which hides nothing, and for a run with too little data."""
    if manifest.is_open:
        return None
    pace = _pace(view)
    recorded = _response(view)
    if pace is None or recorded.count < LEAST_EXCHANGES:
        return None
    times = _quantiles(recorded)
    stall = max(OF_MEDIAN * recorded.value_at(0.5), pace.interval * 1e6)
    nothing = Omission(pace.rate, pace.interval, times, times, stalls=0, missed=0, stall_ms=stall / 1000)
    stalled, rest = _split(recorded, stall)
    filled = stalled.corrected(max(1, round(pace.interval * 1e6)))
    missed = filled.count - stalled.count
    if not missed or pace.lacking < BACKED * missed:
        return nothing
    rest.add(filled)
    # What is added is spread evenly over the stall, so a rank may fall on a shorter wait than that which was seen.
    modelled = {q: max(time, times[q]) for q, time in _quantiles(rest).items()}
    return replace(nothing, modelled=modelled, stalls=stalled.count, missed=missed)


class _Pace(NamedTuple):
    """The users' pace without stalls."""

    rate: float
    """Requests in a typical second."""
    interval: float
    """Seconds between two requests of a user."""
    lacking: float
    """The lacking requests of seconds whose shortage is no chance."""


def _pace(view: RunView) -> _Pace | None:
    """Over the seconds with all users."""
    users = view.generator.users_by_second()
    most = max(users.values(), default=0)
    # Users are counted at a second's end, so the first with all of them may have begun with fewer; the last is cut off.
    plateau = [second for second, there in users.items() if there == most and users.get(second - 1) == most][:-1]
    by_second = view.total.requests_by_second
    counts = [by_second[second] if second < len(by_second) else 0 for second in plateau]
    if most < LEAST_USERS or len(counts) < LEAST_SECONDS:
        return None
    rate = statistics.median(counts)
    return _Pace(rate, most / rate, _lacking(counts, rate)) if rate else None


def _lacking(counts: Sequence[int], typical: float) -> float:
    noise = _MAD * statistics.median(abs(count - typical) for count in counts)
    least = typical - max(DIP * typical, NOISE * noise)
    return sum(typical - count for count in counts if count < least)


def _response(view: RunView) -> Histogram:
    total = Histogram()
    for outcome, sums in view.total.outcomes.items():
        if outcome in TIMED:
            total.add(sums.response)
    return total


def _split(times: Histogram, limit: float) -> tuple[Histogram, Histogram]:
    """Those above the limit in µs, and the others."""
    above, others = Histogram(), Histogram()
    for micros, count in times.buckets():
        (above if micros > limit else others).record(micros, count)
    return above, others


def _quantiles(times: Histogram) -> dict[float, float]:
    return {q: times.value_at(q) / 1000 for q in QUANTILES}

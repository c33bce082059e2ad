"""Is the record of a run complete, and do its counts and times agree with each other?"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from plimsoll._engine import Histogram
from plimsoll.record import TIMED, RecordCounts
from plimsoll.stats.validity.check import ValidityCheck

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record.facts import RunFacts
    from plimsoll.stats.totals import Totals
    from plimsoll.stats.validity.check import CheckState
    from plimsoll.stats.view import RunView

LITTLE_SAMPLES = 10
LITTLE_MEAN = 10.0
"""With fewer samples, or fewer exchanges in flight, their mean is not meaningful."""
LITTLE_TOLERANCE = 0.10
"""Tolerance for Little's law in addition to the sampling error."""
LITTLE_SILENCE_MS = 20.0
"""Mean of the longest silences of a worker's seconds: a worker that often pauses counts too many in flight, because it
counts when it wakes up."""

_HOUR_MS = 3_600_000.0
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}


class OtherCount(NamedTuple):
    """A row has not as many times as exchanges that were timed."""

    times: int
    exchanges: int


class WrongOrder(NamedTuple):
    """A time of a row is above one that cannot be smaller. Names and ms."""

    low: tuple[str, float]
    high: tuple[str, float]


@dataclass(frozen=True, slots=True)
class PercentilesCheck(ValidityCheck):
    """Exact extremes and counts against the histograms: they can only disagree if the record is damaged. The value is
    the number of rows in which they do."""

    name = "percentiles"
    endpoint: str = ""
    """The first one of them: method and name."""
    contradiction: OtherCount | WrongOrder | None = None
    """The first one of that row."""


@dataclass(frozen=True, slots=True)
class StoredCheck(ValidityCheck):
    """The run's counts of its records, against those that were read. The value is the share of the exchanges."""

    name = "stored"
    lost: str = ""
    """What was not stored, in the words of the run."""
    expected: RecordCounts | None = None
    actual: RecordCounts | None = None


class NoLittle(NamedTuple):
    """Why Little's law is not applied. `plimsoll.say.validity` names the values of each id."""

    id: Literal["varies", "few samples", "few in flight", "own client", "late counts", "long exchanges"]
    values: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class LittleCheck(ValidityCheck):
    """Little's law: the average in flight is the sum of all times, per second. The value is the difference."""

    name = "little"
    timed: float = 0.0
    counted: float = 0.0
    not_applied: NoLittle | None = None


def percentiles(view: RunView) -> PercentilesCheck:
    timed = [row for row in (*view.endpoints, view.total) if row.response.count]
    if not timed:
        return PercentilesCheck("n/a")
    wrong = [(row, contradiction) for row in timed if (contradiction := _contradiction(row))]
    if not wrong:
        return PercentilesCheck("ok", 0, 0)
    row, contradiction = wrong[0]
    return PercentilesCheck("failed", len(wrong), 0, f"{row.method} {row.name}".strip(), contradiction)


def stored(view: RunView, facts: RunFacts) -> StoredCheck:
    if facts.not_stored:
        return StoredCheck("failed", lost=facts.not_stored)
    recorded = facts.recorded
    if recorded is None:
        return StoredCheck("n/a")
    expected, actual = RecordCounts(recorded.exchanges, recorded.reports), view.recorded
    share = actual.exchanges / expected.exchanges if expected.exchanges else None
    return StoredCheck("ok" if actual == expected else "failed", share, 1, expected=expected, actual=actual)


def _contradiction(endpoint: Totals) -> OtherCount | WrongOrder | None:
    """Not by `Latency`, which keeps percentiles within the extremes."""
    parts = [sums for outcome, sums in endpoint.outcomes.items() if outcome in TIMED and sums.timed]
    times, exchanges = Histogram(), sum(sums.timed for sums in parts)
    for sums in parts:
        times.add(sums.response)
    if times.count != exchanges:
        return OtherCount(times.count, exchanges)
    # Histograms end at 1 h; the extremes do not.
    smallest = min(min(sums.response_min for sums in parts) / 1e6, _HOUR_MS)
    largest = max(sums.response_max for sums in parts) / 1e6
    values = [
        ("min", smallest),
        *((name, times.value_at(q) / 1000) for name, q in _QUANTILES.items()),
        ("max", largest),
    ]
    for (name, value), (above, bound) in pairwise(values):
        # A histogram rounds to 1 µs and 1/1000.
        if value > bound * 1.001 + 0.001:
            return WrongOrder((name, value), (above, bound))
    return None


def little(view: RunView) -> LittleCheck:
    """The tolerance is three standard errors of the sampled mean, `LITTLE_TOLERANCE`, and the edge: exchanges cut off
    at the end, or begun in the warm-up, are on one side only, which is at most the longest time's share of the run.
    """
    samples = _in_flight(view)
    if reason := _no_little(view, samples):
        return LittleCheck("n/a", not_applied=reason)
    counted = statistics.fmean(samples)
    timed = _busy_seconds(view) / view.covered
    error = 3 * statistics.stdev(samples) / math.sqrt(len(samples))
    tolerance = error + counted * (LITTLE_TOLERANCE + _longest(view) / view.covered)
    state: CheckState = "remark"
    if abs(timed - counted) <= tolerance:
        state = "ok"
    elif timed < counted:
        state = "failed"
    return LittleCheck(state, abs(timed - counted), tolerance, timed, counted)


def _no_little(view: RunView, samples: Sequence[int]) -> NoLittle | None:
    """Why it is unknown."""
    if len(samples) > 1 and statistics.stdev(samples) > statistics.fmean(samples):
        # A target that stalls in step with the seconds is always sampled at the same point.
        return NoLittle("varies")
    if len(samples) < LITTLE_SAMPLES:
        return NoLittle("few samples", (len(samples),))
    if statistics.fmean(samples) < LITTLE_MEAN:
        return NoLittle("few in flight", (statistics.fmean(samples),))
    if sum(sums.timed for sums in view.total.outcomes.values()) != view.generator.lag.count:
        return NoLittle("own client")
    if view.generator.mean_silence_ms > LITTLE_SILENCE_MS:
        return NoLittle("late counts")
    if _longest(view) > 0.5 * view.covered:
        return NoLittle("long exchanges", (_longest(view), view.covered))
    return None


def _in_flight(view: RunView) -> list[int]:
    """At the end of each whole second."""
    end = view.length if view.length is not None else view.last_second
    return [count for second, count in view.generator.in_flight_by_second().items() if second + 1 <= end]


def _busy_seconds(view: RunView) -> float:
    """Sum of the seconds in which exchanges were in flight: until they were read, not only arrived."""
    delay = view.generator.delay
    return sum(sums.service_sum for sums in view.total.outcomes.values()) / 1e9 + delay.mean * delay.count / 1e6


def _longest(view: RunView) -> float:
    """Seconds."""
    return max((sums.service.max for sums in view.total.outcomes.values()), default=0) / 1e6

"""Is the record of a run complete, and do its counts and times agree with each other?"""

from __future__ import annotations

import math
import statistics
from itertools import pairwise
from typing import TYPE_CHECKING

from plimsoll._engine import Histogram
from plimsoll.record import TIMED, RecordCounts
from plimsoll.stats.validity.check import ValidityCheck, count, ms

if TYPE_CHECKING:
    from plimsoll.record.facts import RunFacts
    from plimsoll.stats.totals import Totals
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


def percentiles(view: RunView) -> ValidityCheck:
    """Exact extremes and counts against the histograms: they can only disagree if the record is damaged."""
    timed = [each for each in (*view.endpoints, view.total) if each.response.count]
    if not timed:
        return ValidityCheck("percentiles", "n/a", None, None, "nothing was timed")
    wrong = [f"{_label(each)}: {disorder}" for each in timed if (disorder := _disorder(each))]
    if not wrong:
        return ValidityCheck("percentiles", "ok", 0, 0, "min ≤ p50 ≤ p90 ≤ p99 ≤ p99.9 ≤ max at every endpoint")
    text = f"times contradict each other ({wrong[0]}): the record is damaged"
    return ValidityCheck("percentiles", "failed", len(wrong), 0, text)


def stored(view: RunView, facts: RunFacts) -> ValidityCheck:
    """The run's counts of its records, against those that were read."""
    if lost := facts.not_stored:
        return ValidityCheck("stored", "failed", None, None, lost)
    recorded = facts.recorded
    if recorded is None:
        return ValidityCheck("stored", "n/a", None, None, "the run does not say how much it recorded")
    expected, actual = RecordCounts(recorded.exchanges, recorded.reports), view.recorded
    of = f"{count(expected.exchanges, 'exchange')} and {count(expected.reports, 'report')} of workers"
    share = actual.exchanges / expected.exchanges if expected.exchanges else None
    if actual == expected:
        return ValidityCheck("stored", "ok", share, 1, f"all of the run is stored: {of}")
    text = f"of {of}, the store has {actual.exchanges} and {actual.reports}: a part of the record was lost or changed"
    return ValidityCheck("stored", "failed", share, 1, text)


def _disorder(endpoint: Totals) -> str | None:
    """The first two times in the wrong order. Not by `Latency`, which keeps percentiles within the extremes."""
    parts = [each for outcome, each in endpoint.outcomes.items() if outcome in TIMED and each.timed]
    times = Histogram()
    for each in parts:
        times.add(each.response)
    if times.count != sum(each.timed for each in parts):
        return f"{times.count} times of {sum(each.timed for each in parts)} exchanges"
    # Histograms end at 1 h; the extremes do not.
    smallest = min(min(each.response_min for each in parts) / 1e6, _HOUR_MS)
    largest = max(each.response_max for each in parts) / 1e6
    values = [
        ("min", smallest),
        *((name, times.value_at(q) / 1000) for name, q in _QUANTILES.items()),
        ("max", largest),
    ]
    for (name, value), (above, bound) in pairwise(values):
        # A histogram rounds to 1 µs and 1/1000.
        if value > bound * 1.001 + 0.001:
            return f"{name} {ms(value)} is above {above} {ms(bound)}"
    return None


def little(view: RunView) -> ValidityCheck:
    """Little's law: the average in flight is the sum of all times, per second.

    The tolerance is three standard errors of the sampled mean, `LITTLE_TOLERANCE`, and the edge: exchanges cut off at
    the end, or begun in the warm-up, are on one side only, which is at most the longest time's share of the run.
    """
    reason, samples = _no_little(view), _in_flight(view)
    if reason:
        return ValidityCheck("little", "n/a", None, None, f"Little's law is not applied: {reason}")
    counted = statistics.fmean(samples)
    timed = _busy_seconds(view) / view.covered
    error = 3 * statistics.stdev(samples) / math.sqrt(len(samples))
    tolerance = error + counted * (LITTLE_TOLERANCE + _longest(view) / view.covered)
    figures = f"the times add up to {timed:.4g} in flight, {counted:.4g} were counted"
    if abs(timed - counted) <= tolerance:
        text = f"Little's law: {figures} (within ±{tolerance:.3g})"
        return ValidityCheck("little", "ok", abs(timed - counted), tolerance, text)
    apart = f"Little's law: {figures} (more than ±{tolerance:.3g} apart)"
    if timed < counted:
        return ValidityCheck("little", "failed", counted - timed, tolerance, f"{apart}: exchanges were not recorded")
    text = f"{apart}. Exchanges came and went between two counts."
    return ValidityCheck("little", "remark", timed - counted, tolerance, text)


def _no_little(view: RunView) -> str | None:
    """Why it is unknown."""
    samples = _in_flight(view)
    if len(samples) > 1 and statistics.stdev(samples) > statistics.fmean(samples):
        # A target that stalls in step with the seconds is always sampled at the same point.
        return "what was in flight changes too much between samples"
    if len(samples) < LITTLE_SAMPLES:
        return f"{count(len(samples), 'sample')} of what was in flight, at least {LITTLE_SAMPLES} are needed"
    if statistics.fmean(samples) < LITTLE_MEAN:
        return f"{statistics.fmean(samples):.3g} in flight on average, at least {LITTLE_MEAN:.0f} are needed"
    if sum(each.timed for each in view.total.outcomes.values()) != view.generator.lag.count:
        return "a client of the user's own timed exchanges that the engine did not count"
    if view.generator.mean_silence_ms > LITTLE_SILENCE_MS:
        return "a worker often stood still, and counted late"
    if _longest(view) > 0.5 * view.covered:
        return f"exchanges took up to {_longest(view):.3g} s, the run only {view.covered:.3g} s"
    return None


def _in_flight(view: RunView) -> list[int]:
    """At the end of each whole second."""
    end = view.length if view.length is not None else view.last_second
    return [count for second, count in view.generator.in_flight_by_second().items() if second + 1 <= end]


def _busy_seconds(view: RunView) -> float:
    """Sum of the seconds in which exchanges were in flight: until they were read, not only arrived."""
    delay = view.generator.delay
    return sum(each.service_sum for each in view.total.outcomes.values()) / 1e9 + delay.mean * delay.count / 1e6


def _longest(view: RunView) -> float:
    """Seconds."""
    return max((each.service.max for each in view.total.outcomes.values()), default=0) / 1e6


def _label(endpoint: Totals) -> str:
    return f"{endpoint.method} {endpoint.name}".strip()

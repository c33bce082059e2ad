"""How far a reported figure may be from the true one, by theory. Pure arithmetic, nothing of it a matter of taste.

An exchange takes the client S = T + O: T is the target's own account of it (arrival of the request to the last write
of the reply), O what lies outside of it (two crossings of the kernel, and what the scheduler does in between). T is
recorded for the very exchanges that were reported, so no sampling error is in it; O is not known one by one, but an
independent client, the probe, measures it in the same seconds on the same machine. For every share e

    P(S > t + o) <= P(T > t) + P(O > o)      hence      T(q) <= S(q) <= T(q + e) + O(1 - e)

where X(q) is the value at rank q. Each e gives a valid bound, so the least of them is taken. O(1 - e) is an order
statistic of the probe's sample, taken at the upper end of its binomial interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy

HDR_ERROR = 1e-3
"""A histogram of three significant digits is wrong by so much of a value at most."""
UNIT = 1e-6
"""Histograms count whole µs; in s."""
CONFIDENCE = 0.999
SHARES = tuple(
    share for power in (-4, -3, -2) for share in (1 * 10**power, 2 * 10**power, 5 * 10**power, 9 * 10**power)
)
"""The e that are tried."""


@dataclass(frozen=True)
class Bounds:
    """Where a true figure must be reported, both ends included."""

    low: float
    high: float
    """math.inf where the samples are too small to say."""

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def rank(quantile: float, count: int) -> int:
    """The place of a quantile in a sorted sample, from 1: ⌈quantile · count⌉, as reports take it."""
    if not 0 < quantile <= 1 or count < 1:
        raise ValueError(f"quantile {quantile} of {count} values")
    return max(1, math.ceil(quantile * count - 1e-9))


def value_at(quantile: float, ordered: Sequence[float]) -> float:
    """The value of an ascending sample at that quantile; inf past its end."""
    return ordered[rank(quantile, len(ordered)) - 1] if quantile <= 1 else math.inf


def binomial_ranks(quantile: float, count: int, confidence: float = CONFIDENCE) -> tuple[int, int]:
    """Ranks between whose values the true quantile of what a sample was drawn from lies with that confidence.

    0 and count + 1 mean that the sample is too small to bound it on that side."""
    successes = numpy.arange(count + 1)
    factorials = numpy.concatenate([[0.0], numpy.cumsum(numpy.log(numpy.arange(1, count + 1)))])
    logarithms = factorials[count] - factorials[successes] - factorials[count - successes]
    logarithms += successes * math.log(quantile) + (count - successes) * math.log1p(-quantile)
    below = numpy.cumsum(numpy.exp(logarithms))
    # below[k] is the chance that at most k of the values are under the true quantile.
    tail = (1 - confidence) / 2
    low = int(numpy.searchsorted(below, tail, side="right"))
    high = int(numpy.searchsorted(below, 1 - tail, side="left")) + 1
    return low, high


def upper_value(quantile: float, ordered: Sequence[float], confidence: float = CONFIDENCE) -> float:
    """A value that the true quantile does not exceed, with that confidence; inf for a sample too small."""
    if not ordered:
        return math.inf
    _, high = binomial_ranks(quantile, len(ordered), confidence)
    return ordered[high - 1] if high <= len(ordered) else math.inf


@dataclass(frozen=True)
class Overhead:
    """What lies outside of the target's account, as the probe measured it: ascending, in s."""

    kept: Sequence[float]
    """On a connection that is kept."""
    fresh: Sequence[float]
    """On a connection that is made for the request, the making included."""

    def excess(self, quantile: float, ordered: Sequence[float], connections: int) -> float:
        """The least upper bound of S(quantile), T being `ordered` and so many exchanges having made a connection."""
        made = connections / len(ordered)
        bounds = [value_at(quantile + share, ordered) + upper_value(1 - share, self.fresh) for share in SHARES]
        bounds += [value_at(quantile + share + made, ordered) + upper_value(1 - share, self.kept) for share in SHARES]
        return min(bounds)


def reported_bounds(
    quantile: float, ordered: Sequence[float], overhead: Overhead, connections: int, clock_error: float
) -> Bounds:
    """Where the reported quantile must be. ordered: the target's own times, ascending, in s; clock_error: how wrong
    the target's conversion of stamps is, s. Reporting adds the histogram's error and its unit."""
    low = value_at(quantile, ordered) - clock_error
    high = overhead.excess(quantile, ordered, connections) + clock_error
    return widened(Bounds(low, high))


def widened(bounds: Bounds) -> Bounds:
    """The same after a histogram."""
    return Bounds(max(0.0, bounds.low * (1 - HDR_ERROR) - UNIT), bounds.high * (1 + HDR_ERROR) + UNIT)


def kolmogorov_limit(count: int, confidence: float = CONFIDENCE) -> float:
    """The distance between a sample's distribution and the one it was drawn from, not exceeded with that confidence."""
    return math.sqrt(-math.log((1 - confidence) / 2) / (2 * count))


def exponential_distance(gaps: Sequence[float], mean: float) -> float:
    """Kolmogorov and Smirnov's distance between gaps and the exponential distribution of that mean."""
    ordered = numpy.sort(numpy.asarray(gaps))
    expected = -numpy.expm1(-ordered / mean)
    steps = numpy.arange(1, len(ordered) + 1) / len(ordered)
    return float(max((steps - expected).max(), (expected - steps + 1 / len(ordered)).max()))


def waits_after_freezes(quantile: float, frozen: float, length: float) -> float:
    """The response time at that quantile when arrivals come evenly, a share `frozen` of them within freezes of `length`
    s, and wait for the end: P(wait > x) = frozen · (1 - x / length). 0 for those who do not wait."""
    return max(0.0, length * (1 - (1 - quantile) / frozen))


def dispersion_bounds(windows: int, deviations: float = 3.29) -> Bounds:
    """Variance over mean of Poisson counts in so many windows: 1, with a standard error of √(2 / (windows - 1)). The
    default is that of a confidence of 99.9 %."""
    error = deviations * math.sqrt(2 / (windows - 1))
    return Bounds(1 - error, 1 + error)


def dispersion(times: Sequence[float], window: float) -> tuple[float, int]:
    """(variance over mean of the number of events in each whole window, number of windows). times: ascending."""
    windows = int((times[-1] - times[0]) / window)
    counts = numpy.histogram(times, bins=windows, range=(times[0], times[0] + windows * window))[0]
    return float(counts.var(ddof=1) / counts.mean()), windows

"""The allowed error of a reported figure, by theory. Pure arithmetic without tuning.

The client sees S = T + O. T is the target's own time (from the arrival of the request to the last write of the
response). O is the overhead outside of it (two passes through the kernel, and scheduling). T is recorded for the
reported exchanges themselves, so it has no sampling error. O is not known for single exchanges, but an independent
client, the probe, measures it in the same seconds on the same machine. For every share e

    P(S > t + o) <= P(T > t) + P(O > o)      hence      T(q) <= S(q) <= T(q + e) + O(1 - e)

where X(q) is the value at rank q. Each e gives a valid bound, so the smallest bound is used. O(1 - e) is an order
statistic of the probe's sample, at the upper end of its binomial interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy

HDR_ERROR = 1e-3
"""Maximum relative error of a histogram with three significant digits."""
UNIT = 1e-6
"""Histograms count whole µs; in s."""
CONFIDENCE = 0.999
SHARES = tuple(
    share for power in (-4, -3, -2) for share in (1 * 10**power, 2 * 10**power, 5 * 10**power, 9 * 10**power)
)
"""The values of e to try."""


@dataclass(frozen=True)
class Bounds:
    """The bounds of a correct report, both ends included."""

    low: float
    high: float
    """math.inf if the samples are too few."""

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def rank(quantile: float, count: int) -> int:
    """The place of a quantile in a sorted sample, from 1: ⌈quantile · count⌉, as reports take it."""
    if not 0 < quantile <= 1 or count < 1:
        raise ValueError(f"quantile {quantile} of {count} values")
    return max(1, math.ceil(quantile * count - 1e-9))


def value_at(quantile: float, ordered: Sequence[float]) -> float:
    """The value of an ascending sample at that quantile; inf after its end."""
    return ordered[rank(quantile, len(ordered)) - 1] if quantile <= 1 else math.inf


def binomial_ranks(quantile: float, count: int, confidence: float = CONFIDENCE) -> tuple[int, int]:
    """Ranks whose values enclose the true quantile of the distribution with that confidence.

    0 and count + 1 mean that the sample is too small for a bound on that side."""
    successes = numpy.arange(count + 1)
    factorials = numpy.concatenate([[0.0], numpy.cumsum(numpy.log(numpy.arange(1, count + 1)))])
    logarithms = factorials[count] - factorials[successes] - factorials[count - successes]
    logarithms += successes * math.log(quantile) + (count - successes) * math.log1p(-quantile)
    below = numpy.cumsum(numpy.exp(logarithms))
    # below[k] is the probability that at most k values are below the true quantile.
    tail = (1 - confidence) / 2
    low = int(numpy.searchsorted(below, tail, side="right"))
    high = int(numpy.searchsorted(below, 1 - tail, side="left")) + 1
    return low, high


def upper_value(quantile: float, ordered: Sequence[float], confidence: float = CONFIDENCE) -> float:
    """An upper bound of the true quantile with that confidence; inf for a sample that is too small."""
    if not ordered:
        return math.inf
    _, high = binomial_ranks(quantile, len(ordered), confidence)
    return ordered[high - 1] if high <= len(ordered) else math.inf


@dataclass(frozen=True)
class Overhead:
    """The overhead outside of the target's record, measured by the probe: ascending, in s."""

    kept: Sequence[float]
    """On a kept connection."""
    fresh: Sequence[float]
    """On a new connection, including its setup."""

    def excess(self, quantile: float, ordered: Sequence[float], connections: int) -> float:
        """The smallest upper bound of S(quantile), if T is `ordered` and this many exchanges opened a connection."""
        made = connections / len(ordered)
        bounds = [value_at(quantile + share, ordered) + upper_value(1 - share, self.fresh) for share in SHARES]
        bounds += [value_at(quantile + share + made, ordered) + upper_value(1 - share, self.kept) for share in SHARES]
        return min(bounds)


def reported_bounds(
    quantile: float, ordered: Sequence[float], overhead: Overhead, connections: int, clock_error: float
) -> Bounds:
    """The bounds of the reported quantile. ordered: the target's own times, ascending, in s; clock_error: the error of
    the target's conversion of stamps in s. The histogram adds its error and its unit."""
    low = value_at(quantile, ordered) - clock_error
    high = overhead.excess(quantile, ordered, connections) + clock_error
    return widened(Bounds(low, high))


def widened(bounds: Bounds) -> Bounds:
    """The same with the histogram's error."""
    return Bounds(max(0.0, bounds.low * (1 - HDR_ERROR) - UNIT), bounds.high * (1 + HDR_ERROR) + UNIT)


def kolmogorov_limit(count: int, confidence: float = CONFIDENCE) -> float:
    """Upper bound, with that confidence, of the distance between a sample's distribution and the true one."""
    return math.sqrt(-math.log((1 - confidence) / 2) / (2 * count))


def exponential_distance(gaps: Sequence[float], mean: float) -> float:
    """The Kolmogorov-Smirnov distance between gaps and the exponential distribution with that mean."""
    ordered = numpy.sort(numpy.asarray(gaps))
    expected = -numpy.expm1(-ordered / mean)
    steps = numpy.arange(1, len(ordered) + 1) / len(ordered)
    return float(max((steps - expected).max(), (expected - steps + 1 / len(ordered)).max()))


def waits_after_freezes(quantile: float, frozen: float, length: float) -> float:
    """The response time at that quantile if arrivals are uniform, a share `frozen` of them are within freezes of
    `length` s, and these wait for the end: P(wait > x) = frozen · (1 - x / length). 0 for arrivals that do not wait."""
    return max(0.0, length * (1 - (1 - quantile) / frozen))


def dispersion_bounds(windows: int, deviations: float = 3.29) -> Bounds:
    """Bounds of the variance-to-mean ratio of Poisson counts in this many windows: 1, with a standard error of √(2 /
    (windows - 1)). The default confidence is 99.9 %."""
    error = deviations * math.sqrt(2 / (windows - 1))
    return Bounds(1 - error, 1 + error)


def dispersion(times: Sequence[float], window: float) -> tuple[float, int]:
    """(variance over mean of the number of events in each whole window, number of windows). times: ascending."""
    windows = int((times[-1] - times[0]) / window)
    counts = numpy.histogram(times, bins=windows, range=(times[0], times[0] + windows * window))[0]
    return float(counts.var(ddof=1) / counts.mean()), windows

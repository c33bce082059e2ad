"""Percentiles, means, maxima and rates: compared by their ratio, on a logarithmic scale, where a relative change has
the same size upwards and downwards, at 5 ms and at 5 s."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.stats.distributions.normal import normal_quantile
from plimsoll.stats.latency.autocorrelation import CONFIDENCE, ratio_of_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.compare.questions import Question
    from plimsoll.stats.compare.readings import Pair, Readings
    from plimsoll.stats.latency.autocorrelation import Estimate, Within
    from plimsoll.stats.study import Measured, Noise, Precision, Study, Trial

OWN = "plimsoll"
LEAST_HISTORY = 4.0
"""Degrees of freedom of an A/A history from which its spread is reliable."""


@dataclass(frozen=True, slots=True)
class Span:
    """The possible error of a value within its run, as logarithms; both ≥ 0."""

    below: float
    above: float


def within_runs(readings: Readings, question: Question, pair: Pair) -> tuple[float, float] | None:
    """The interval of b/a for these two runs only, from the uncertainty within each. None: too little is known.

    The two spans are combined as in Zou and Donner, Stat. Med. 27, 2008 (MOVER), on logarithms.
    """
    values = [_value(readings, question, trial) for trial in pair]
    spans = [_span(readings, question, trial) for trial in pair]
    (a, b), (of_a, of_b) = values, spans
    if not a or not b or of_a is None or of_b is None:
        return None
    ratio = math.log(b / a)
    return (
        math.exp(ratio - math.hypot(of_b.below, of_a.above)),
        math.exp(ratio + math.hypot(of_b.above, of_a.below)),
    )


def variance_within(readings: Readings, question: Question, pairs: Sequence[Pair]) -> float | None:
    """The part of the variance of ln(b/a) that comes from chance within its runs; None if any of it is unknown."""
    if question.metric.quantile is None:
        return None
    total = 0.0
    for trial in (trial for pair in pairs for trial in pair):
        found = readings.within(trial, question.endpoint, question.metric.quantile)
        error = found.log_error if found is not None else None
        if error is None:
            return None
        total += error**2
    return total / len(pairs)


def effect_of(readings: Readings, question: Question, pairs: Sequence[Pair]) -> float | None:
    """The largest design effect of a percentile in any run."""
    if question.metric.quantile is None:
        return None
    found = [readings.within(trial, question.endpoint, question.metric.quantile) for pair in pairs for trial in pair]
    return max((each.effect for each in found if each is not None), default=None)


def relative_step(question: Question, precision: Precision, value: float) -> float:
    """Relative step of the tool at this value. Only percentiles and maxima are rounded to digits: a mean, or a rate, is
    computed from sums, with the full resolution of the tool's times."""
    if question.metric.kind == "throughput" or value <= 0:
        return 0.0
    if question.metric.kind == "mean" or (question.metric.kind == "max" and precision.tool == OWN):
        return precision.floor / value
    return precision.step(value) / value


def rounding_spread(question: Question, pairs: Sequence[Pair], a: float, b: float) -> float:
    """Standard deviation of ln(b/a) from rounding alone: 1/√12 of a step, on either side."""
    steps = [relative_step(question, trial.precision, value) for trial, value in zip(pairs[0], (a, b), strict=True)]
    return math.hypot(*steps) / math.sqrt(12)


def history_of(study: Study, question: Question) -> Noise | None:
    """The bench's A/A history of this metric, if there is enough; never for those runs themselves."""
    if study.is_aa:
        return None
    place = question.metric.text, question.endpoint, question.b.level
    known = (each for each in study.noise if each.freedom >= LEAST_HISTORY)
    return next((each for each in known if (each.metric, each.endpoint, each.level) == place), None)


def _value(readings: Readings, question: Question, trial: Trial) -> float | None:
    measured = readings.measured(trial, question.endpoint)
    return question.metric.of(measured) if measured is not None else None


def _span(readings: Readings, question: Question, trial: Trial) -> Span | None:
    metric = question.metric
    if metric.quantile is not None:
        return _span_of(readings.within(trial, question.endpoint, metric.quantile))
    measured = readings.measured(trial, question.endpoint)
    if measured is None or metric.kind == "max":
        return None
    if measured.course is None:
        return _of_count(measured) if metric.kind == "throughput" else None
    if metric.kind == "throughput":
        return _of_estimate(_rate(readings, measured, trial))
    return _of_estimate(_mean(measured))


def _span_of(within: Within | None) -> Span | None:
    if within is None or not within.low or within.high is None:
        return None
    return Span(math.log(within.value / within.low), math.log(within.high / within.value))


def _of_estimate(estimate: Estimate) -> Span | None:
    half = estimate.half()
    if not math.isfinite(half) or not estimate.value > 0:
        return None
    return Span(half / estimate.value, half / estimate.value)


def _of_count(measured: Measured) -> Span | None:
    """Only a count is known: treat its requests as random (Poisson), the minimum variance to allow for."""
    if not measured.requests:
        return None
    half = normal_quantile((1 + CONFIDENCE) / 2) / math.sqrt(measured.requests)
    return Span(half, half)


def _rate(readings: Readings, measured: Measured, trial: Trial) -> Estimate:
    """Of the whole seconds with offered load: the last may be a fraction, or contain only late responses."""
    assert measured.course is not None
    start, stop, _ = measured.course.measured.indices(len(measured.course))
    left = (trial.duration or 0.0) - readings.cut(trial)
    counts = measured.course.requests[start : min(stop, start + math.floor(left))]
    return ratio_of_sums(counts, np.ones(len(counts)))


def _mean(measured: Measured) -> Estimate:
    course = measured.course
    assert course is not None
    counts = np.array([each.count if each is not None else 0 for each in course.histograms[course.measured]])
    return ratio_of_sums(np.nan_to_num(course.means[course.measured]) * counts, counts)

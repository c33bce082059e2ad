"""What the generator may have added to the times of a comparison, or taken from its throughput.

A time is between itself minus its share and itself, a throughput between itself and its value without lag and delay.
The interval of a ratio is widened by as much: a difference beyond it does not come from the generator.
"""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING

from plimsoll.stats.compare.ratios import Span
from plimsoll.stats.latency.milliseconds import is_clean
from plimsoll.stats.study import PLIMSOLL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.compare.questions import Question
    from plimsoll.stats.compare.readings import Pair, Readings
    from plimsoll.stats.study import Trial

RESOLUTION_MS = 0.001
"""Minimum of a time without the generator: histograms have a resolution of 1 µs."""


def needs_service(readings: Readings, question: Question, pairs: Sequence[Pair]) -> bool:
    """Whether service times must be compared: closed model, and in some run the response time is not clean. In the open
    model users feel the wait in the generator's queue, so service times are no substitute."""
    if question.metric.unit != "ms":
        return False
    trials = [trial for pair in pairs for trial in pair]
    measured = [readings.measured(trial, question.endpoint) for trial in trials]
    if any(trial.model == "open" for trial in trials) or any(each is None or each.service is None for each in measured):
        return False
    for each in measured:
        value = question.metric.of(each) if each is not None else None
        if each is not None and value is not None and not is_clean(value, question.metric.share_of(each)):
            return True
    return False


def generators_span(readings: Readings, question: Question, pairs: Sequence[Pair]) -> Span:
    """How much lower and how much higher ln(b/a) may be without the generator: the mean over the pairs."""
    if not pairs:
        return Span(0.0, 0.0)
    spans = [tuple(_span(readings, question, trial) for trial in pair) for pair in pairs]
    below = fmean(b.below + a.above for a, b in spans)
    above = fmean(b.above + a.below for a, b in spans)
    return Span(below, above)


def _late_elsewhere(trial: Trial) -> float:
    """ms that another tool's generator may have added: its lateness, if its times count from the due time and it does
    not report the lag in each."""
    health, precision = trial.generator, trial.precision
    if health is None or precision.tool == PLIMSOLL.tool or precision.clock != "due":
        return 0.0
    return health.lag_p99 or 0.0


def _span(readings: Readings, question: Question, trial: Trial) -> Span:
    """Of one value, as logarithms."""
    measured = readings.measured(trial, question.endpoint)
    value = question.metric.of(measured) if measured is not None else None
    if measured is None or not value:
        return Span(0.0, 0.0)
    if question.metric.kind == "throughput":
        return Span(0.0, -math.log(max(1e-9, 1 - measured.throughput_share)))
    share = max(question.metric.share_of(measured), _late_elsewhere(trial))
    return Span(max(0.0, math.log(value / max(value - share, min(value, RESOLUTION_MS)))), 0.0)

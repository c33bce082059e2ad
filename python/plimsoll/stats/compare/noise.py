"""The noise of a bench from its own A/A runs: differences of identical systems, and the rate of false alarms."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll.stats.compare.pairs import ALPHA, LEAST, log_ratios, paired
from plimsoll.stats.compare.questions import questions_of
from plimsoll.stats.compare.readings import Readings
from plimsoll.stats.proportions import clopper_pearson
from plimsoll.stats.study import Noise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.compare.questions import Question
    from plimsoll.stats.study import Study


@dataclass(frozen=True, slots=True)
class AlarmRate:
    """Of A/A verdicts."""

    rejected: int
    compared: int
    low: float
    """95 % confidence interval of the rate, as if the verdicts were independent. Those of endpoints of the same runs
    are not: the interval is then too short."""
    high: float

    @property
    def is_kept(self) -> bool:
        """Whether the rate is compatible with the intended 5 %, or less."""
        return self.low <= ALPHA


def noise_of(studies: Sequence[Study]) -> tuple[Noise, ...]:
    """Per metric, endpoint and level, over all pairs of all A/A studies of one scenario on one bench.

    Both runs of a pair are the same system, so the mean of ln(b/a) is known to be 0, and the variance is the mean
    square with as many degrees of freedom as there are pairs. It includes drift that interleaving does not remove, as
    later comparisons do. Failure shares have none. Studies that are no A/A studies are skipped.
    """
    found: dict[tuple[object, ...], Noise] = {}
    for study in studies:
        if study.is_aa:
            for noise in _of_study(study):
                place = noise.metric, noise.endpoint, noise.level
                found[place] = _pooled(found[place], noise) if place in found else noise
    return tuple(found.values())


def alarm_rate(noises: Iterable[Noise]) -> AlarmRate | None:
    """How often identical systems were called different; None if nothing was compared."""
    noises = list(noises)
    rejected, compared = sum(each.rejected for each in noises), sum(each.compared for each in noises)
    if not compared:
        return None
    return AlarmRate(rejected, compared, *clopper_pearson(rejected, compared))


def _of_study(study: Study) -> Iterable[Noise]:
    readings = Readings(study)
    for question in questions_of(study):
        # Its steps all compare the same system; counted once, against the baseline.
        if question.metric.kind == "errors" or question.a.variant != study.variants[0]:
            continue
        differences = _differences(readings, question)
        if not differences:
            continue
        test = paired(differences) if len(differences) >= LEAST else None
        yield Noise(
            metric=question.metric.text,
            endpoint=question.endpoint,
            level=question.b.level,
            variance=math.fsum(each**2 for each in differences) / len(differences),
            freedom=float(len(differences)),
            rejected=int(test is not None and test.p <= ALPHA),
            compared=int(test is not None),
        )


def _differences(readings: Readings, question: Question) -> list[float]:
    """ln(b/a) of each pair of valid runs."""
    found: list[float] = []
    for pair in readings.pairs(question.a, question.b):
        measured = [readings.measured(trial, question.endpoint) for trial in pair if not trial.invalid]
        values = [value for each in measured if each is not None and (value := question.metric.of(each))]
        if len(values) == 2:
            found += log_ratios(values[:1], values[1:])
    return found


def _pooled(one: Noise, other: Noise) -> Noise:
    freedom = one.freedom + other.freedom
    return replace(
        one,
        variance=(one.variance * one.freedom + other.variance * other.freedom) / freedom,
        freedom=freedom,
        rejected=one.rejected + other.rejected,
        compared=one.compared + other.compared,
    )

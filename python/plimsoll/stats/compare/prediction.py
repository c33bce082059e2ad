"""A new run against earlier runs of the same thing, which were not run in pairs with it: does it lie beyond what their
scatter lets expect of one more?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.stats.compare.pairs import ALPHA, PairedResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.compare.questions import Question
    from plimsoll.stats.compare.readings import Readings
    from plimsoll.stats.study import Measured, Study
    from plimsoll.stats.thresholds.verdict import ThresholdResult

LEAST_EARLIER = 5
"""Runs. The spread of fewer is too uncertain to predict with."""


@dataclass(frozen=True, slots=True)
class NewestRun:
    """A run that is compared with the good ones of a branch or tag before it, as a gate does."""

    baseline: str
    """The branch or tag."""
    earlier: int
    """Its good runs that are known."""
    last: str
    """The id of the last of them."""
    last_commit: str
    """Of its scenario, as `commit`; "" where it is not known."""
    run: str
    """The id of the run."""
    branch: str
    """Its branch; "" where it is not known."""
    commit: str
    thresholds: tuple[ThresholdResult, ...] = ()
    """Its own."""


def earlier_rows(study: Study, readings: Readings, question: Question) -> tuple[Measured, ...]:
    """Of the valid earlier runs, those with a value; none if they are too few, or no earlier ones of the same thing."""
    if not study.is_after_earlier or question.a.variant != study.variants[0]:
        return ()
    rows = (readings.measured(trial, question.endpoint) for trial in readings.cell(question.a) if not trial.invalid)
    found = tuple(row for row in rows if row is not None and question.metric.of(row) is not None)
    return found if len(found) >= LEAST_EARLIER else ()


def predicted(earlier: Sequence[float], value: float, *, floor: float = 0.0, alpha: float = ALPHA) -> PairedResult:
    """The difference of a value to the mean of earlier ones, with the error of a prediction: s · √(1 + 1/n), with n − 1
    degrees of freedom (Hahn and Meeker, Statistical Intervals, 1991, section 4.7). That the next run of the same thing
    lies beyond the interval has a probability of alpha.

    earlier: at least two, independent and of one distribution: a drift of the machine counts as spread. floor: lower
    bound of the standard deviation s.
    """
    values = np.asarray(earlier, dtype=np.float64)
    runs = len(values)
    spread = max(float(values.std(ddof=1)), floor)
    return PairedResult(
        pairs=1,
        centre=value - float(values.mean()),
        error=spread * math.sqrt(1 + 1 / runs),
        freedom=runs - 1.0,
        spread=spread,
        alpha=alpha,
    )

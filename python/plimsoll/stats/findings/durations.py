"""DURATION: runs of different length. FLOOR: differences of throughput that counting alone explains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import compared_cells, places, seconds_of, successes, valid, whole
from plimsoll.stats.findings.subject import Subject, run
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Level, Study, Trial

DIFFER = 0.10
"""Of the longest: smaller differences come from the end of runs."""
Z = 1.96
"""Of the standard normal distribution, for 95 %."""


@dataclass(frozen=True, slots=True)
class UnequalDurations(Finding):
    """Runs of one level that differ in length."""

    id = "DURATION"
    level: Level | None
    seconds: tuple[tuple[str, int, float], ...]
    """Variant, repeat and seconds of each run whose length is known."""
    short: tuple[tuple[Subject, float], ...]
    """Those that are too short, with their seconds."""
    is_derived: bool
    """Whether some are requests / rate."""


@dataclass(frozen=True, slots=True)
class WithinChance(Finding):
    """A difference of throughput that counting alone explains. Ratios are after / before."""

    id = "FLOOR"
    subject: Subject
    ratio: float
    interval: tuple[float, float]
    """95 %, of counts alone."""


def durations(study: Study) -> Iterable[Finding]:
    for level, operation in places(study):
        known = [
            (trial, seconds, derived)
            for trial in study.trials
            if (trial.operation, trial.level) == (operation, level) and not trial.invalid
            for seconds, derived in [seconds_of(trial)]
            if seconds is not None
        ]
        longest = max((seconds for _, seconds, _ in known), default=0.0)
        least = min(longest * (1 - DIFFER), longest - _last_wait(trial for trial, _, _ in known))
        short = [(trial, seconds) for trial, seconds, _ in known if seconds < least]
        if not short:
            continue
        yield UnequalDurations(
            level,
            tuple((trial.variant, trial.repeat, seconds) for trial, seconds, _ in known),
            tuple((run(study, trial), seconds) for trial, seconds in short),
            is_derived=any(derived for _, _, derived in known),
            where=Where(None, level, operation),
            weight="warning",
        )


def _last_wait(trials: Iterable[Trial]) -> float:
    """Maximum seconds that a run waited for its last responses: the longest response time."""
    rows = filter(None, map(whole, trials))
    return max((row.max for row in rows if row.max is not None), default=0.0) / 1000


def floor(study: Study) -> Iterable[Finding]:
    for a, b in compared_cells(study):
        before, after = valid(study, a), valid(study, b)
        if len(before) == len(after) == 1:
            yield from _floor(study, before[0], after[0])


def _floor(study: Study, before: Trial, after: Trial) -> Iterable[Finding]:
    first, second = whole(before), whole(after)
    seconds, more_seconds = seconds_of(before)[0], seconds_of(after)[0]
    if before.model == "open" or first is None or second is None or not seconds or not more_seconds:
        return
    done, more_done = successes(first), successes(second)
    if not done or not more_done:
        return
    ratio = more_done / more_seconds / (done / seconds)
    half = Z * math.sqrt(1 / done + 1 / more_done)
    low, high = ratio * math.exp(-half), ratio * math.exp(half)
    if not low <= 1 <= high:
        return
    yield WithinChance(
        run(study, after),
        ratio=ratio,
        interval=(low, high),
        where=Where.of(after, TOTAL, against=before.variant),
        weight="insight",
    )

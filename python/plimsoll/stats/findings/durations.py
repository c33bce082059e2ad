"""DURATION: runs of different length. FLOOR: differences of throughput that counting alone explains."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll.stats import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import compared_cells, places, seconds_of, successes, valid, whole
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Study, Trial

DIFFER = 0.10
"""Of the longest: smaller differences come from the end of runs."""
Z = 1.96
"""Of the standard normal distribution, for 95 %."""
LENGTHS = (
    f"runs at one level that are compared last equally long, within {DIFFER * 100:.0f} %: what grows or warms up "
    "during a run is otherwise not the same; a difference up to the longest response time is a run's wait for its end"
)
COUNTING = (
    "if successful requests came at random, counts n₁ and n₂ alone would scatter the ratio by "
    "exp(±1.96 · √(1/n₁ + 1/n₂)); runs scatter more than that, so one run each cannot show a difference within it"
)


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
        derived = any(each for _, _, each in known)
        yield Finding(
            "DURATION",
            "warning",
            f"Runs{f' at {level}' if level is not None else ''} differ in length: "
            f"{wording.several([f'{wording.place(study, trial)} {wording.seconds(each)}' for trial, each in short])}, "
            f"others up to {wording.seconds(longest)}{' (requests / rate)' if derived else ''}.",
            Where(None, level, operation),
            LENGTHS,
            {f"seconds of {trial.variant} #{trial.repeat}": seconds for trial, seconds, _ in known},
            "Give all the same time.",
        )


def _last_wait(trials: Iterable[Trial]) -> float:
    """Maximum seconds that a run waited for its last responses: the longest response time."""
    rows = filter(None, map(whole, trials))
    return max((row.max for row in rows if row.max is not None), default=0.0) / 1000


def floor(study: Study) -> Iterable[Finding]:
    for a, b, level, operation in compared_cells(study):
        before, after = valid(study, a, level, operation), valid(study, b, level, operation)
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
    yield Finding(
        "FLOOR",
        "insight",
        f"{wording.place(study, after)} against {before.variant}: throughput differs by "
        f"{wording.signed(ratio, '.2g')}, no more than chance makes of such counts ({wording.signed(low, '.2g')} to "
        f"{wording.signed(high, '.2g')}).",
        Where(after.variant, after.level, after.operation, TOTAL, against=before.variant),
        COUNTING,
        {"ratio": ratio, "interval": (low, high)},
        "Repeat both, in turns, before saying that one is faster.",
    )

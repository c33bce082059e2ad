"""OVERLOAD: arrivals faster than the target serves them, so that a backlog grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plimsoll.stats import wording
from plimsoll.stats.distributions.trends import theil_sen
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import cells

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Study, Trial

LEAST_SECONDS = 8
"""Four in each half."""
EXCESS = 0.02
"""Share of the arrivals that must join the backlog: the fluctuation of a busy queue is smaller over a run."""
CPU = 0.80
"""Of a core: above it the generator itself may fall behind."""
RULE = (
    f"requests in flight and arrivals that wait for a user grow by at least {EXCESS * 100:.0f} % of the arrivals per "
    "second, certainly (95 %, Theil–Sen) in the whole run and in its second half: a queue below its capacity comes to "
    "rest"
)


def overload(study: Study) -> Iterable[Finding]:
    for trials in cells(study):
        found = [(trial, growth) for trial in trials if (growth := backlog(trial))]
        if len(found) * 2 > len(trials):
            yield _finding(study, found)


def backlog(trial: Trial) -> float | None:
    """Its growth in requests per second; None if it does not grow, or if this is unknown."""
    course, health = trial.generator_course, trial.generator
    if trial.offered is None or course is None or (health is not None and (health.cpu_max or 0.0) > CPU):
        return None
    end = len(course) if trial.duration is None else int(trial.warmup + trial.duration)
    seconds = np.arange(int(trial.warmup), min(end, len(course)))
    waiting = (course.in_flight + course.waiting)[seconds]
    known = np.isfinite(waiting) & (course.offered[seconds] > 0)
    seconds, waiting = seconds[known], waiting[known]
    if len(seconds) < LEAST_SECONDS:
        return None
    half = len(seconds) // 2
    whole, second = theil_sen(seconds, waiting), theil_sen(seconds[half:], waiting[half:])
    is_certain = min(whole.low, second.low) > 0
    return whole.value if is_certain and whole.value >= EXCESS * trial.offered else None


def _finding(study: Study, found: list[tuple[Trial, float]]) -> Finding:
    trial, growth = found[len(found) // 2]
    arrivals = trial.offered or 0.0
    served = max(arrivals - growth, 0.0)
    excess = f" by {wording.percent(growth / served)}" if served else ""
    return Finding(
        "OVERLOAD",
        "warning",
        f"{wording.lead(wording.cell(study, trial))}"
        f"arrivals exceed the {wording.number(served)} requests/s that the target serves{excess}: the backlog "
        f"grows by {wording.number(growth)} requests/s.",
        Where(trial.variant, trial.level, trial.operation),
        RULE,
        {"arrivals_per_s": arrivals, "served_per_s": served, "backlog_per_s": growth, "run": trial.id},
        f"Offer less than {wording.number(served)} requests/s: these latencies only tell how long the run was.",
    )

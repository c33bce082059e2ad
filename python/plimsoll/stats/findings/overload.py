"""OVERLOAD: arrivals faster than the target serves them, so that a backlog grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plimsoll.stats import wording
from plimsoll.stats.capacity.backlog import CPU, EXCESS, LEAST_SECONDS, SHORT_EXCESS, growth
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import cells

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Study, Trial

RULE = (
    f"requests in flight and arrivals that wait for a user grow by at least {EXCESS * 100:.0f} % of the arrivals per "
    "second, certainly (95 %, Theil–Sen) in the whole run and in its second half: a queue below its capacity comes to "
    f"rest. In a run of less than {LEAST_SECONDS} s, in every second and by {SHORT_EXCESS * 100:.0f} %, while the "
    "replies per second do not grow"
)


LEFT_RULE = f"requests whose responses did not come after the load: more than {EXCESS * 100:.0f} % of the arrivals"


def overload(study: Study) -> Iterable[Finding]:
    for trials in cells(study):
        found = [(trial, growth) for trial in trials if (growth := backlog(trial))]
        left = [trial for trial in trials if _is_left(trial)]
        if len(found) * 2 > len(trials):
            yield _finding(study, found)
        elif len(left) * 2 > len(trials):
            yield _of_what_is_left(study, left[len(left) // 2])


def _is_left(trial: Trial) -> bool:
    """Whether a run, however short, had more arrivals than the target answered in the end."""
    total = trial.total
    if trial.offered is None or total is None or not total.requests:
        return False
    return total.overdue > EXCESS * total.requests


def _of_what_is_left(study: Study, trial: Trial) -> Finding:
    total = trial.total
    assert total is not None and total.requests is not None
    return Finding(
        "OVERLOAD",
        "warning",
        f"{wording.lead(wording.cell(study, trial))}{wording.number(total.overdue)} of "
        f"{wording.count(total.requests, 'request')} had no response when the run ended: "
        f"{wording.number(trial.offered or 0.0)} arrivals/s are more than the target serves.",
        Where(trial.variant, trial.level, trial.operation),
        LEFT_RULE,
        {"arrivals_per_s": trial.offered or 0.0, "unanswered": float(total.overdue), "run": trial.id},
        "Offer less: these latencies only tell how long the run was.",
    )


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
    own = trial.total.course if trial.total is not None else None
    replies = None if own is None or not len(seconds) or len(own) <= seconds[-1] else own.requests[seconds]
    return growth(seconds, waiting, replies, trial.offered)


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

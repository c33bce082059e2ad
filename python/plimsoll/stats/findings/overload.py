"""OVERLOAD: arrivals faster than the target serves them, so that a backlog grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.stats.capacity.backlog import CPU, EXCESS, growth
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import cells
from plimsoll.stats.findings.subject import Subject, cell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Study, Trial


@dataclass(frozen=True, slots=True)
class GrowingBacklog(Finding):
    """Arrivals that exceed what the target serves."""

    id = "OVERLOAD"
    subject: Subject
    arrivals_per_s: float
    served_per_s: float
    backlog_per_s: float
    run: str
    """Id of the run that these numbers are of."""


@dataclass(frozen=True, slots=True)
class LeftUnanswered(Finding):
    """Requests without a response when the run ended."""

    id = "OVERLOAD"
    subject: Subject
    arrivals_per_s: float
    unanswered: float
    run: str
    """Id of the run that these numbers are of."""
    requests: float


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
    return LeftUnanswered(
        cell(study, trial),
        arrivals_per_s=trial.offered or 0.0,
        unanswered=float(total.overdue),
        run=trial.id,
        requests=float(total.requests),
        where=Where.of(trial),
        weight="warning",
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
    return GrowingBacklog(
        cell(study, trial),
        arrivals_per_s=arrivals,
        served_per_s=max(arrivals - growth, 0.0),
        backlog_per_s=growth,
        run=trial.id,
        where=Where.of(trial),
        weight="warning",
    )

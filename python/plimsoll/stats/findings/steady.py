"""COLD and NONSTATIONARY: runs without sufficient warm-up, or without a steady state."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import cells, grouped
from plimsoll.stats.findings.subject import Subject, cell
from plimsoll.stats.latency.sudden import sudden_start
from plimsoll.stats.latency.warmup import BATCH, COLD, mser5, short_trend
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from plimsoll.stats.study import Course, Measured, Study, Trial

MOST = 0.5
"""Share of a cell's runs with it: of five runs, one may show it by chance."""
LEAST_SECONDS = 4
"""Two slow ones, and two to compare with."""
SUDDEN = 2.0
"""A head of less than `BATCH` seconds must be this many times as slow, since single seconds scatter more, and …"""
DEVIATIONS = 8.0
"""… by this many deviations of the other seconds (median absolute ones, × 1.4826)."""
EVEN = 0.1
"""Most difference between the load of the first third of a short run and that of the last."""
DRIFTS = 1.2
LEAST_DRIFT_MS = 0.1
"""The minimum difference between the first and the last third, as a ratio and in ms."""


@dataclass(frozen=True, slots=True)
class Steadiness:
    """The stability of a run's seconds."""

    cold: int = 0
    """Seconds at its start that are better left out."""
    excess: float = 1.0
    """Their mean / mean of the others."""
    ends: tuple[float, float] | None = None
    """ms in the first and in the last third of a run that never settles."""


@dataclass(frozen=True, slots=True)
class Unsettled(Finding):
    """Latency never settles."""

    id = "NONSTATIONARY"
    subject: Subject
    runs: float
    """Runs of which this is so, of all `of`."""
    of: float
    run: str
    """Id of the first of them."""
    between_s: tuple[float, float]
    """Its measured seconds, from second 0."""
    ends_ms: tuple[float, float]
    """In the first and in the last third."""


@dataclass(frozen=True, slots=True)
class ColdStart(Finding):
    """The first seconds are slow."""

    id = "COLD"
    subject: Subject
    seconds: float
    """In the run with the most of them."""
    excess: float
    """How many times as slow as the rest they are."""
    run: str
    """Id of the first run of which this is so."""
    between_s: tuple[float, float]
    """Its slow seconds, from second 0."""
    runs: float
    """Runs of which this is so, of all `of`."""
    of: float


def steady(study: Study) -> Iterable[Finding]:
    for trials in cells(study):
        for same in grouped(trials, _reported_by_second):
            judged = [(trial, row, _judge(trial, row)) for trial, row in same]
            moving = [each for each in judged if each[2].ends is not None]
            cold = [each for each in judged if each[2].cold]
            if len(moving) > MOST * len(judged):
                yield _moving(study, moving, len(judged))
            elif len(cold) > MOST * len(judged):
                yield _cold(study, cold, len(judged))


def _reported_by_second(trial: Trial) -> list[Measured]:
    """For a single endpoint the total is the same."""
    total = (trial.total,) if trial.total is not None and len(trial.endpoints) != 1 else ()
    return [row for row in (*trial.endpoints, *total) if row.course is not None]


def _judge(trial: Trial, row: Measured) -> Steadiness:
    course = row.course
    if course is None:
        return Steadiness()
    means = course.means[course.measured]
    # The last second of a run is incomplete.
    means = means[: int(trial.duration) if trial.duration else len(means)]
    seconds, excess = cold_start(means)
    if seconds < BATCH and course.service:
        begin = course.measured.start or 0
        seconds, excess = sudden_start(course.service[begin : begin + len(means)], BATCH)
        is_cold = seconds > 0
    else:
        is_cold = seconds > 0 and _is_target(course, seconds)
    if is_cold:
        return Steadiness(seconds, excess)
    moves = not mser5(means).stationary or (short_trend(means) and _is_even(trial, row))
    return Steadiness(ends=_drift(means) if moves else None)


def _is_even(trial: Trial, row: Measured) -> bool:
    """Whether the load of the last third is that of the first: where users are still being started, latency grows with
    them."""
    offered = trial.generator_course.offered if trial.generator_course is not None else None
    load = offered if trial.model == "open" else trial.users_by_second
    if load is None or row.course is None:
        return True
    begin = row.course.measured.start or 0
    seconds = load[begin : begin + int(trial.duration or len(load))]
    third = len(seconds) // 3
    if not third or not np.isfinite(seconds).any():
        return True
    first, last = float(np.nanmean(seconds[:third])), float(np.nanmean(seconds[-third:]))
    return abs(last - first) <= EVEN * max(first, last)


def cold_start(means: NDArray[np.float64]) -> tuple[int, float]:
    """How many seconds at the start are slow, and how many times as slow as the rest; (0, 1.0) for none. means: ms, one
    per second, NaN for a second without any."""
    half = len(means) // 2
    later = means[half:][np.isfinite(means[half:])]
    if len(means) < LEAST_SECONDS or not len(later):
        return 0, 1.0
    # A second without replies is slow, too.
    fine = np.flatnonzero(means[:half] <= later.max())
    seconds = int(fine[0]) if len(fine) else half
    if not np.isfinite(means[:seconds]).any() or (seconds == half and half >= BATCH):
        return 0, 1.0
    head, rest = float(np.nanmean(means[:seconds])), float(np.nanmean(means[seconds:]))
    level = statistics.median(later.tolist())
    spread = 1.4826 * statistics.median(np.abs(later - level).tolist())
    is_clear = head > SUDDEN * rest and head > level + DEVIATIONS * spread
    # Times that a tool has rounded to 0 have no ratio.
    is_cold = rest > 0 and head > COLD * rest and (seconds >= BATCH or is_clear)
    return (seconds, head / rest) if is_cold else (0, 1.0)


def _is_target(course: Course, seconds: int) -> bool:
    """Whether the target was slow, and not the generator late: by the service times of the same seconds. Within a few
    seconds, most requests must be slow, not only the first ones."""
    if not course.service:
        return True
    begin = course.measured.start or 0
    known = [each for each in course.service[begin : begin + seconds] if each is not None and each.count]
    head = [each.mean if seconds >= BATCH else each.value_at(0.5) for each in known]
    rest = float(np.nanmedian(course.means[begin + seconds :]))
    return not head or sum(head) / len(head) / 1000 > COLD * rest


def _drift(means: NDArray[np.float64]) -> tuple[float, float] | None:
    """ms in the first and the last third, if the difference matters."""
    third = len(means) // 3
    first, last = float(np.nanmedian(means[:third])), float(np.nanmedian(means[-third:]))
    matters = max(first, last) > DRIFTS * min(first, last) and abs(last - first) > LEAST_DRIFT_MS
    return (first, last) if matters else None


def _moving(study: Study, found: list[tuple[Trial, Measured, Steadiness]], runs: int) -> Finding:
    trial, row, seen = found[0]
    return Unsettled(
        _subject(study, trial, row),
        runs=float(len(found)),
        of=float(runs),
        run=trial.id,
        between_s=_between(trial, row),
        ends_ms=seen.ends or (0.0, 0.0),
        where=Where.of(trial, _key(row)),
        weight="blocks",
    )


def _cold(study: Study, found: list[tuple[Trial, Measured, Steadiness]], runs: int) -> Finding:
    trial, row, seen = found[0]
    longest = max(steadiness.cold for _, _, steadiness in found)
    return ColdStart(
        _subject(study, trial, row),
        seconds=float(longest),
        excess=max(steadiness.excess for _, _, steadiness in found),
        run=trial.id,
        between_s=_between(trial, row, seen.cold),
        runs=float(len(found)),
        of=float(runs),
        where=Where.of(trial, _key(row)),
        weight="warning" if longest >= BATCH else "insight",
    )


def _between(trial: Trial, row: Measured, seconds: int | None = None) -> tuple[float, float]:
    """From second 0 of the run: its first `seconds` measured seconds, or all of them."""
    assert row.course is not None
    first = row.course.measured.start or 0
    last = len(row.course) if trial.duration is None else min(len(row.course), first + int(trial.duration))
    return float(first), float(last if seconds is None else first + seconds)


def _key(row: Measured) -> tuple[str, str]:
    return TOTAL if row.key == ("", "") else row.key


def _subject(study: Study, trial: Trial, row: Measured) -> Subject:
    return cell(study, trial, row.label if _key(row) != TOTAL else "")

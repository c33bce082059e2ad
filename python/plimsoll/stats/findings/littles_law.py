"""LITTLE: users, throughput and latency that agree, or do not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import seconds_of, whole
from plimsoll.stats.findings.subject import Subject, run, subject
from plimsoll.stats.little import MARGIN, Little, LittleVerdict, little, little_open, lognormal_mean
from plimsoll.stats.study import PLIMSOLL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Level, Measured, Study, Trial

MOST_EDGE = 0.5
"""Of a run: with longer requests nothing can be said."""
PAUSE = 0.8
"""Of the longest possible pause of the endpoints, from which the shortest is reported."""
SAMPLING_ERROR = 0.025
"""Open model: requests in flight are counted at the end of each second. Their mean is this uncertain at most (one
standard error, as a share) where the law is checked; of L in flight over T s it is 1/√(L·T), as of Poisson counts."""


@dataclass(frozen=True, slots=True)
class BrokenLaw(Finding):
    """Users, throughput and latency that do not agree."""

    id = "LITTLE"
    subject: Subject
    ratio: float
    """X · (R + Z) / N."""
    accepted: tuple[float, float]
    users: float
    """Of the open model: requests in flight."""
    word: LittleVerdict
    is_open: bool


@dataclass(frozen=True, slots=True)
class UserPause(Finding):
    """The pause of users that the law leaves."""

    id = "LITTLE"
    subject: Subject
    pause_s: tuple[float, float]
    """The least and the most."""
    users: float
    rate_per_s: float
    level: Level | None
    """That it is derived from, where there are several."""


@dataclass(frozen=True, slots=True)
class LawHolds(Finding):
    """Runs in which users, throughput and latency agree."""

    id = "LITTLE"
    ratios: tuple[float, ...]
    deficit: float | None
    """Largest share of the users' time that is missing; None if nothing is."""
    deficit_explained: float | None
    """How much of it the end of the run may have cut off."""
    unfinished_per_user: tuple[float, ...] | None
    """Mean latencies that were cut off, run by run."""
    checked: float
    """Runs whose numbers suffice, those in which the law does not hold included."""
    unknown: float
    """Runs whose numbers do not suffice."""
    with_own_work: float
    """Runs of our own in which users spent part of their time outside requests."""
    is_cut_off: bool
    """Whether the end of the runs may have cut the deficit off."""
    is_known: bool
    """Whether it is known that it did."""
    never_pause: bool


def littles_law(study: Study) -> Iterable[Finding]:
    held: list[tuple[Trial, Measured, Little]] = []
    unknown: list[Trial] = []
    checked = with_own_work = 0
    for trial in study.trials:
        row = whole(trial)
        if trial.invalid or row is None:
            continue
        found = judged(trial, row)
        if found is None:
            unknown.append(trial)
            continue
        checked += 1
        if found.word == "holds":
            held.append((trial, row, found))
        elif trial.precision.tool != PLIMSOLL.tool:
            yield _broken(study, trial, found)
        else:
            # Ours are judged by counts in flight (`stats.validity`), because user code takes time as well.
            with_own_work += 1
    yield from _pauses(study, unknown)
    if held:
        yield _held(held, checked, len(unknown), with_own_work)


def judged(trial: Trial, row: Measured) -> Little | None:
    """By the known values; None if they do not suffice, also for users with an unknown pause."""
    response = _response(trial, row)
    if response is None:
        return None
    seconds = seconds_of(trial)[0]
    if seconds and row.max is not None and row.max / 1000 > MOST_EDGE * seconds:
        # Nearly any sum would be explained by what the run cut off.
        return None
    if trial.model == "open":
        in_flight = trial.generator.in_flight if trial.generator is not None else None
        if not in_flight or response.least != response.most:
            return None
        is_sampled = trial.precision.tool == PLIMSOLL.tool
        if is_sampled and (not seconds or in_flight * seconds < SAMPLING_ERROR**-2):
            return None
        return little_open(in_flight, response.rate, response.least, duration=seconds, longest=row.max)
    users = _users(trial)
    if not users:
        return None
    found, most = (
        little(
            users,
            response.rate,
            mean,
            think=trial.think or 0.0,
            duration=seconds,
            ramp=trial.ramp,
            longest=row.max,
            guessed=response.guessed,
        )
        for mean in (response.least, response.most)
    )
    if response.least != response.most:
        # Only bounds: only a contradiction of one of them is certain.
        if found.word == "impossible":
            return found
        return most if trial.think is not None and most.word == "missing" else None
    # Missing time may be unreported pauses; excess time cannot.
    return None if trial.think is None and most.ratio < most.low else found


@dataclass(frozen=True, slots=True)
class _Response:
    """All requests of a run together."""

    rate: float
    """Per second; a lower bound."""
    least: float
    """ms; the mean lies between this and `most`."""
    most: float
    guessed: bool
    """From percentiles."""


def _response(trial: Trial, row: Measured) -> _Response | None:
    """Of the total; if its mean is unknown, from its endpoints. Means of a tool that changes its times afterwards are
    not means of requests."""
    if trial.precision.clock == "corrected":
        return None
    rate = row.rate
    if rate is None and row.requests is not None and trial.duration:
        rate = row.requests / trial.duration
    mean, guessed = _mean(row)
    if mean and rate:
        return _Response(rate, mean, mean, guessed)
    parts = [(part.rate, *_mean(part)) for part in trial.endpoints]
    guessed = any(each for _, _, each in parts)
    means = [mean for _, mean, _ in parts if mean]
    known = [(part_rate, mean) for part_rate, mean, _ in parts if part_rate and mean]
    if rate and means and len(means) == len(parts) > len(known):
        return _Response(rate, min(means), max(means), guessed)
    if not known:
        return None
    total_rate = math.fsum(part_rate for part_rate, _ in known)
    mean = math.fsum(part_rate * mean for part_rate, mean in known) / total_rate
    return _Response(total_rate, mean, mean if len(known) == len(parts) else math.inf, guessed)


def _pauses(study: Study, trials: list[Trial]) -> Iterable[Finding]:
    """Pauses of users of tables, if unknown: from the lowest level, which has the shortest latencies."""
    for variant, operation in dict.fromkeys((trial.variant, trial.operation) for trial in trials):
        same = (each for each in trials if (each.variant, each.operation) == (variant, operation))
        trial = min(same, key=lambda each: _users(each) or math.inf)
        row, users = whole(trial), _users(trial)
        response = _response(trial, row) if row is not None else None
        if response is None or not users or trial.think is not None or trial.precision.tool == PLIMSOLL.tool:
            continue
        cycle = users / response.rate
        least, most = cycle - response.most / 1000, cycle - response.least / 1000
        if least < PAUSE * most:
            continue
        yield UserPause(
            subject(study, variant, operation),
            pause_s=(least, most),
            users=users,
            rate_per_s=response.rate,
            level=trial.level if len(study.levels) > 1 else None,
            where=Where(variant, None, operation),
            weight="insight",
        )


def _users(trial: Trial) -> float | None:
    if trial.users is not None:
        return trial.users
    return trial.level.users if trial.level is not None else None


def _mean(row: Measured) -> tuple[float | None, bool]:
    """And whether it is guessed."""
    if row.mean is not None:
        return row.mean, False
    p50, p95 = row.quantile(0.5), row.quantile(0.95)
    return (lognormal_mean(p50, p95), True) if p50 and p95 else (None, False)


def _broken(study: Study, trial: Trial, law: Little) -> Finding:
    return BrokenLaw(
        run(study, trial),
        ratio=law.ratio,
        accepted=(law.low, law.high),
        users=law.users,
        word=law.word,
        is_open=trial.model != "closed",
        where=Where.of(trial, None, trial.id),
        weight="warning" if law.word == "doubtful" else "blocks",
    )


def _held(held: list[tuple[Trial, Measured, Little]], checked: int, unknown: int, with_own_work: int) -> Finding:
    deficits = []
    for trial, row, law in held:
        seconds = seconds_of(trial)[0]
        # Of our own runs it is known whether anything was cut off.
        is_cut = row.unanswered != 0 or trial.precision.tool != PLIMSOLL.tool
        if trial.model == "closed" and row.max is not None and row.mean and seconds and law.ratio < 1 and is_cut:
            # Each user's unfinished work at the end, in mean latencies of the dominant endpoint.
            unfinished = (1 - law.ratio) * seconds * 1000 / _dominant_mean(trial, row.mean)
            deficits.append((1 - law.ratio, row.max / 1000 / seconds, unfinished))
    missing, edge, _ = max(deficits, default=(None, None, None))
    return LawHolds(
        ratios=tuple(law.ratio for _, _, law in held),
        deficit=missing,
        deficit_explained=edge,
        unfinished_per_user=tuple(latencies for _, _, latencies in deficits) or None,
        checked=float(checked),
        unknown=float(unknown),
        with_own_work=float(with_own_work),
        is_cut_off=missing is not None and edge is not None and MARGIN < missing <= edge,
        is_known=all(trial.precision.tool == PLIMSOLL.tool for trial, _, _ in held),
        never_pause=all(trial.model == "closed" and not trial.think for trial, _, _ in held),
        where=Where(),
        weight="insight",
    )


def _dominant_mean(trial: Trial, whole_mean: float) -> float:
    """Of the endpoint in which users spend most of their time."""
    parts = [(part.mean * part.requests, part.mean) for part in trial.endpoints if part.mean and part.requests]
    return max(parts)[1] if len(parts) == len(trial.endpoints) > 0 else whole_mean

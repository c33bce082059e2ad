"""ERR: the load at which failures begin, how they change with it, and whether load is the cause at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.distributions.binomial import same_share_p
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.ladders import of_endpoints
from plimsoll.stats.findings.rows import cells, grouped, rows_of
from plimsoll.stats.findings.subject import Subject, subject
from plimsoll.stats.proportions import clopper_pearson, wilson
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.findings.ladders import Ladder, Rung
    from plimsoll.stats.study import Level, Measured, Study

CHANGES = 0.05
"""p of the same share at all levels, below which failures depend on the load."""
FAST = 0.5
"""Failures that take at most this share of the time of other requests were rejected, not served."""
OF_LOAD = frozenset({408, 425, 429})
"""Statuses by which a service refuses load: too slow, too early, too many."""


@dataclass(frozen=True, slots=True)
class LevelFailures:
    """How many requests failed at one level."""

    level: Level
    failures: int
    requests: int

    @property
    def share(self) -> float:
        return self.failures / self.requests

    @property
    def bounds(self) -> tuple[float, float]:
        """Wilson's."""
        return wilson(self.failures, self.requests)


@dataclass(frozen=True, slots=True)
class FailureKinds:
    """What failures have in common."""

    statuses: tuple[int, ...]
    """Ascending, if all failures have one."""
    message: str
    """The message of all failures without a status, if there is only one kind; else ""."""


@dataclass(frozen=True, slots=True)
class Failing(Finding):
    """Requests that fail, in runs whose load had several levels, or unknown ones."""

    id = "ERR"
    subject: Subject
    shares: tuple[float]
    kinds: FailureKinds


@dataclass(frozen=True, slots=True)
class FailureOnset(Finding):
    """The level at which requests begin to fail."""

    id = "ERR"
    subject: Subject
    loads: tuple[float, ...]
    shares: tuple[float, ...]
    """At each load."""
    bracket: tuple[float, float] | None
    """Loads between which failures begin; None if there is one level only."""
    p_same_share: float | None
    """p of one share at all levels."""
    levels: tuple[LevelFailures, ...]
    before: LevelFailures | None
    """The level below the onset; None if that is the lowest."""
    onset: LevelFailures
    kinds: FailureKinds


@dataclass(frozen=True, slots=True)
class SuspectedPrecondition(Finding):
    """Failures that load is hardly the cause of."""

    id = "ERR"
    subject: Subject
    failed_ms: tuple[float, ...]
    """Level by level."""
    others_ms: tuple[float, ...]
    """Of other requests of the same users."""
    statuses: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class UnsupportedClaim(Finding):
    """A statement of a report about its failures that its counts do not support."""

    id = "ERR"
    subject: Subject
    claimed: float
    claim: str
    """Its text."""
    place: str
    """Where it stands."""
    loads: tuple[float, ...]
    shares: tuple[float, ...]
    levels: tuple[LevelFailures, ...]
    wrong: tuple[LevelFailures, ...]
    """Those that do not support it."""
    is_more: bool
    """Whether more than `claimed` is claimed, or less."""


def errors(study: Study) -> Iterable[Finding]:
    yield from _without_level(study)
    for ladder in of_endpoints(study):
        rungs = [rung for rung in ladder.rungs if rung.requests and rung.failures is not None]
        levels = _levels(rungs)
        first = _onset(levels, study.tolerance)
        if first is None:
            continue
        yield _begins(study, ladder, rungs, levels, first)
        if first == 0 and (suspected := _precondition(study, ladder, rungs, levels)) is not None:
            yield suspected


def _levels(rungs: Iterable[Rung]) -> tuple[LevelFailures, ...]:
    return tuple(LevelFailures(rung.level, rung.failures or 0, rung.requests or 0) for rung in rungs)


def _without_level(study: Study) -> Iterable[Finding]:
    for trials in cells(study):
        rows = grouped(trials, lambda trial: trial.endpoints or rows_of(trial)) if trials[0].level is None else ()
        for same in rows:
            requests, failures = (sum(getattr(row, name) or 0 for _, row in same) for name in ("requests", "failures"))
            if not requests or clopper_pearson(failures, requests)[0] <= study.tolerance:
                continue
            trial, row = same[0]
            yield Failing(
                subject(study, trial.variant, trial.operation, row.label if row.key != TOTAL else ""),
                shares=(failures / requests,),
                kinds=kinds_of([row for _, row in same]),
                where=Where(trial.variant, None, trial.operation, row.key),
                weight="warning",
            )


def claims(study: Study) -> Iterable[Finding]:
    """Statements of a report about its own failures."""
    for claim in study.claims:
        if claim.kind != "errors":
            continue
        for ladder in of_endpoints(study):
            is_named = claim.operation in (None, ladder.operation) and claim.endpoint in (None, ladder.key)
            levels = _levels(rung for rung in ladder.rungs if rung.requests)
            if not is_named or not any(level.failures for level in levels):
                continue
            is_more = claim.relation == ">"
            wrong = tuple(level for level in levels if not _holds(level, claim.value, is_more))
            if wrong:
                yield UnsupportedClaim(
                    _subject(study, ladder),
                    claimed=claim.value,
                    claim=claim.text,
                    place=claim.place,
                    loads=tuple(level.level.value for level in levels),
                    shares=tuple(level.share for level in levels),
                    levels=levels,
                    wrong=wrong,
                    is_more=is_more,
                    where=Where(ladder.variant, None, ladder.operation, ladder.key),
                    weight="warning",
                )


def _subject(study: Study, ladder: Ladder) -> Subject:
    return subject(study, ladder.variant, ladder.operation, ladder.label)


def _holds(level: LevelFailures, value: float, is_more: bool) -> bool:
    low, high = level.bounds
    return low > value if is_more else high < value


def _onset(levels: Sequence[LevelFailures], tolerance: float) -> int | None:
    certain = [clopper_pearson(level.failures, level.requests)[0] > tolerance for level in levels]
    for index, above in enumerate(certain):
        if above and (index + 1 == len(certain) or certain[index + 1]):
            return index
    return None


def _begins(
    study: Study, ladder: Ladder, rungs: Sequence[Rung], levels: tuple[LevelFailures, ...], first: int
) -> Finding:
    before = levels[first - 1] if first else None
    bottom = before.level.value if before is not None else 0.0
    return FailureOnset(
        _subject(study, ladder),
        loads=tuple(level.level.value for level in levels),
        shares=tuple(level.share for level in levels),
        bracket=(bottom, levels[first].level.value) if len(levels) > 1 else None,
        p_same_share=_differ(levels),
        levels=levels,
        before=before,
        onset=levels[first],
        kinds=kinds_of([row for rung in rungs for row in rung.measured]),
        where=Where(ladder.variant, None, ladder.operation, ladder.key if ladder.label else None),
        weight="warning",
    )


def _precondition(
    study: Study, ladder: Ladder, rungs: Sequence[Rung], levels: Sequence[LevelFailures]
) -> Finding | None:
    statuses = {kind.status for rung in rungs for row in rung.measured for kind in row.kinds if kind.count}
    if not statuses or not all(status is not None and 400 <= status < 500 for status in statuses):
        return None
    if statuses & OF_LOAD:
        return None
    pairs = zip(rungs, levels, strict=True)
    compared = [times for rung, level in pairs if (times := _times(rung, level.share)) is not None]
    if not compared or any(failed > FAST * other for failed, other in compared):
        return None
    return SuspectedPrecondition(
        _subject(study, ladder),
        failed_ms=tuple(failed for failed, _ in compared),
        others_ms=tuple(other for _, other in compared),
        statuses=tuple(sorted(filter(None, statuses))),
        where=Where(ladder.variant, None, ladder.operation, ladder.key if ladder.label else None),
        weight="warning",
    )


def _times(rung: Rung, share: float) -> tuple[float, float] | None:
    """ms of failures, and of successes of the endpoint; else, if most of the endpoint's requests failed, its mean and
    that of the other endpoints of the same users."""
    rows = rung.measured
    failed = [row.mean_failure for row in rows if row.mean_failure is not None]
    succeeded = [row.mean_success for row in rows if row.mean_success is not None]
    if len(failed) == len(succeeded) == len(rows):
        return sum(failed) / len(failed), sum(succeeded) / len(succeeded)
    if share <= 0.5 or rung.mean is None:
        return None
    others = [
        (part.mean, part.requests)
        for trial, row in zip(rung.trials, rows, strict=True)
        for part in trial.endpoints
        if part.key != row.key and part.mean is not None and part.requests
    ]
    requests = sum(count for _, count in others)
    return (rung.mean, sum(mean * count for mean, count in others) / requests) if requests else None


def _differ(levels: Sequence[LevelFailures]) -> float | None:
    """p of one share of failures at all levels: χ² test of the table of counts."""
    failures = [level.failures for level in levels]
    successes = [level.requests - level.failures for level in levels]
    if len(levels) < 2 or not sum(failures) or not sum(successes):
        return None
    return same_share_p(failures, successes)


def kinds_of(rows: Iterable[Measured]) -> FailureKinds:
    kinds = [kind for row in rows for kind in row.kinds if kind.count]
    statuses = {kind.status for kind in kinds}
    if None not in statuses:
        return FailureKinds(tuple(sorted(status for status in statuses if status is not None)), "")
    messages = {kind.message.strip(" .") for kind in kinds}
    if len(messages) > 1:
        messages = {kind.group.strip(" .") or kind.message for kind in kinds}
    return FailureKinds((), messages.pop() if len(messages) == 1 else "")

"""CAP: limits of resources and time that numbers may have reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.stats import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import rows_of, whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Measured, Study, Trial

CEILINGS_MS = (5_000.0, 10_000.0, 30_000.0, 60_000.0)
"""Default time limits of clients, proxies and databases."""
NEAR = 0.02
"""Relative to such a limit: rounding by tools, and the delay until a timeout fires."""
SHARED = 0.5
"""Share of the endpoints with the same p99: endpoints that do different work have no reason to agree."""
LEAST_ENDPOINTS = 4
"""For that: two of three often agree by chance, with two digits."""
LEAST_CEILING_MS = 1_000.0
"""A shared time limit is at least this long, and small times agree by rounding."""
FILES = (
    "arrivals per second × the longest time is how many connections may have been open at once; if that is above the "
    "limit of open files, the limit may have made the failures and latencies"
)
TIMEOUT = (
    "p99 is the same at half or more of the endpoints, or lies within 2 % of 5, 10, 30 or 60 s with nothing beyond: "
    "requests end when a time limit does, not when the target is done"
)


def caps(study: Study) -> Iterable[Finding]:
    for trial in study.trials:
        if trial.invalid:
            continue
        yield from _files(study, trial)
        yield from _shared(study, trial) or _ceilings(study, trial)


def _files(study: Study, trial: Trial) -> Iterable[Finding]:
    limit = trial.generator.open_files if trial.generator is not None else None
    row = whole(trial)
    rate = trial.offered if trial.offered is not None else (row.rate if row is not None else None)
    if trial.model != "open" or not limit or row is None or row.max is None or rate is None:
        return
    needed = rate * row.max / 1000
    if needed <= limit:
        return
    yield Finding(
        "CAP",
        "warning",
        f"{wording.place(study, trial)}: {wording.number(rate)}/s for up to {wording.ms(row.max)} may have needed "
        f"{wording.number(needed)} connections at once, more than the {wording.number(limit)} files that may be open: "
        "a cap on resources cannot be excluded.",
        Where(trial.variant, trial.level, trial.operation, None, trial.id),
        FILES,
        {"connections": needed, "limit": float(limit), "rate_per_s": rate, "max_s": row.max / 1000},
        "Raise the limit on all machines and run it again before calling it the target's limit.",
    )


def _shared(study: Study, trial: Trial) -> list[Finding]:
    tails = [p99 for row in trial.endpoints if (p99 := row.quantile(0.99)) is not None]
    if len(tails) < LEAST_ENDPOINTS:
        return []
    common = max(set(tails), key=tails.count)
    same = tails.count(common)
    if same < SHARED * len(tails) or common < LEAST_CEILING_MS:
        return []
    return [
        Finding(
            "CAP",
            "warning",
            f"{wording.place(study, trial)}: p99 is {wording.ms(common)} at {same} of {len(tails)} endpoints, which "
            "looks like a time limit that they share, not like what each takes.",
            Where(trial.variant, trial.level, trial.operation, None, trial.id, kinds=("quantile", "max")),
            TIMEOUT,
            {"p99_ms": common, "endpoints": same, "of": len(tails)},
            "Find the time limit (client, proxy, database); beyond it the real times are not known.",
        )
    ]


def _ceilings(study: Study, trial: Trial) -> Iterable[Finding]:
    for row in rows_of(trial):
        limit = _ceiling(row)
        if limit is None:
            continue
        p99 = row.quantile(0.99) or 0.0
        yield Finding(
            "CAP",
            "warning",
            f"{wording.place(study, trial, row.label)}: p99 is {wording.ms(p99)} and nothing took more than "
            f"{wording.ms(limit * (1 + NEAR))}: requests may have ended at a time limit of {wording.ms(limit)}.",
            Where(trial.variant, trial.level, trial.operation, row.key, trial.id, kinds=("quantile", "max")),
            TIMEOUT,
            {"p99_ms": p99, "limit_ms": limit},
            "Find the time limit (client, proxy, database); beyond it the real times are not known.",
        )


def _ceiling(row: Measured) -> float | None:
    """The usual time limit at which the tail ends; None if there is none, or if the end of the tail is unknown."""
    p99 = row.quantile(0.99)
    if p99 is None or row.max is None:
        return None
    return next((each for each in CEILINGS_MS if abs(p99 / each - 1) <= NEAR and abs(row.max / each - 1) <= NEAR), None)

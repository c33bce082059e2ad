"""CAP: limits of resources and time that numbers may have reached. LINK: a network interface that is full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import cells, rows_of, whole
from plimsoll.stats.findings.subject import Subject, cell, run
from plimsoll.stats.generator import LEAST_SECONDS, LINK_FULL

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
MOST_SECONDS = 0.5
"""Share of the measured seconds that must have as much."""


@dataclass(frozen=True, slots=True)
class FullLink(Finding):
    """A network interface of the load generator that carries no more."""

    id = "LINK"
    subject: Subject
    interface: str
    mbit_s: int
    """Its speed, Mbit/s."""
    direction: Literal["received", "sent"]
    used_mbit_s: float
    """By requests and responses in the median second."""
    seconds: int
    """Measured seconds with at least `LINK_FULL` of the speed, …"""
    of_seconds: int
    """… of so many."""


@dataclass(frozen=True, slots=True)
class OpenFilesCap(Finding):
    """More connections may have been needed at once than files may be open."""

    id = "CAP"
    subject: Subject
    connections: float
    limit: float
    rate_per_s: float
    max_s: float
    """The longest time."""


@dataclass(frozen=True, slots=True)
class SharedCap(Finding):
    """Many endpoints have the same p99."""

    id = "CAP"
    subject: Subject
    p99_ms: float
    endpoints: int
    """With this p99, of all `of`."""
    of: int


@dataclass(frozen=True, slots=True)
class CeilingCap(Finding):
    """The tail of an endpoint ends at a usual time limit."""

    id = "CAP"
    subject: Subject
    p99_ms: float
    limit_ms: float


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
    yield OpenFilesCap(
        run(study, trial),
        connections=needed,
        limit=float(limit),
        rate_per_s=rate,
        max_s=row.max / 1000,
        where=Where.of(trial, None, trial.id),
        weight="warning",
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
        SharedCap(
            run(study, trial),
            p99_ms=common,
            endpoints=same,
            of=len(tails),
            where=Where.of(trial, None, trial.id, kinds=("quantile", "max")),
            weight="warning",
        )
    ]


def _ceilings(study: Study, trial: Trial) -> Iterable[Finding]:
    for row in rows_of(trial):
        limit = _ceiling(row)
        if limit is None:
            continue
        yield CeilingCap(
            run(study, trial, row.label),
            p99_ms=row.quantile(0.99) or 0.0,
            limit_ms=limit,
            where=Where.of(trial, row.key, trial.id, kinds=("quantile", "max")),
            weight="warning",
        )


def _ceiling(row: Measured) -> float | None:
    """The usual time limit at which the tail ends; None if there is none, or if the end of the tail is unknown."""
    p99 = row.quantile(0.99)
    if p99 is None or row.max is None:
        return None
    return next((each for each in CEILINGS_MS if abs(p99 / each - 1) <= NEAR and abs(row.max / each - 1) <= NEAR), None)


def full_link(study: Study) -> Iterable[FullLink]:
    for trials in cells(study):
        found = [finding for trial in trials if (finding := _full(study, trial)) is not None]
        if len(found) * 2 > len(trials):
            yield sorted(found, key=lambda finding: finding.used_mbit_s)[len(found) // 2]


def _full(study: Study, trial: Trial) -> FullLink | None:
    """Of one run, the direction that is used more."""
    link = trial.link
    if link is None or not trial.duration:
        return None
    # Whole seconds: the last one may be a fraction.
    measured = slice(int(trial.warmup), int(trial.warmup + trial.duration))
    used = {sent: link.shares(sent=sent, measured=measured) for sent in (False, True)}
    is_sent = bool(used[True].sum() > used[False].sum())
    shares = used[is_sent]
    full = int((shares >= LINK_FULL).sum())
    if len(shares) < LEAST_SECONDS or full <= MOST_SECONDS * len(shares):
        return None
    return FullLink(
        cell(study, trial), link.interface, link.mbit_s, "sent" if is_sent else "received",
        float(np.median(shares)) * link.mbit_s, full, len(shares), where=Where.of(trial), weight="warning",
    )  # fmt: skip

"""ORDER: contradictory numbers of a row. TIES and STEP: effects of rounding and ranking on percentiles."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import rows_of
from plimsoll.stats.findings.subject import Subject, run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Measured, Precision, Study

COARSE = 0.01
"""Relative step: a coarser resolution of a tool's times hides relevant differences."""


@dataclass(frozen=True, slots=True)
class Disorder(Finding):
    """A smaller figure of a row that is above a larger one; each with its ms."""

    id = "ORDER"
    subject: Subject
    low: tuple[str, float]
    high: tuple[str, float]


@dataclass(frozen=True, slots=True)
class MaximaAsPercentiles(Finding):
    """A p99 of at most 100 requests, which is the maximum."""

    id = "TIES"
    rows: tuple[tuple[Subject, int], ...]
    """With their requests."""


@dataclass(frozen=True, slots=True)
class EqualPercentiles(Finding):
    """p50, p95 and p99 that are the same."""

    id = "TIES"
    rows: tuple[tuple[Subject, float], ...]
    """With the ms of the percentiles."""


@dataclass(frozen=True, slots=True)
class CoarseSteps(Finding):
    """A tool that rounds its percentiles to large steps."""

    id = "STEP"
    step: float
    """Relative to `at_ms`."""
    at_ms: float
    step_ms: float
    tool: str


def order(study: Study) -> Iterable[Finding]:
    for trial in study.trials:
        for measured in rows_of(trial):
            wrong = disorder(measured, trial.precision)
            if wrong is None:
                continue
            yield Disorder(
                run(study, trial, measured.label),
                *wrong,
                where=Where.of(trial, measured.key, trial.id),
                weight="blocks",
            )


def disorder(measured: Measured, precision: Precision) -> tuple[tuple[str, float], tuple[str, float]] | None:
    """The first two neighbours in the wrong order by more than a step of rounding."""
    inner = [(f"p{q * 100:.10g}", value) for q, value in sorted(measured.quantiles.items())]
    ends = ("min", measured.min), ("max", measured.max)
    values = [(name, value) for name, value in (ends[0], *inner, ends[1]) if value is not None]
    for first, second in pairwise(values):
        if first[1] > second[1] + precision.step(max(first[1], second[1])):
            return first, second
    return None


def top_rank(requests: int, q: float) -> int:
    """The rank from the top that Locust shows as percentile q: 1 is the maximum (stats.py, 0.7.5 and later)."""
    return requests - int(requests * q)


def most_at_maximum(q: float) -> int:
    """The largest number of requests for which percentile q is still the maximum: 100 for p99, 20 for p95."""
    requests = 1
    while top_rank(requests + 1, q) <= 1:
        requests += 1
    return requests


def least_requests(measured: Measured, precision: Precision) -> int:
    """The minimum number of requests of a row of Locust's, from its percentiles alone: they differ only if their ranks
    do. 1 for other tools, and for rows whose percentiles are all the same."""
    if precision.tool != "locust":
        return 1
    stated = sorted((q, value) for q, value in measured.quantiles.items() if q < 1)
    if len(stated) < 2:
        return 1
    (lower, less), (_, more) = stated[-2:]
    return most_at_maximum(lower) + 1 if less < more else 1


def ties(study: Study) -> Iterable[Finding]:
    for variant in study.variants:
        trials = [trial for trial in study.trials if trial.variant == variant and not trial.precision.mergeable]
        rows = [(trial, row) for trial in trials for row in trial.endpoints if row.quantiles]
        maxima = [(trial, row) for trial, row in rows if row.requests and row.requests <= most_at_maximum(0.99)]
        tied = [(trial, row) for trial, row in rows if row.requests is None and _is_tied(row)]
        where = Where(variant, kinds=("quantile",))
        if maxima:
            named = tuple((run(study, trial, row.label), row.requests or 0) for trial, row in maxima)
            yield MaximaAsPercentiles(named, where=where, weight="warning")
        if tied:
            times = tuple((run(study, trial, row.label), row.quantiles[0.99]) for trial, row in tied)
            yield EqualPercentiles(times, where=where, weight="warning")


def _is_tied(row: Measured) -> bool:
    stated = [row.quantiles.get(q) for q in (0.5, 0.95, 0.99)]
    return stated[0] is not None and stated[0] == stated[1] == stated[2]


def step(study: Study) -> Iterable[Finding]:
    tools: dict[str, tuple[float, float]] = {}
    for trial in study.trials:
        for row in trial.endpoints or ((trial.total,) if trial.total is not None else ()):
            for value in row.quantiles.values():
                width = trial.precision.step(value)
                # Below a few ms a step of whole ms is large, but irrelevant.
                if value >= 10 and width / value > tools.get(trial.precision.tool, (0.0, 0.0))[0]:
                    tools[trial.precision.tool] = (width / value, value)
    for tool, (share, value) in tools.items():
        if share > COARSE:
            yield CoarseSteps(share, value, value * share, tool, where=Where(kinds=("quantile",)), weight="insight")

"""ORDER: contradictory numbers of a row. TIES and STEP: effects of rounding and ranking on percentiles."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from plimsoll.stats import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Measured, Precision, Study, Trial

COARSE = 0.01
"""Relative step: a coarser resolution of a tool's times hides relevant differences."""
ORDER = "min ≤ p50 ≤ … ≤ p99 ≤ max, within one step of the tool's rounding: otherwise one of the numbers is wrong"
TIES = (
    "Locust takes the value at rank n − int(n · q) from the top: its p99 is the maximum of up to 100 requests, its p95 "
    "of up to 20, and p95 < p99 needs at least 21"
)
STEP = (
    "two times that differ by no more than the tool's rounding count as equal; steps above "
    f"{COARSE * 100:.0f} % are reported"
)


def order(study: Study) -> Iterable[Finding]:
    for trial in study.trials:
        for measured in rows_of(trial):
            wrong = disorder(measured, trial.precision)
            if wrong is None:
                continue
            (low, less), (high, more) = wrong
            yield Finding(
                "ORDER",
                "blocks",
                f"{wording.place(study, trial, measured.label)}: {low} {wording.ms(less)} is above {high} "
                f"{wording.ms(more)}, which no set of requests can give.",
                Where(trial.variant, trial.level, trial.operation, measured.key, trial.id),
                ORDER,
                {f"{low}_ms": less, f"{high}_ms": more},
                "Look the row up where it came from: a digit is missing, or two cells are swapped.",
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
        if maxima:
            yield _maxima(study, variant, maxima)
        if tied:
            yield _tied(study, variant, tied)


def _is_tied(row: Measured) -> bool:
    stated = [row.quantiles.get(q) for q in (0.5, 0.95, 0.99)]
    return stated[0] is not None and stated[0] == stated[1] == stated[2]


def _maxima(study: Study, variant: str, rows: list[tuple[Trial, Measured]]) -> Finding:
    named = [f"{wording.place(study, trial, row.label)} ({row.requests})" for trial, row in rows]
    return Finding(
        "TIES",
        "warning",
        f"The p99 of {wording.several(named)} is the single largest of at most 100 requests.",
        Where(variant, kinds=("quantile",)),
        TIES,
        {f"requests of {wording.place(study, trial, row.label)}": row.requests or 0 for trial, row in rows},
        "Longer runs: a p99 needs 368 requests for an interval at all.",
    )


def _tied(study: Study, variant: str, rows: list[tuple[Trial, Measured]]) -> Finding:
    named = [wording.place(study, trial, row.label) for trial, row in rows]
    return Finding(
        "TIES",
        "warning",
        f"p50, p95 and p99 are the same for {wording.several(named)}: one or two requests, or times that all round "
        "alike.",
        Where(variant, kinds=("quantile",)),
        TIES,
        {f"p50_p95_p99_ms of {name}": row.quantiles[0.99] for name, (_, row) in zip(named, rows, strict=True)},
        "The table tells no counts; do not compare these percentiles.",
    )


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
        if share <= COARSE:
            continue
        yield Finding(
            "STEP",
            "insight",
            f"{tool if tool != 'unknown' else 'The table'} tells its percentiles in steps of up to "
            f"{wording.whole_percent(share)} ({wording.ms(value * share)} at {wording.ms(value)}): smaller differences "
            "cannot be seen.",
            Where(kinds=("quantile",)),
            STEP,
            {"step": share, "at_ms": value, "step_ms": value * share},
            "Compare only what differs by more.",
        )

"""PAYLOAD: replies of different size are different work."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.record.cells import CellKey
from plimsoll.stats.distributions.normal import normal_quantile
from plimsoll.stats.distributions.student import t_quantile
from plimsoll.stats.distributions.trends import scatter
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import cells, compared_cells, grouped, rows_of, valid
from plimsoll.stats.findings.subject import Subject, compared, subject
from plimsoll.stats.latency.autocorrelation import ratio_of_sums
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.study import Measured, SizeOf, Study, Trial

DIFFERS = 0.05
"""Of the mean size: small differences between variants (a header's date, a field) are still the same request."""
QUARTER = 0.25
"""Share of a run's seconds at its start and its end: growth must be visible between them."""
LEAST_SECONDS = 8
"""With sizes: two per quarter."""
FEW = 0.01
"""Share of a second's requests that may fail: their bodies hardly change its mean size."""
LONGER_NUMBERS = 64
"""Bytes by which a reply may grow because its numbers get longer: one for each id or counter, as 99 becomes 100."""
CHANCE = 4
"""Standard errors by which a random choice of requests may change a mean size."""
CERTAIN = 0.01
"""p of a difference of mean sizes by chance, two-sided."""


@dataclass(frozen=True, slots=True)
class OtherSizes(Finding):
    """Replies of two variants that differ in size."""

    id = "PAYLOAD"
    subject: Subject
    bytes: tuple[float, float]
    """Mean of `where.against`, and of `where.variant`."""
    ratio: float


@dataclass(frozen=True, slots=True)
class GrowingReplies(Finding):
    """Replies that grow during the run."""

    id = "PAYLOAD"
    subject: Subject
    first_bytes: float
    """Mean of the first quarter of the seconds."""
    last_bytes: float
    """Mean of the last quarter."""
    runs: float


def payload(study: Study) -> Iterable[Finding]:
    for a, b in compared_cells(study):
        before, after = _sizes(study, a), _sizes(study, b)
        for key in before:
            if key in after and before[key].mean > 0 and _is_apart(before[key], after[key]):
                sizes = before[key].mean, after[key].mean
                yield _different(study, (a, b), key[0], sizes)


def mix_error(trials: Sequence[Trial]) -> float:
    """Standard error, in bytes, of the mean size of all replies due to the random choice of endpoints: that of the mean
    of a multinomial sample, √(Σ nₖ(sₖ − s̄)²) / N. 0 if counts or sizes are unknown."""
    rows = [
        (row.requests, row.size)
        for trial in trials
        for row in trial.endpoints
        if row.requests is not None and row.size is not None
    ]
    counts, sizes = np.array(rows, dtype=np.float64).reshape(-1, 2).T
    if not counts.sum():
        return 0.0
    mean = np.average(sizes, weights=counts)
    return math.sqrt(float(np.sum(counts * (sizes - mean) ** 2))) / float(counts.sum())


@dataclass(frozen=True, slots=True)
class _Size:
    """Of the replies of a row in a cell."""

    mean: float
    """Bytes, over the runs."""
    error: float
    """Its standard error, between runs, or between the seconds of the only one; 0 where neither is known."""
    freedom: float
    """Degrees of freedom of the error; infinite where it is taken to be known."""


def _is_apart(a: _Size, b: _Size) -> bool:
    error = math.hypot(a.error, b.error)
    freedom = min(a.freedom, b.freedom) if math.inf in (a.freedom, b.freedom) else a.freedom + b.freedom
    width = normal_quantile(1 - CERTAIN / 2) if math.isinf(freedom) else -t_quantile(freedom, CERTAIN / 2)
    return abs(b.mean - a.mean) - max(CHANCE, width) * error > DIFFERS * a.mean


def _sizes(study: Study, cell: CellKey) -> dict[tuple[tuple[str, str], SizeOf], _Size]:
    """Per row, over the runs of the cell. Sizes with headers are not sizes of bodies."""
    trials = valid(study, cell)
    found: dict[tuple[tuple[str, str], SizeOf], list[Measured]] = {}
    for trial in trials:
        for row in rows_of(trial):
            if row.size is not None:
                found.setdefault((row.key, trial.precision.size_of), []).append(row)
    mixed = mix_error(trials)
    return {key: _size_of(rows, mixed if key[0] == TOTAL else 0.0) for key, rows in found.items()}


def _size_of(rows: Sequence[Measured], least: float) -> _Size:
    """rows: of one endpoint, with sizes. least: the error that is certain to be there."""
    sizes = [row.size for row in rows if row.size is not None]
    mean = statistics.fmean(sizes)
    if len(sizes) > 1:
        error = statistics.stdev(sizes) / math.sqrt(len(sizes))
        return _Size(mean, max(least, error), len(sizes) - 1.0)
    course = rows[0].course
    if course is not None:
        bytes_of, counts = course.sizes[course.measured], course.requests[course.measured]
        known = np.isfinite(bytes_of)
        within = ratio_of_sums(bytes_of[known] * counts[known], counts[known])
        if within.freedom > 0 and math.isfinite(within.error):
            return _Size(mean, max(least, within.error), within.freedom)
    return _Size(mean, least, math.inf)


def _different(
    study: Study,
    pair: tuple[CellKey, CellKey],
    key: tuple[str, str],
    sizes: tuple[float, float],
) -> Finding:
    a, b = pair
    return OtherSizes(
        compared(study, key, b),
        bytes=sizes,
        ratio=sizes[1] / sizes[0],
        # A reply of another size may be an error page: the share of failures is what says so.
        where=Where.of(b, key, against=a.variant, kinds=("quantile", "mean", "max", "throughput")),
        weight="blocks",
    )


def growth(study: Study) -> Iterable[Finding]:
    """Replies that grow during the run."""
    for trials in cells(study):
        first = trials[0]
        for same in grouped(trials, lambda trial: trial.endpoints):
            ends_of_runs = [ends for trial, row in same if (ends := grows(row, trial.duration)) is not None]
            if ends_of_runs:
                yield _grows(study, first, same[0][1].key, ends_of_runs)


def grows(row: Measured, duration: float | None = None) -> tuple[float, float] | None:
    """Mean bytes of the replies in the first and the last quarter of the seconds, if they differ; else None.

    duration: measured seconds, to leave out an incomplete last second. Seconds with failures are also left out: their
    bodies differ.
    """
    if row.course is None:
        return None
    counts, failures, sizes = (
        each[row.course.measured][: None if duration is None else int(duration)]
        for each in (row.course.requests, row.course.failures, row.course.sizes)
    )
    chosen = np.isfinite(sizes) & (counts > 0) & (failures <= FEW * counts)
    sizes, counts = sizes[chosen], counts[chosen]
    if len(sizes) < LEAST_SECONDS:
        return None
    part = int(len(sizes) * QUARTER)
    first = float(np.average(sizes[:part], weights=counts[:part]))
    last = float(np.average(sizes[-part:], weights=counts[-part:]))
    error = scatter(sizes) * math.sqrt(2 / part)
    return (first, last) if last > first + max(DIFFERS * first, CHANCE * error, LONGER_NUMBERS) else None


def _grows(
    study: Study,
    cell: CellKey,
    key: tuple[str, str],
    ends: list[tuple[float, float]],
) -> Finding:
    return GrowingReplies(
        subject(study, cell.variant, cell.operation, f"{key[0]} {key[1]}".strip(), cell.level),
        first_bytes=sum(start for start, _ in ends) / len(ends),
        last_bytes=sum(end for _, end in ends) / len(ends),
        runs=float(len(ends)),
        where=Where.of(cell, key),
        weight="warning",
    )

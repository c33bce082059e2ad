"""PAYLOAD: replies of different size are different work."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.stats import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import cells, compared_cells, grouped, rows_of, valid
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.study import Level, Measured, SizeOf, Study, Trial

DIFFERS = 0.05
"""Of the mean size: small differences between variants (a header's date, a field) are still the same request."""
QUARTER = 0.25
"""Share of a run's seconds at its start and its end: growth must be visible between them."""
LEAST_SECONDS = 8
"""With sizes: two per quarter."""
NORMAL_STEP = 0.9539
"""Median |x − y| of two normal values with a standard deviation of 1: √2 · Φ⁻¹(3/4)."""
FEW = 0.01
"""Share of a second's requests that may fail: their bodies hardly change its mean size."""
CHANCE = 4
"""Standard errors by which a random choice of requests may change a mean size."""
RULE = (
    f"mean sizes of replies that differ by more than {DIFFERS * 100:.0f} % mean that the variants did not do the same; "
    f"those of all endpoints together must also lie {CHANCE} standard errors apart, as the mix of requests is random"
)
GROWTH = (
    f"mean size of replies in the last quarter of the run's whole seconds without failures more than "
    f"{DIFFERS * 100:.0f} % and {CHANCE} standard errors above that in the first: then a variant that answers faster "
    "asks itself for more work"
)


def payload(study: Study) -> Iterable[Finding]:
    for a, b, level, operation in compared_cells(study):
        before, after = _sizes(study, a, level, operation), _sizes(study, b, level, operation)
        for key in before:
            if key not in after or not before[key] > 0 or abs(after[key] / before[key] - 1) <= DIFFERS:
                continue
            if key[0] == TOTAL:
                errors = (mix_error(valid(study, variant, level, operation)) for variant in (a, b))
                if abs(after[key] - before[key]) <= CHANCE * math.hypot(*errors):
                    continue
            yield _different(study, (a, b), level, operation, key[0], (before[key], after[key]))


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


def _sizes(
    study: Study, variant: str, level: Level | None, operation: str
) -> dict[tuple[tuple[str, str], SizeOf], float]:
    """Mean bytes per row, over the runs of the cell. Sizes with headers are not sizes of bodies."""
    found: dict[tuple[tuple[str, str], SizeOf], list[float]] = {}
    for trial in valid(study, variant, level, operation):
        for row in rows_of(trial):
            if row.size is not None:
                found.setdefault((row.key, trial.precision.size_of), []).append(row.size)
    return {key: sum(sizes) / len(sizes) for key, sizes in found.items()}


def _different(
    study: Study,
    pair: tuple[str, str],
    level: Level | None,
    operation: str,
    key: tuple[str, str],
    sizes: tuple[float, float],
) -> Finding:
    a, b = pair
    return Finding(
        "PAYLOAD",
        "blocks",
        f"{wording.compared(study, key, level, operation)}: replies of {b} have {wording.number(sizes[1])} bytes, "
        f"those of {a} {wording.number(sizes[0])} ({wording.change(sizes[1] / sizes[0])}): not the same work.",
        Where(b, level, operation, key, against=a),
        RULE,
        {"bytes": sizes, "ratio": sizes[1] / sizes[0]},
        "Make both return the same, with data of a fixed size that is reset before each run.",
    )


def growth(study: Study) -> Iterable[Finding]:
    """Replies that grow during the run."""
    for trials in cells(study):
        first = trials[0]
        for same in grouped(trials, lambda trial: trial.endpoints):
            ends_of_runs = [ends for trial, row in same if (ends := grows(row, trial.duration)) is not None]
            if ends_of_runs:
                cell = first.variant, first.level, first.operation
                yield _grows(study, cell, same[0][1].key, ends_of_runs)


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
    # A jump or steady growth hardly moves the median step between seconds.
    error = statistics.median(np.abs(np.diff(sizes)).tolist()) / NORMAL_STEP * math.sqrt(2 / part)
    return (first, last) if last > first + max(DIFFERS * first, CHANCE * error) else None


def _grows(
    study: Study,
    cell: tuple[str, Level | None, str],
    key: tuple[str, str],
    ends: list[tuple[float, float]],
) -> Finding:
    variant, level, operation = cell
    first = sum(start for start, _ in ends) / len(ends)
    last = sum(end for _, end in ends) / len(ends)
    who = wording.subject(study, variant, operation, f"{key[0]} {key[1]}".strip())
    return Finding(
        "PAYLOAD",
        "warning",
        f"{who}{wording.at(study, level)}: replies grow during the run, from {wording.number(first)} to "
        f"{wording.number(last)} bytes ({wording.change(last / first)}), so requests become more work.",
        Where(variant, level, operation, key),
        GROWTH,
        {"first_bytes": first, "last_bytes": last, "runs": float(len(ends))},
        "Reset the data before each run, or bound what is returned; and compare per row.",
    )

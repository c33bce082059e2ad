"""PAYLOAD: replies that are not the same size are not the same work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plimsoll.stats.compare.questions import pairs_of_variants
from plimsoll.stats.findings import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import cells, grouped, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Level, Measured, Study

DIFFERS = 0.05
"""Of the mean size: what a variant may add or leave out (a header's date, a field) without being another request."""
QUARTER = 0.25
"""Of a run's seconds, at its beginning and its end: what grows must show between them."""
LEAST_SECONDS = 8
"""With sizes: two per quarter."""
RULE = (
    f"mean sizes of replies that differ by more than {DIFFERS * 100:.0f} % mean that the variants did not do the same"
)
GROWTH = (
    f"mean size of replies in the last quarter of the run's seconds more than {DIFFERS * 100:.0f} % above that in the "
    "first: then a variant that answers faster asks itself for more work"
)


def payload(study: Study) -> Iterable[Finding]:
    for operation in study.operations:
        for level in study.levels:
            for a, b, _ in pairs_of_variants(study):
                before, after = _sizes(study, a, level, operation), _sizes(study, b, level, operation)
                for key in before:
                    if key in after and before[key] > 0 and abs(after[key] / before[key] - 1) > DIFFERS:
                        yield _different(study, (a, b), level, operation, key, (before[key], after[key]))


def _sizes(study: Study, variant: str, level: Level | None, operation: str) -> dict[tuple[str, str], float]:
    """Mean bytes per row, over the runs of the cell."""
    found: dict[tuple[str, str], list[float]] = {}
    for trial in study.cell(variant, level, operation):
        if not trial.invalid:
            for row in rows_of(trial):
                if row.size is not None:
                    found.setdefault(row.key, []).append(row.size)
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
    label = f"{key[0]} {key[1]}".strip()
    at = f" at {level}" if level is not None and len(study.levels) > 1 else ""
    of = f"{operation}: " if operation and len(study.operations) > 1 and operation != label else ""
    return Finding(
        "PAYLOAD",
        "blocks",
        f"{of}{label}{at}: replies of {b} have {wording.number(sizes[1])} bytes, those of {a} "
        f"{wording.number(sizes[0])} ({wording.change(sizes[1] / sizes[0])}): not the same work.",
        Where(b, level, operation, key, against=a),
        RULE,
        {"bytes": sizes, "ratio": sizes[1] / sizes[0]},
        "Make both return the same, with data of a fixed size that is reset before each run.",
    )


def growth(study: Study) -> Iterable[Finding]:
    """Replies that grow while the run goes on."""
    for trials in cells(study):
        first = trials[0]
        for same in grouped(trials, lambda trial: trial.endpoints):
            ends_of_runs = [ends for _, row in same if (ends := grows(row)) is not None]
            if ends_of_runs:
                cell = first.variant, first.level, first.operation
                yield _grows(study, cell, same[0][1].key, ends_of_runs)


def grows(row: Measured) -> tuple[float, float] | None:
    """Mean bytes in the first and the last quarter of the seconds, if they differ; else None."""
    if row.course is None:
        return None
    sizes = row.course.sizes[row.course.measured]
    sizes = sizes[np.isfinite(sizes)]
    if len(sizes) < LEAST_SECONDS:
        return None
    part = int(len(sizes) * QUARTER)
    first, last = float(sizes[:part].mean()), float(sizes[-part:].mean())
    return (first, last) if last > first * (1 + DIFFERS) else None


def _grows(
    study: Study,
    cell: tuple[str, Level | None, str],
    key: tuple[str, str],
    ends: list[tuple[float, float]],
) -> Finding:
    variant, level, operation = cell
    first = sum(start for start, _ in ends) / len(ends)
    last = sum(end for _, end in ends) / len(ends)
    label = f"{key[0]} {key[1]}".strip()
    who = wording.subject(study, variant, operation, label) or label
    at = f" at {level}" if level is not None and len(study.levels) > 1 else ""
    return Finding(
        "PAYLOAD",
        "warning",
        f"{who}{at}: replies grow during the run, from {wording.number(first)} to {wording.number(last)} bytes "
        f"({wording.change(last / first)}), so each request is more work than the one before.",
        Where(variant, level, operation, key),
        GROWTH,
        {"first_bytes": first, "last_bytes": last, "runs": float(len(ends))},
        "Reset the data before each run, or bound what is returned; and compare per row.",
    )

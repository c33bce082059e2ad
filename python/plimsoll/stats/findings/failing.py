"""ERR between variants, and SURVIVORS: latencies that include only successful requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.record.cells import CellKey
from plimsoll.stats.compare.pairs import ALPHA
from plimsoll.stats.compare.prediction import LEAST_EARLIER
from plimsoll.stats.compare.shares import FailureCount, beyond_earlier, difference
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import compared_cells, rows_of, valid
from plimsoll.stats.findings.subject import Subject, compared, run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Study


@dataclass(frozen=True, slots=True)
class UnequalFailures(Finding):
    """Two variants of which different shares of the requests fail."""

    id = "ERR"
    subject: Subject
    shares: tuple[float, ...]
    """Of `where.against`, and of `where.variant`."""
    difference: tuple[float, float]
    """Its interval."""


@dataclass(frozen=True, slots=True)
class SurvivorsOnly(Finding):
    """Percentiles that leave out the requests that failed."""

    id = "SURVIVORS"
    subject: Subject
    failed: float
    """Share of the requests."""
    percentiles: tuple[float, ...]
    is_certain: bool
    """Whether the table tells that it leaves them out."""


def unequal(study: Study) -> Iterable[Finding]:
    places = []
    for a, b in compared_cells(study):
        before, after = _failed(study, a), _failed(study, b)
        for key in before:
            sides = _sides(study, before[key], after.get(key, {}))
            if any(each.failures for side in sides for each in side):
                places.append(((a, b), key, sides))
    for place in places:
        old, new = place[-1]
        alpha = ALPHA / len(places)
        if len(old) > len(new):
            found = beyond_earlier(old, new[0], study.tolerance, alpha)
        else:
            found = difference(list(zip(old, new, strict=True)), study.tolerance, alpha)
        if found.beyond:
            yield _unequal(study, *place, (found.low, found.high))


def survivors(study: Study) -> Iterable[Finding]:
    for trial in study.trials:
        if trial.invalid or trial.precision.times_of == "all":
            continue
        for row in rows_of(trial):
            if not row.requests or not row.failures:
                continue
            share = row.failures / row.requests
            hidden = [q for q in sorted(row.quantiles) if q < 1 and 1 - q < share]
            if not hidden:
                continue
            yield SurvivorsOnly(
                run(study, trial, row.label),
                failed=share,
                percentiles=tuple(hidden),
                is_certain=trial.precision.times_of == "successes",
                where=Where.of(trial, row.key, trial.id, kinds=("quantile", "mean", "max")),
                weight="warning",
            )


def _failed(study: Study, cell: CellKey) -> dict[tuple[str, str], dict[int, FailureCount]]:
    """Per row, by repeat."""
    found: dict[tuple[str, str], dict[int, FailureCount]] = {}
    for trial in valid(study, cell):
        for row in rows_of(trial):
            if row.requests and row.failures is not None:
                found.setdefault(row.key, {})[trial.repeat] = FailureCount(row.failures, row.requests)
    return found


def _sides(
    study: Study, before: dict[int, FailureCount], after: dict[int, FailureCount]
) -> tuple[list[FailureCount], list[FailureCount]]:
    """Runs of the same repeat; all earlier runs, where they are enough to predict the next."""
    if study.is_after_earlier and len(before) >= LEAST_EARLIER and after:
        return list(before.values()), list(after.values())
    repeats = sorted(before.keys() & after.keys())
    return [before[repeat] for repeat in repeats], [after[repeat] for repeat in repeats]


def _unequal(
    study: Study,
    pair: tuple[CellKey, CellKey],
    key: tuple[str, str],
    sides: tuple[list[FailureCount], list[FailureCount]],
    interval: tuple[float, float],
) -> Finding:
    a, b = pair
    return UnequalFailures(
        compared(study, key, b),
        shares=tuple(sum(failure_count.share for failure_count in side) / len(side) for side in sides),
        difference=interval,
        where=Where.of(b, key, against=a.variant, kinds=("quantile", "mean", "max", "throughput")),
        weight="blocks",
    )

"""The rows of one run's table, for rules."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, TypeVar

from plimsoll.record.cells import CellKey
from plimsoll.stats.compare.questions import pairs_of_variants
from plimsoll.stats.study import TOTAL, Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from plimsoll.stats.study import Level, Study, Trial

_Number = TypeVar("_Number", int, float)


def valid(study: Study, cell: CellKey) -> list[Trial]:
    """The counted runs of a cell."""
    return [trial for trial in study.cell(cell) if not trial.invalid]


def places(study: Study) -> Iterator[tuple[Level | None, str]]:
    """Every level with every operation."""
    for operation, level in product(study.operations, study.levels):
        yield level, operation


def cells(study: Study) -> Iterator[list[Trial]]:
    """The valid runs of each variant at each level with each operation, where there are any."""
    for variant, level, operation in product(study.variants, study.levels, study.operations):
        if trials := valid(study, CellKey(variant, level, operation)):
            yield trials


def compared_cells(study: Study) -> Iterator[tuple[CellKey, CellKey]]:
    """Of all comparisons."""
    for level, operation in places(study):
        for a, b, _ in pairs_of_variants(study.variants, study.against):
            yield (
                CellKey(a, level, operation),
                CellKey(b, level, operation),
            )


def grouped(trials: Iterable[Trial], rows: Callable[[Trial], Iterable[Measured]]) -> list[list[tuple[Trial, Measured]]]:
    """The rows of some runs, grouped by key."""
    found: dict[tuple[str, str], list[tuple[Trial, Measured]]] = {}
    for trial in trials:
        for row in rows(trial):
            found.setdefault(row.key, []).append((trial, row))
    return list(found.values())


def rows_of(trial: Trial) -> tuple[Measured, ...]:
    """Its endpoints, then their total if there are several endpoints."""
    total = whole(trial)
    if total is None or len(trial.endpoints) == 1:
        return trial.endpoints
    return *trial.endpoints, total


def whole(trial: Trial) -> Measured | None:
    """All endpoints of a run together, under the key `TOTAL`: as in the source, completed from the endpoints. None if
    neither has values."""
    parts = trial.endpoints
    total = trial.total
    if total is None:
        if not parts:
            return None
        total = replace(parts[0], method="", name="") if len(parts) == 1 else Measured("", "")
    requests = _sum(part.requests for part in parts)
    return replace(
        total,
        method=TOTAL[0],
        name=TOTAL[1],
        requests=_first(total.requests, requests),
        failures=_first(total.failures, _sum(part.failures for part in parts)),
        rate=_first(total.rate, _sum(part.rate for part in parts)),
        mean=_first(total.mean, _mean(parts)),
        max=_first(total.max, _extreme(max, [part.max for part in parts])),
        min=_first(total.min, _extreme(min, [part.min for part in parts])),
    )


def successes(row: Measured) -> int | None:
    """Requests that did not fail. All of them if failures were not counted."""
    return None if row.requests is None else row.requests - (row.failures or 0)


def fastest(trial: Trial, row: Measured) -> float | None:
    """ms of the fastest request of the whole run: the first ones meet an idle target, and may be in the warm-up. None
    if the warm-up's times are unknown."""
    if not trial.warmup:
        return row.min
    if row.course is None:
        return None
    begun = (each.min for each in row.course.histograms[: row.course.measured.start] if each is not None)
    return min((each / 1000 for each in begun), default=row.min)


def seconds_of(trial: Trial) -> tuple[float | None, bool]:
    """Its measured length, and whether it was only derived, as requests / rate."""
    if trial.duration is not None:
        return trial.duration, False
    total = whole(trial)
    candidates = ([total] if total is not None else []) + list(trial.endpoints)
    # The row with the most requests: its rate has the smallest rounding error.
    known = [each for each in candidates if each.requests and each.rate]
    if not known:
        return None, True
    best = max(known, key=lambda each: each.requests or 0)
    return best.requests / best.rate, True  # type: ignore[operator]


def _first(stated: _Number | None, derived: _Number | None) -> _Number | None:
    return stated if stated is not None else derived


def _sum(values: Iterable[_Number | None]) -> _Number | None:
    """None unless all are known."""
    known = list(values)
    if not known or any(value is None for value in known):
        return None
    return sum(value for value in known if value is not None)


def _extreme(pick: Callable[[list[float]], float], values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return pick(known) if known and len(known) == len(values) else None


def _mean(parts: Sequence[Measured]) -> float | None:
    """Weighted by requests, or by rates if these are unknown."""
    known = [
        (part.mean, weight)
        for part in parts
        if part.mean is not None
        if (weight := part.requests if part.requests is not None else part.rate) is not None
    ]
    total = sum(weight for _, weight in known)
    if len(known) < len(parts) or not total:
        return None
    return sum(mean * weight for mean, weight in known) / total

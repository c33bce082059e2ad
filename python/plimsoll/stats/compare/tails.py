"""Percentiles that rest on few requests: too few to compare, or so few that one slow request makes them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from plimsoll.stats.cells import cells_of
from plimsoll.stats.latency.ranks import above, least_requests
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.stats.cells import CellSummary, EndpointCell
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.study import Study

FALLS = 2.0
"""A percentile that is so many times that of the next higher level, while the median is not, is strange."""
FEW = 10
"""Requests at or above a percentile; with fewer in a run, a single one moves it."""


def highest(study: Study) -> Metric:
    """The highest percentile that the study is about; p99 when it is about none."""
    quantiles = [metric.quantile for metric in (*study.primary, *study.metrics) if metric.quantile is not None]
    return Metric("quantile", max(quantiles, default=0.99))


def is_too_few(comparison: Comparison) -> bool:
    quantile, requests = comparison.metric.quantile, comparison.requests
    if comparison.word != "no verdict" or quantile is None or requests is None:
        return False
    return requests < least_requests(quantile)


@dataclass(frozen=True, slots=True)
class FallingTail:
    """An endpoint at a level whose percentile is far above that of the next level."""

    who: str
    low: CellSummary
    high: CellSummary
    values: tuple[float, float]
    rests: tuple[int, int] | None
    """At or above the percentile, of all; None: not known."""


def falling_tails(study: Study) -> list[FallingTail]:
    """The one that falls most first."""
    tails = _falls(study, highest(study).quantile or 0.99)
    return sorted(tails, key=lambda tail: -tail.values[0] / tail.values[1])


def _falls(study: Study, quantile: float) -> Iterator[FallingTail]:
    cells = cells_of(study)
    for operation in study.operations:
        for variant in study.variants:
            ladder = [each for each in cells if (each.variant, each.operation) == (variant, operation) and each.level]
            for low, high in pairwise(ladder):
                for key in low.by_key:
                    if key != TOTAL and (found := _fall(study, low, high, key, quantile)) is not None:
                        yield found


def _fall(
    study: Study, low: CellSummary, high: CellSummary, key: tuple[str, str], quantile: float
) -> FallingTail | None:
    before, after = low.endpoint(key), high.endpoint(key)
    if before is None or after is None:
        return None
    tails, medians = ([row.quantile(q) for row in (before, after)] for q in (quantile, 0.5))
    if not tails[0] or not tails[1] or tails[0] < FALLS * tails[1]:
        return None
    if medians[0] and medians[1] and medians[0] >= FALLS * medians[1]:
        return None
    rests = _rests(before, quantile)
    if rests is not None and rests[0] >= FEW * len(before.runs):
        return None
    names = (variant_of(study, low), " ".join(filter(None, key)))
    return FallingTail(", ".join(filter(None, names)), low, high, (tails[0], tails[1]), rests)


def variant_of(study: Study, cell: CellSummary) -> str:
    """With its operation, as far as there are several."""
    names: Sequence[str] = (
        cell.variant if len(study.variants) > 1 else "",
        cell.operation if len(study.operations) > 1 else "",
    )
    return ", ".join(filter(None, names))


def _rests(row: EndpointCell, quantile: float) -> tuple[int, int] | None:
    timed = [run.timed for run in row.runs]
    known = [each for each in timed if each]
    if len(known) < len(timed):
        return None
    return sum(above(each, quantile) for each in known), sum(known)

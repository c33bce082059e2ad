"""One metric over the repeats of one cell: a point of a ladder chart with its error bar."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.distributions.student import t_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.metric import Metric
    from plimsoll.stats.study import Trial

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class CellValue:
    """In the metric's unit."""

    values: tuple[float, ...]
    """Of each counted run, in the order of the repeats."""
    value: float
    """Their geometric mean; arithmetic for shares of failures, which may be 0."""
    low: float | None = None
    """95 % confidence interval over runs; None for a single run, whose spread is unknown."""
    high: float | None = None


def median_ratio(ratios: Sequence[float]) -> float | None:
    """None without any."""
    return statistics.median(ratios) if ratios else None


def cell_value(trials: Sequence[Trial], metric: Metric, endpoint: tuple[str, str]) -> CellValue | None:
    """trials: the repeats of one cell; the valid ones count, or all if none is valid. endpoint ("", ""): all together.
    None if no run has a value.

    The interval is x̄ ± t(k−1) · s / √k on the logarithms of the k values (shares: on the shares themselves, kept
    within 0…1), as for any sample of independent runs: Georges, Buytaert, Eeckhout, OOPSLA 2007, section 3.2.
    """
    counted = [each for each in trials if not each.invalid] or trials
    measured = (each.endpoint(endpoint) for each in counted)
    found = (metric.of(each) for each in measured if each is not None)
    values = tuple(each for each in found if each is not None and math.isfinite(each))
    if not values:
        return None
    is_log = metric.kind != "errors" and min(values) > 0
    scaled = [math.log(each) if is_log else each for each in values]
    back = math.exp if is_log else float
    centre = sum(scaled) / len(scaled)
    if len(values) < 2:
        return CellValue(values, back(centre))
    half = _half_width(scaled, centre)
    low, high = back(centre - half), back(centre + half)
    return CellValue(values, back(centre), max(0.0, low), min(1.0, high) if metric.kind == "errors" else high)


def geometric_mean(values: Sequence[float | None]) -> float | None:
    """The mean of a cell's times and rates, in tables, comparisons and findings alike. None if a value is unknown; 0 if
    one of them is 0."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known or len(known) < len(values):
        return None
    if min(known) <= 0:
        return 0.0
    return known[0] if len(set(known)) == 1 else math.exp(math.fsum(map(math.log, known)) / len(known))


def _half_width(values: list[float], centre: float) -> float:
    freedom = len(values) - 1
    deviation = math.sqrt(sum((each - centre) ** 2 for each in values) / freedom)
    return t_quantile(freedom, (1 + CONFIDENCE) / 2) * deviation / math.sqrt(len(values))

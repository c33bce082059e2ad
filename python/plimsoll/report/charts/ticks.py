"""Where a logarithmic axis has its ticks: few, and at round values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.report.charts.chart import Row

_MANTISSAS = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0))
"""From sparse to dense."""
_FEWEST, _MOST = 4, 9


def log_ticks(values: Iterable[float]) -> list[float]:
    """For an axis that these values are on: four to nine round numbers between the least and the greatest where
    there are such; fewer on one that hardly covers anything."""
    known = [each for each in values if each > 0 and math.isfinite(each)]
    if not known:
        return []
    low, high = min(known), max(known)
    found: list[float] = []
    for mantissas in _MANTISSAS:
        decades = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
        found = [m * 10.0**decade for decade in decades for m in mantissas if low <= m * 10.0**decade <= high]
        if len(found) >= _FEWEST:
            break
    if len(found) >= _FEWEST:
        return [float(f"{each:.6g}") for each in found[:: math.ceil(len(found) / _MOST)]]
    return linear_ticks(low, high)


def ticks_of(rows: Iterable[Row], *names: str) -> list[float]:
    """For an axis with these fields of the rows."""
    return log_ticks(float(value) for row in rows for name in names if isinstance(value := row.get(name), int | float))


def linear_ticks(low: float, high: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten; the value itself where all are the same."""
    if high - low < 1e-9 * high:
        return [float(f"{low:.4g}")]
    power = 10.0 ** math.floor(math.log10(high - low))
    found: list[float] = []
    for step in (power, power / 2, power / 5, power / 10):
        found = [float(f"{n * step:.6g}") for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
        if len(found) >= _FEWEST - 1:
            break
    return found

"""Fewer points where there are more than a screen has pixels: each bucket keeps its least and its greatest value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll.report.charts.chart import short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.report.charts.chart import Row

MOST_POINTS = 600
"""Of a line."""


def bucket_width(count: int, most: int = MOST_POINTS) -> int:
    """How many values one point stands for."""
    return max(1, math.ceil(count / most))


def thinned(seconds: Sequence[float], values: Sequence[float], most: int = MOST_POINTS) -> list[Row]:
    """At most `most` rows: the second in which a bucket begins, the mean of its values, the least and the greatest. NaN
    values do not count; a bucket without any is a gap. A value that stands alone is its own extremes."""
    width = bucket_width(len(values), most)
    rows: list[Row] = []
    for start in range(0, len(values), width):
        known = [float(each) for each in values[start : start + width] if math.isfinite(each)]
        second = short(float(seconds[start]))
        if not known:
            rows.append({"second": second, "value": None, "low": None, "high": None})
            continue
        mean = sum(known) / len(known)
        rows.append({"second": second, "value": short(mean), "low": short(min(known)), "high": short(max(known))})
    return rows


def thinning_note(count: int, most: int = MOST_POINTS) -> str:
    """What a reader must know of the points; "" when each value is one."""
    return wide_note(bucket_width(count, most))


def wide_note(width: int) -> str:
    """The same, with the seconds of a point."""
    return (
        f"Each point stands for {width} s; the shade reaches from their least to their greatest." if width > 1 else ""
    )

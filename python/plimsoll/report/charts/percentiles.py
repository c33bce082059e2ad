"""Percentile curves: what share of the requests took no longer than that."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count as counted_from
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from plimsoll._engine import Histogram
from plimsoll.report.charts.chart import Chart, Row, draw, short
from plimsoll.report.charts.ticks import ticks_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.study import Measured

FINE, COARSE = 0.05, 0.1
"""Nines between two points: of all runs of a series together, and of a single one."""
FEW = 10
"""A value that fewer requests than this lie above rests on these few."""


@dataclass(frozen=True, slots=True)
class Curves:
    """One colour of the chart: runs that belong together."""

    series: str
    runs: Sequence[tuple[str, Measured]]
    """By the run's id."""


def percentile_chart(name: str, title: str, curves: Sequence[Curves], what: str, **about: Any) -> Chart | None:
    """A thin line for each run, and a bold one for all runs of a series taken together; dotted where it rests on fewer
    than `FEW` requests. what: the time that it shows. None when no quantile is known of any."""
    data: dict[str, list[Row]] = {"runs": [], "few": [], "together": []}
    for each in curves:
        histograms = [measured.histogram for _, measured in each.runs if measured.histogram is not None]
        if histograms:
            total = Histogram()
            for histogram in histograms:
                total.add(histogram)
            certain, few = _curve(total, FINE)
            data["together"] += [{"series": each.series, **row} for row in certain]
            data["few"] += [{"series": each.series, **row} for row in few]
            if len(each.runs) > 1:
                data["runs"] += _single_runs(each)
        else:
            data["together"] += _given_quantiles(each)
    if not data["together"] and not data["few"]:
        return None
    ticks = ticks_of([row for rows in data.values() for row in rows], "ms")
    has_points = all(measured.histogram is None for each in curves for _, measured in each.runs)
    point: Any = {"size": 45, "filled": True} if has_points else "transparent"
    words = {"series": [each.series for each in curves], "what": what, "ticks": ticks, "point": point}
    return draw("percentiles", name, title, data, words, **about)


def _single_runs(curves: Curves) -> Iterable[Row]:
    for run, measured in curves.runs:
        if measured.histogram is not None:
            certain, few = _curve(measured.histogram, COARSE)
            for row in (*certain, *few[1:]):
                yield {"series": curves.series, "run": run, "q": row["q"], "ms": row["ms"]}


def _curve(histogram: Histogram, step: float) -> tuple[list[Row], list[Row]]:
    """Up to the rank that `FEW` requests lie above, and from there to the last but one. Its q stands for a rank that
    exists: ⌈q · n⌉ < n, as the greatest of n values is the quantile of every q above 1 − 1/n."""
    count = histogram.count
    if not count:
        return [], []
    # From place 1 on: place 0 is the least value, which says little and would stretch the axis.
    above = takewhile(lambda part: part * count >= 1, (10.0 ** -(place * step) for place in counted_from(1)))
    known = [1 - part for part in above]
    rows: list[Row] = [
        {"q": short(q, 9), "ms": short(value / 1000), "requests": count}
        for q, value in zip(known, histogram.values_at(known), strict=True)
        # A logarithmic axis has no 0, and a µs in its place would stretch it over decades of nothing.
        if value
    ]
    certain = [row for row in rows if (1 - float(row["q"] or 0)) * count >= FEW]
    few = rows[len(certain) :]
    return certain, [*certain[-1:], *few] if few else []


def _given_quantiles(curves: Curves) -> list[Row]:
    """Quantiles that are given without a histogram: those of the first run, since they do not add up."""
    for _, measured in curves.runs:
        known = sorted((q, value) for q, value in measured.quantiles.items() if 0 < q < 1)
        if known:
            return [{"series": curves.series, "q": q, "ms": value, "requests": measured.requests} for q, value in known]
    return []

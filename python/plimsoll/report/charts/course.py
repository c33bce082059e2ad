"""A run second by second: requests and failures, percentiles, users; the warm-up is there, in grey."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from plimsoll.report.charts.chart import Chart, Row, draw
from plimsoll.report.charts.thin import thinned, thinning_note
from plimsoll.report.charts.ticks import ticks_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll._engine import Histogram
    from plimsoll.stats.study import Course

QUANTILES = {"p50": 0.5, "p99": 0.99}
LEAST_OF_P99 = 100
"""Requests in a second; of fewer, the p99 is the greatest, which the note says."""


def course_charts(
    name: str,
    title: str,
    course: Course,
    warmup: float,
    users: Sequence[float] | None = None,
    length: float | None = None,
    **about: Any,
) -> list[Chart]:
    """Two or three charts with the same axis; none for a run of fewer than two seconds. warmup: seconds. users: at the
    end of each second from second 0 on. length: of the run, in seconds; one that it ended in would look like a fall of
    the throughput, so it is left out."""
    count = len(course) if length is None else min(len(course), int(length + 1e-6))
    if count < 2:
        return []
    words: dict[str, Any] = {"seconds": count, "what": "response time"}
    common: dict[str, list[Row]] = {"warmup": [{"from": 0, "to": min(warmup, count)}] if warmup else []}
    note = " ".join(part for part in (_warmup_note(warmup), thinning_note(count)) if part)
    seconds = range(count)

    def chart(kind: str, what: str, lines: Mapping[str, Sequence[float]], extra: str = "") -> Chart:
        points = [{"of": of, **row} for of, values in lines.items() for row in thinned(seconds, values)]
        words["ticks"] = ticks_of(points, "low", "high")
        told = " ".join(part for part in (note, extra) if part)
        return draw(kind, f"{name}-{what}", f"{title}: {what}", common | {"points": points}, words, note=told, **about)

    rates = {
        "requests": [float(each) for each in course.requests[:count]],
        "failures": [float(each) for each in course.failures[:count]],
    }
    charts = [chart("course_rate", "requests per second", rates)]
    histograms = list(course.histograms[:count])
    times = _times(histograms)
    if any(math.isfinite(each) for values in times.values() for each in values):
        busy = sorted(histogram.count for histogram in histograms if histogram is not None and histogram.count)
        few = bool(busy) and busy[len(busy) // 2] < LEAST_OF_P99
        extra = "Most seconds have fewer than 100 requests: their p99 is their slowest one." if few else ""
        charts.append(chart("course_times", "response times", times, extra))
    if users is not None and len(users) > 1:
        charts.append(chart("course_users", "users", {"users": users[:count]}))
    return charts


def _times(histograms: Sequence[Histogram | None]) -> dict[str, list[float]]:
    """ms of each second; NaN in one without requests."""
    found: dict[str, list[float]] = {name: [] for name in QUANTILES}
    for histogram in histograms:
        for name, q in QUANTILES.items():
            is_known = histogram is not None and histogram.count
            found[name].append(histogram.value_at(q) / 1000 if is_known else math.nan)  # type: ignore[union-attr]
    return found


def _warmup_note(warmup: float) -> str:
    return f"The first {warmup:g} s, in grey, are the warm-up and in no figure." if warmup else ""

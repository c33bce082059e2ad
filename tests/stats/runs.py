"""Studies made by hand, of as much as a test is about."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll._engine import Histogram
from plimsoll.stats.study import PLIMSOLL, Course, Level, Measured, Metric, Study, Trial

if TYPE_CHECKING:
    from collections.abc import Sequence

GET = ("GET", "/a")
TEN = Level("users", 10)
P50, P99 = Metric("quantile", 0.5), Metric("quantile", 0.99)
MEAN, MAX, RATE, ERRORS = Metric("mean"), Metric("max"), Metric("throughput"), Metric("errors")

FIVE = [200, 196, 210, 190, 204], [212, 188, 236, 199, 218]
SIX = [200, 202, 198, 201, 199, 200]
EQUIVALENT = SIX, [200.5, 201.5, 198.5, 200.2, 199.6, 200.3]
DIFFERENT = SIX, [240, 238, 243, 239, 241, 244]
NEGLIGIBLE = SIX, [204, 206, 202, 205, 203, 204.5]


def table(ms: float | None, *, q: float = 0.99, key: tuple[str, str] = GET, **known: Any) -> Measured:
    """A row of somebody's table: one percentile, of 20 000 requests."""
    known = {"requests": 20_000, "failures": 0} | known
    return Measured(*key, quantiles={} if ms is None else {q: ms}, **known)


def trial(variant: str, *rows: Measured, repeat: int = 0, **known: Any) -> Trial:
    known = {"level": TEN, "duration": 300.0, "total": None} | known
    number = f"{variant}-{known['level']}-{repeat}-{known.get('operation', '')}"
    return Trial(known.pop("id", number), variant, repeat=repeat, endpoints=rows, **known)


def study(*trials: Trial, **known: Any) -> Study:
    known = {"metrics": (P99,), "interleaved": True, "gap": 60.0} | known
    return Study(known.pop("name", "s"), tuple(trials), **known)


def pairs(a: Sequence[float], b: Sequence[float], *, of: Any = table, **known: Any) -> Study:
    """Interleaved pairs whose p99 (or what `of` makes of it) are these."""
    trials = [
        trial(variant, of(value), repeat=repeat)
        for variant, values in (("A", a), ("B", b))
        for repeat, value in enumerate(values)
    ]
    return study(*trials, **known)


def recorded(
    times: Sequence[Sequence[float]], *, key: tuple[str, str] = GET, warmup: int = 0, **known: Any
) -> Measured:
    """An endpoint of our own: the times of each second, in ms; the sums are those after the warm-up."""
    histograms: list[Histogram | None] = []
    merged = Histogram()
    for second, row in enumerate(times):
        histogram = Histogram()
        for each in row:
            histogram.record(round(1000 * each))
        histograms.append(histogram if len(row) else None)
        if second >= warmup:
            merged.add(histogram)
    counts = np.array([len(row) for row in times], dtype=np.int64)
    course = Course(
        requests=counts,
        failures=np.zeros(len(times), dtype=np.int64),
        means=np.array([np.mean(row) if len(row) else math.nan for row in times]),
        maxima=np.array([np.max(row) if len(row) else math.nan for row in times]),
        sizes=np.where(counts > 0, 100.0, math.nan),
        histograms=histograms,
        measured=slice(warmup, len(times)),
    )
    requests = int(counts[warmup:].sum())
    flat = [each for row in times[warmup:] for each in row]
    known = {
        "requests": requests,
        "failures": 0,
        "rate": requests / (len(times) - warmup),
        "mean": float(np.mean(flat)) if flat else None,
        "max": max(flat, default=None),
        "size": 100.0,
        "histogram": merged,
        "course": course,
    } | known
    return Measured(*key, **known)


def own(variant: str, times: Sequence[Sequence[float]], *, repeat: int = 0, warmup: int = 0, **known: Any) -> Trial:
    """A run of our own with one endpoint, which is all there is."""
    row = recorded(times, warmup=warmup)
    total = recorded(times, warmup=warmup, key=("", "Aggregated"))
    known = {"duration": float(len(times) - warmup), "warmup": float(warmup), "precision": PLIMSOLL} | known
    return trial(variant, row, repeat=repeat, total=total, **known)

"""Trials with histograms and their course second by second, from a few numbers each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll._engine import Histogram
from plimsoll.stats.study import Course, FailureKind, GeneratorHealth, Level, Measured, Series, Trial

if TYPE_CHECKING:
    from collections.abc import Sequence

WARMUP, SECONDS = 2, 10
"""Of every trial; the warm-up is part of the seconds."""


@dataclass(frozen=True)
class Traffic:
    """What an endpoint did: requests per second, times of a lognormal distribution, and what failed."""

    rate: float
    median: float
    """ms"""
    sigma: float = 0.4
    size: float = 250.0
    failing: float = 0.0
    """Share of the requests."""
    status: int = 503
    second_mode: float | None = None
    """ms; of every twentieth request."""


def trial(
    variant: str,
    level: Level | None,
    traffic: dict[tuple[str, str], Traffic],
    *,
    repeat: int = 0,
    order: int = 0,
    seed: int = 0,
    **others: Any,
) -> Trial:
    """A run of our own: histograms, and the course second by second."""
    random = np.random.default_rng([seed, order])
    endpoints = tuple(_measured(key, each, random) for key, each in traffic.items())
    users = level.value if level is not None and level.unit == "users" else None
    offered = level.value if level is not None and level.unit == "/s" else None
    known = {
        "users": users,
        "offered": offered,
        "duration": float(SECONDS - WARMUP),
        "warmup": float(WARMUP),
        "generator": GeneratorHealth(lag_p99=0.21, delay_p99=0.35, cpu_max=0.41, achieved=0.9996, dropped=0),
        "observed": _observed(random, level.value if level else 10.0),
        "scenario": "5f0c",
        "facts": {"rows at the start": 200.0},
    }
    run = f"20261120-12{order // 60:02}-{order:04}"
    return Trial(
        id=run,
        variant=variant,
        level=level,
        repeat=repeat,
        order=order,
        endpoints=endpoints,
        total=_sum(endpoints),
        **(known | others),
    )


def _measured(key: tuple[str, str], traffic: Traffic, random: np.random.Generator) -> Measured:
    counts = random.poisson(traffic.rate * random.normal(1, 0.03), SECONDS)
    failed = random.binomial(counts, traffic.failing)
    total, seconds, means, maxima = Histogram(), [], [], []
    for second, count in enumerate(counts):
        times = random.lognormal(math.log(traffic.median * (1.6 if second < WARMUP else 1.0)), traffic.sigma, count)
        if traffic.second_mode:
            times[::20] = traffic.second_mode * random.lognormal(0, 0.05, len(times[::20]))
        histogram = Histogram()
        for each in times:
            histogram.record(max(1, round(each * 1000)))
        if second >= WARMUP:
            total.add(histogram)
        seconds.append(histogram)
        means.append(times.mean() if count else math.nan)
        maxima.append(times.max() if count else math.nan)
    course = Course(
        counts,
        failed,
        np.array(means),
        np.array(maxima),
        np.full(SECONDS, traffic.size),
        tuple(seconds),
        slice(WARMUP, None),
    )
    requests, failures = int(counts[WARMUP:].sum()), int(failed[WARMUP:].sum())
    kinds = (FailureKind("http", f"{traffic.status} Error for url {key[1]}", failures, traffic.status),)
    return Measured(
        *key,
        requests=requests,
        failures=failures,
        rate=requests / (SECONDS - WARMUP),
        mean=total.mean / 1000,
        min=total.min / 1000,
        max=total.max / 1000,
        size=traffic.size,
        outcomes={"success": requests - failures} | ({"http": failures} if failures else {}),
        kinds=kinds if failures else (),
        histogram=total,
        course=course,
    )


def _sum(endpoints: Sequence[Measured]) -> Measured:
    total = Histogram()
    for each in endpoints:
        assert each.histogram is not None
        total.add(each.histogram)
    courses = [each.course for each in endpoints if each.course is not None]
    seconds = []
    for second in range(SECONDS):
        histogram = Histogram()
        for course in courses:
            part = course.histograms[second]
            assert part is not None
            histogram.add(part)
        seconds.append(histogram)
    counts = np.sum([each.requests for each in courses], axis=0)
    with np.errstate(invalid="ignore"):
        means = np.nansum([each.means * each.requests for each in courses], axis=0) / counts
        sizes = np.nansum([each.sizes * each.requests for each in courses], axis=0) / counts
    course = Course(
        counts,
        np.sum([each.failures for each in courses], axis=0),
        means,
        np.nanmax([each.maxima for each in courses], axis=0),
        sizes,
        tuple(seconds),
        slice(WARMUP, None),
    )
    requests = sum(each.requests or 0 for each in endpoints)
    failures = sum(each.failures or 0 for each in endpoints)
    kinds = tuple(kind for each in endpoints for kind in each.kinds)
    sizes_of = [each.size or 0 for each in endpoints]
    return Measured(
        "",
        "Aggregated",
        requests=requests,
        failures=failures,
        rate=sum(each.rate or 0 for each in endpoints),
        mean=total.mean / 1000,
        min=total.min / 1000,
        max=total.max / 1000,
        size=float(np.average(sizes_of, weights=[each.requests or 1 for each in endpoints])),
        outcomes={"success": requests - failures} | ({"http": failures} if failures else {}),
        kinds=kinds,
        histogram=total,
        course=course,
    )


def _observed(random: np.random.Generator, load: float) -> tuple[Series, ...]:
    seconds = np.arange(SECONDS, dtype=np.float64)
    rss = 180 + 0.2 * seconds + random.normal(0, 0.5, SECONDS)
    cpu = np.minimum(1.0, load / 400) + random.normal(0, 0.02, SECONDS)
    return (
        Series("uvicorn", "rss", "MB", seconds, rss),
        Series("uvicorn", "cpu", "cores", seconds, cpu),
        Series("postgres", "cpu", "cores", seconds, cpu / 2),
    )

"""Seconds of a run in progress, made from a few numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll._engine import Histogram
from plimsoll.report.charts.live import LiveChartSet, Second

if TYPE_CHECKING:
    from plimsoll.report.charts.chart import Chart


def times(*milliseconds: float, count: int = 1) -> Histogram:
    histogram = Histogram()
    for each in milliseconds:
        histogram.record(max(1, round(each * 1000)), count)
    return histogram


def spread(count: int, median: float, sigma: float = 0.5, seed: int = 0) -> Histogram:
    """Lognormal; median in ms."""
    return times(*np.random.default_rng(seed).lognormal(math.log(median), sigma, count))


def second(number: int, requests: int = 100, *, ms: float = 10.0, failures: int = 0, **known: Any) -> Second:
    """All requests took as long as one another."""
    timed = times(ms, count=requests) if requests else Histogram()
    served = times(0.8 * ms, count=requests) if requests else Histogram()
    return Second(number, requests, failures, timed, served, **known)


def of_total(number: int, requests: int = 100, **known: Any) -> Second:
    """Of all endpoints together, with the generator's state."""
    states = {"users": 50, "in_flight": 20, "waiting": 3, "offered": requests + 2, "dropped": 0, "cpu": 0.3}
    late = {"lag": times(0.05, count=100), "delay": times(0.2, count=100)}
    return second(number, requests, **(states | late | known))


def live_set(seconds: int, *, is_open: bool = False, warmup: int = 0) -> LiveChartSet:
    charts = LiveChartSet(is_open=is_open, warmup=warmup, is_total=True)
    for number in range(seconds):
        charts.put(of_total(number, 100 + number % 7, failures=int(number == 40)))
    return charts


def until(chart: Chart) -> float:
    """The second that the axis of time ends at."""
    return next(each["value"] for each in chart.spec["params"] if each["name"] == "until")

"""BIMODAL: latencies with two modes, where a percentile in between describes neither."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from plimsoll._engine import Histogram
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import cells, grouped, rows_of
from plimsoll.stats.findings.subject import Subject, cell
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from plimsoll.stats.study import Measured, Study, Trial

DECADE = 0.05
"""Width of a bin in decades: 12 %, wider than the steps of tools with two digits above 20 ms."""
SCORE = 4.0
"""The lower peak is this many times the valley. Even wide lognormal distributions stayed below 3.1 (simulated)."""
LEAST_SHARE = 0.005
LEAST_COUNT = 20
"""Of the smaller part: fewer may be a few stray requests."""
LEAST_PEAK = 10.0
"""Requests in the lower peak's bin: smaller peaks occur in any long tail (simulated: with a gap beside them in up to 60
% of wide lognormal samples of 100)."""
LEAST_VALLEY = 0.5
"""An empty valley counts as half a request."""
LEAST_APART_MS = 10.0
"""Between two modes of otherwise similar requests: smaller distances come from scheduling on a busy machine."""
ALIKE = 0.2
"""Maximum relative difference between the counts of a mode and of failures, to attribute the mode to them."""
WIDE = 4.0
"""90th / 10th percentile of the requests on one side: if they are further apart, they have no place in common, so the
range is given instead of the peak."""


@dataclass(frozen=True, slots=True)
class Modes:
    score: float
    """Lower peak / valley."""
    split: float
    """ms of the valley."""
    low: float
    """ms of the lower mode."""
    high: float
    minor: float
    """Share of the smaller part."""
    above: float
    """Share of the slower part."""
    low_range: tuple[float, float]
    """ms: 10th and 90th percentile of the faster part."""
    high_range: tuple[float, float]

    @property
    def is_bimodal(self) -> bool:
        return self.score >= SCORE


@dataclass(frozen=True, slots=True)
class TwoModes(Finding):
    """Latencies with two peaks."""

    id = "BIMODAL"
    subject: Subject
    score: float
    split_ms: float
    modes_ms: tuple[float, float]
    minor: float
    low_range_ms: tuple[float, float]
    high_range_ms: tuple[float, float]
    above: float
    """Share of the slower part; the others are as in `Modes`."""
    failed: Literal["low", "high"] | None
    """The mode that consists of the failed requests, if any."""


@dataclass(frozen=True, slots=True)
class MixedEndpoints(Finding):
    """Two groups of endpoints whose times do not overlap."""

    id = "BIMODAL"
    subject: Subject
    fast_max_ms: float
    slow_min_ms: float
    minor: float
    """Share of the smaller part of the requests."""
    fast: tuple[str, ...]
    """Labels of the endpoints."""
    slow: tuple[str, ...]
    is_failed: bool
    """Whether most requests of one of the two groups failed."""


def bimodal(study: Study) -> Iterable[Finding]:
    for trials in cells(study):
        for same in grouped(trials, rows_of):
            found = _cell(study, same)
            if found is not None:
                yield found


def _cell(study: Study, rows: Sequence[tuple[Trial, Measured]]) -> Finding | None:
    trial, row = rows[0]
    histograms = [each.histogram for _, each in rows if each.histogram is not None]
    if len(histograms) == len(rows):
        merged = Histogram()
        for histogram in histograms:
            merged.add(histogram)
        found = modes(merged.buckets())
        if found is not None and found.is_bimodal:
            failed = _failed([each for _, each in rows], found)
            if failed or found.high - found.low >= LEAST_APART_MS:
                return _two(study, trial, row, found, failed)
    return _mixed(study, trial) if row.key == TOTAL else None


def modes(buckets: Sequence[tuple[float, int]]) -> Modes | None:
    """The best split of a histogram, buckets (µs, count); None if no split leaves enough on both sides."""
    if not buckets:
        return None
    values, counts = np.array(buckets, dtype=float).T
    logs = np.log10(np.maximum(values, 1.0) / 1000)
    first = math.floor(logs.min() / DECADE) - 1
    bins = np.floor(logs / DECADE).astype(int) - first
    heights = np.bincount(bins, weights=counts, minlength=int(bins.max()) + 2)
    smooth = np.convolve(heights, (0.25, 0.5, 0.25), mode="same")
    enough = max(LEAST_COUNT, LEAST_SHARE * counts.sum())
    best = None
    for valley in range(1, len(smooth) - 1):
        below, above = float(heights[:valley].sum()), float(heights[valley + 1 :].sum())
        if min(below, above) < enough:
            continue
        left, right = int(smooth[:valley].argmax()), valley + 1 + int(smooth[valley + 1 :].argmax())
        peak = float(min(smooth[left], smooth[right]))
        score = peak / max(float(smooth[valley]), LEAST_VALLEY)
        if peak < LEAST_PEAK:
            continue
        if best is None or score > best.score:
            total = float(counts.sum())
            mode = _ms(first + valley), _ms(first + left), _ms(first + right)
            ranges = _range(heights[:valley], first), _range(heights[valley + 1 :], first + valley + 1)
            best = Modes(score, *mode, min(below, above) / total, above / total, *ranges)
    return best


def _range(heights: NDArray[Any], first: int) -> tuple[float, float]:
    """ms: 10th and 90th percentile of these bins."""
    shares = np.cumsum(heights) / heights.sum()
    low, high = (first + int(np.searchsorted(shares, q)) for q in (0.1, 0.9))
    return _ms(low), _ms(high)


def _ms(index: int) -> float:
    """The middle of a bin."""
    return float(10 ** ((index + 0.5) * DECADE))


def _failed(rows: Sequence[Measured], found: Modes) -> Literal["low", "high"] | None:
    """The mode that consists of the failed requests, if any."""
    requests, failures = sum(row.requests or 0 for row in rows), sum(row.failures or 0 for row in rows)
    times = [(row.mean_failure, row.mean_success) for row in rows if row.mean_failure and row.mean_success]
    if not times or not requests:
        return None
    failed, succeeded = (sum(each) / len(each) for each in zip(*times, strict=True))
    is_high = failed > found.split
    if (succeeded > found.split) == is_high:
        return None
    share = found.above if is_high else 1 - found.above
    if abs(failures / requests / share - 1) > ALIKE:
        return None
    return "high" if is_high else "low"


def _two(study: Study, trial: Trial, row: Measured, found: Modes, failed: Literal["low", "high"] | None) -> Finding:
    is_all = row.key == TOTAL
    return TwoModes(
        cell(study, trial, "" if is_all else row.label),
        score=found.score,
        split_ms=found.split,
        modes_ms=(found.low, found.high),
        minor=found.minor,
        low_range_ms=found.low_range,
        high_range_ms=found.high_range,
        above=found.above,
        failed=failed,
        where=Where.of(trial, row.key, kinds=("quantile",) if is_all else ()),
        weight="blocks" if is_all and failed else "insight",
    )


def _mixed(study: Study, trial: Trial) -> Finding | None:
    """Two endpoints of a table, by their extremes."""
    parts = [row for row in trial.endpoints if row.min is not None and row.max is not None and row.requests]
    total = sum(row.requests or 0 for row in parts)
    if len(parts) < 2 or len(parts) < len(trial.endpoints):
        return None
    by_time = sorted(parts, key=lambda row: row.max or 0.0)
    # The least time of each row and all slower ones, so that thousands of endpoints take one pass.
    least = list(accumulate((row.min or 0.0 for row in reversed(by_time)), min))[::-1]
    up_to = list(accumulate(row.requests or 0 for row in by_time))
    for cut in range(1, len(by_time)):
        top, bottom = by_time[cut - 1].max or 0.0, least[cut]
        counts = up_to[cut - 1], total - up_to[cut - 1]
        if top >= bottom or min(counts) < max(LEAST_COUNT, LEAST_SHARE * total):
            continue
        fast, slow = by_time[:cut], by_time[cut:]
        failures = [sum(row.failures or 0 for row in part) for part in (fast, slow)]
        is_failed = any(failed > count / 2 for failed, count in zip(failures, counts, strict=True))
        return MixedEndpoints(
            cell(study, trial),
            fast_max_ms=top,
            slow_min_ms=bottom,
            minor=min(counts) / total,
            fast=tuple(row.label for row in fast),
            slow=tuple(row.label for row in slow),
            is_failed=is_failed,
            where=Where.of(trial, TOTAL, kinds=("quantile",)),
            weight="blocks" if is_failed else "insight",
        )
    return None

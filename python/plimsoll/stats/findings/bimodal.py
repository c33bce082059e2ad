"""BIMODAL: latencies of two kinds, which a percentile between them describes neither of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plimsoll._engine import Histogram
from plimsoll.stats.findings import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import cells, grouped, rows_of
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.study import Measured, Study, Trial

DECADE = 0.05
"""Width of a bin in decades: 12 %, wider than the steps of tools with two digits above 20 ms."""
SCORE = 4.0
"""The lower peak is so many times the valley. Lognormal distributions, however wide, stayed below 3.1
(simulated)."""
LEAST_SHARE = 0.005
LEAST_COUNT = 20
"""Of the smaller part: fewer may be a few stray requests."""
LEAST_PEAK = 10.0
"""Requests in the lower peak's bin: lower ones come about in any long tail (simulated: with a gap beside them in up to
60 % of wide lognormal samples of 100)."""
LEAST_VALLEY = 0.5
"""An empty valley counts as half a request."""
WAITS_MS = (
    (200.0, "TCP's shortest retransmission timeout"),
    (1_000.0, "a lost SYN"),
    (5_000.0, "a DNS query's timeout"),
)
"""Distances between modes that have a well-known reason, which stays a hypothesis."""
NEAR = 0.15
"""How near to such a distance the modes have to be apart: their peaks are known to a bin."""
RULE = (
    f"in bins of {DECADE:g} decades, smoothed, the lower of two peaks is at least {SCORE:g} times the valley between "
    f"them, with at least {LEAST_SHARE * 100:g} % and {LEAST_COUNT} requests on each side: percentiles in between are "
    "of neither kind"
)
MIXED = "endpoints whose times do not overlap at all are two populations: a percentile of both moves with their mix"


@dataclass(frozen=True, slots=True)
class Modes:
    score: float
    """Lower peak / valley."""
    split: float
    """ms of the valley."""
    low: float
    """ms of the mode below."""
    high: float
    minor: float
    """Share of the smaller part."""

    @property
    def is_bimodal(self) -> bool:
        return self.score >= SCORE


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
            return _two(study, trial, row, found)
    return _mixed(study, trial) if row.key == TOTAL else None


def modes(buckets: Sequence[tuple[float, int]]) -> Modes | None:
    """The best split of a histogram, buckets (µs, count); None where no split leaves enough on both sides."""
    if not buckets:
        return None
    logs = np.log10(np.array([max(value, 1.0) for value, _ in buckets]) / 1000)
    counts = np.array([count for _, count in buckets], dtype=float)
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
            minor = min(below, above) / counts.sum()
            best = Modes(score, _ms(first + valley), _ms(first + left), _ms(first + right), float(minor))
    return best


def _ms(index: int) -> float:
    """Of a bin's middle."""
    return float(10 ** ((index + 0.5) * DECADE))


def _two(study: Study, trial: Trial, row: Measured, found: Modes) -> Finding:
    is_all = row.key == TOTAL
    place = wording.cell(study, trial, "" if is_all else row.label)
    who = f"{place + ': ' if place else ''}all endpoints together have" if is_all else f"{place or row.label} has"
    apart = found.high - found.low
    reason = next((name for wait, name in WAITS_MS if abs(apart / wait - 1) <= NEAR), None)
    hypothesis = f"; they are {wording.ms(apart)} apart: hypothesis: {reason}" if reason else ""
    return Finding(
        "BIMODAL",
        "blocks" if is_all else "insight",
        f"{who} two kinds of latencies, around {wording.ms(found.low)} and around {wording.ms(found.high)} "
        f"({wording.percent(found.minor)} in the smaller part){hypothesis}.",
        Where(trial.variant, trial.level, trial.operation, row.key, kinds=("quantile",) if is_all else ()),
        RULE,
        {"score": found.score, "split_ms": found.split, "modes_ms": (found.low, found.high), "minor": found.minor},
        "Compare the endpoints one by one." if is_all else "Find out what the slower ones have in common.",
    )


def _mixed(study: Study, trial: Trial) -> Finding | None:
    """Two endpoints of a table, by their extremes."""
    parts = [row for row in trial.endpoints if row.min is not None and row.max is not None and row.requests]
    total = sum(row.requests or 0 for row in parts)
    if len(parts) < 2 or len(parts) < len(trial.endpoints):
        return None
    by_time = sorted(parts, key=lambda row: row.max or 0.0)
    for cut in range(1, len(by_time)):
        fast, slow = by_time[:cut], by_time[cut:]
        top, bottom = max(row.max or 0.0 for row in fast), min(row.min or 0.0 for row in slow)
        minor = min(sum(row.requests or 0 for row in part) for part in (fast, slow))
        place = wording.cell(study, trial)
        if top < bottom and minor >= max(LEAST_COUNT, LEAST_SHARE * total):
            return Finding(
                "BIMODAL",
                "blocks",
                f"{place + ': ' if place else ''}percentiles of all together mix "
                f"{wording.several([row.label for row in fast])} (none above {wording.ms(top)}) with "
                f"{wording.several([row.label for row in slow])} (none below {wording.ms(bottom)}): they say nothing "
                "of either.",
                Where(trial.variant, trial.level, trial.operation, TOTAL, kinds=("quantile",)),
                MIXED,
                {"fast_max_ms": top, "slow_min_ms": bottom, "minor": minor / total},
                "Compare the endpoints one by one.",
            )
    return None

"""RETRO: throughput that falls with more load, and falls that are not established."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.capacity.knee import LEAST_RUNGS, knee
from plimsoll.stats.compare.pairs import benjamini_hochberg
from plimsoll.stats.distributions.binomial import binomial_p
from plimsoll.stats.distributions.normal import normal_cdf
from plimsoll.stats.distributions.student import welch_p
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.ladders import (
    LEAST_RUNS,
    RUN_SPREAD,
    half_width,
    of_endpoints,
    run_spread,
    totals,
    users_of,
)
from plimsoll.stats.findings.subject import Subject, subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.findings.ladders import Ladder, Rung
    from plimsoll.stats.study import Level, Study

FALLEN = 0.9
"""Of the highest throughput: a fall of 10 % exceeds the usual scatter of runs."""
LEAST_BEYOND = 2
"""Rungs beyond the peak that have fallen: a single one may be an accident."""
SINGLE_RUN = 1.96 * RUN_SPREAD
"""Half a 95 % interval of ln X of a level with one run."""
ALARM = 0.05
"""Adjusted p below which a fall counts as real."""


@dataclass(frozen=True, slots=True)
class _Fall:
    ladder: Ladder
    peak: int
    rungs: tuple[Rung, ...]
    rates: tuple[float, ...]
    p: float | None
    """Of no fall from the peak to the last rung."""

    @property
    def apart(self) -> int:
        """Fallen rungs beyond the peak whose interval is entirely below the peak's."""
        scatter = _scatter(self.rungs, self.rates)
        if not is_repeated(self.rungs):
            scatter = max(scatter or 0.0, SINGLE_RUN)
        top = self.rungs[self.peak].interval(scatter)
        found = 0
        for rung, rate in zip(self.rungs[self.peak + 1 :], self.rates[self.peak + 1 :], strict=True):
            own = rung.interval(scatter)
            found += rate <= FALLEN * self.rates[self.peak] and own is not None and top is not None and own[1] < top[0]
        return found


@dataclass(frozen=True, slots=True)
class Collapse(Finding):
    """Throughput that falls with more load."""

    id = "RETRO"
    subject: Subject
    peak: float
    """The load with the highest throughput."""
    loads: tuple[float, float]
    """Of the peak and of the last level."""
    rates_per_s: tuple[float, ...]
    """From the peak on."""
    ratio: float
    """Of the last to the highest throughput."""
    levels_apart: int
    """Levels beyond the peak that are certainly below it."""
    q: float | None
    """Adjusted p of no fall."""
    levels: tuple[Level, Level]
    """The peak and the last."""
    has_counts: bool


@dataclass(frozen=True, slots=True)
class OpenFall(Finding):
    """A fall of throughput that is not established. Other fields are those of `Collapse`."""

    id = "RETRO"
    subject: Subject
    ratio: float
    levels_apart: int
    loads: tuple[float, float]
    p: float | None
    """Of no fall, before it is adjusted for the family."""
    q: float | None
    family: int | None
    """Ladders that were tested."""
    ratio_with_unfinished: float | None
    """The ratio if each user's last request, cut off by the end, counts as half done."""
    rates_per_s: tuple[float, float]
    """At the peak and at the last level."""
    levels: tuple[Level, Level]


def retrograde(study: Study) -> Iterable[Finding]:
    falls = [fall for ladder in _ladders(study) if (fall := _fall(ladder)) is not None]
    tested = [fall for fall in falls if fall.p is not None]
    adjusted = dict(zip(map(id, tested), benjamini_hochberg([fall.p or 0.0 for fall in tested]), strict=True))
    for fall in falls:
        if fall.rates[-1] > FALLEN * fall.rates[fall.peak]:
            continue
        q = adjusted.get(id(fall))
        if fall.apart >= LEAST_BEYOND and (q is None or q <= ALARM):
            yield _established(study, fall, q)
        else:
            yield _open(study, fall, q, len(tested))


def _ladders(study: Study) -> Iterable[Ladder]:
    """All endpoints together, because the users' mix is fixed; with several operations, the endpoint with the longest
    times, because quick accompanying ones only count double."""
    if len(study.operations) == 1:
        yield from totals(study)
        return
    parts: dict[tuple[str, str], list[Ladder]] = {}
    for part in of_endpoints(study):
        parts.setdefault((part.variant, part.operation), []).append(part)
    for ladder in totals(study):
        same = [
            part
            for part in parts.get((ladder.variant, ladder.operation), [])
            if len(part.rungs) == len(ladder.rungs) and part.unit == ladder.unit
        ]
        yield max(same, key=lambda part: sum(rung.mean or 0.0 for rung in part.rungs), default=ladder)


def _fall(ladder: Ladder) -> _Fall | None:
    rungs, rates = ladder.with_rates()
    if len(rungs) < 2:
        return None
    peak = max(range(len(rates)), key=lambda index: rates[index])
    if peak == len(rates) - 1:
        # Nothing fell; it still counts as a test, so that the family includes all ladders.
        return _Fall(ladder, peak, rungs, tuple(rates), 1.0)
    return _Fall(ladder, peak, rungs, tuple(rates), fall_p(rungs, rates))


def _established(study: Study, fall: _Fall, q: float | None) -> Finding:
    peak, last = fall.rungs[fall.peak], fall.rungs[-1]
    top, bottom = fall.rates[fall.peak], fall.rates[-1]
    return Collapse(
        subject(study, fall.ladder.variant, fall.ladder.operation, fall.ladder.label),
        peak=peak.load,
        loads=(peak.load, last.load),
        rates_per_s=fall.rates[fall.peak :],
        ratio=bottom / top,
        levels_apart=fall.apart,
        q=q,
        levels=(peak.level, last.level),
        has_counts=peak.requests is not None,
        where=Where(fall.ladder.variant, None, fall.ladder.operation),
        weight="warning",
    )


def _open(study: Study, fall: _Fall, q: float | None, family: int) -> Finding:
    peak, last = fall.rungs[fall.peak], fall.rungs[-1]
    is_tested = fall.p is not None and q is not None
    return OpenFall(
        subject(study, fall.ladder.variant, fall.ladder.operation, fall.ladder.label),
        ratio=fall.rates[-1] / fall.rates[fall.peak],
        levels_apart=fall.apart,
        loads=(peak.load, last.load),
        p=fall.p if is_tested else None,
        q=q if is_tested else None,
        family=family if is_tested else None,
        ratio_with_unfinished=_with_unfinished(peak, last),
        rates_per_s=(fall.rates[fall.peak], fall.rates[-1]),
        levels=(peak.level, last.level),
        where=Where(fall.ladder.variant, None, fall.ladder.operation, fall.ladder.key if fall.ladder.label else None),
        weight="insight",
    )


def _scatter(rungs: Sequence[Rung], rates: Sequence[float]) -> float | None:
    """Distance of rungs from a · N below the knee: half a 95 % interval of ln X. In tables without counts it is the
    only measure of the scatter between runs."""
    bend = knee([rung.load for rung in rungs], rates)
    if bend is None:
        return None
    logs = [
        math.log(rate / (bend.slope * rung.load))
        for rung, rate in zip(rungs, rates, strict=True)
        if rung.load <= bend.low
    ]
    return half_width(logs) if len(logs) >= LEAST_RUNGS else None


def fall_p(rungs: Sequence[Rung], rates: Sequence[float]) -> float | None:
    """p of no fall from the level with the highest throughput to the last one. None: how runs differ is unknown."""
    peak = max(range(len(rates)), key=lambda index: rates[index])
    p = _p(rungs[peak], rungs[-1], run_spread(rungs)[0])
    # The peak is the highest of all levels, also where nothing falls.
    return None if p is None else min(1.0, p * (len(rungs) - 1))


def is_repeated(rungs: Sequence[Rung]) -> bool:
    return min(len(rung.rates) for rung in rungs) >= LEAST_RUNS


def _p(peak: Rung, last: Rung, spread: float) -> float | None:
    """Two-sided; over runs by Welch's t test on logarithms, else of two counts of runs that differ by `spread`."""
    if min(len(peak.rates), len(last.rates)) >= LEAST_RUNS and min(last.rates) > 0:
        if not _scatters(peak.rates) and not _scatters(last.rates):
            # Identical repeats do not show how runs differ.
            return None
        logs = [[math.log(rate) for rate in rung.rates] for rung in (peak, last)]
        return welch_p(*logs)
    first, second = peak.successes, last.successes
    if not first or second is None or not peak.seconds or not last.seconds:
        return None
    counted = binomial_p(second, first + second, last.seconds / (peak.seconds + last.seconds))
    if not second:
        return counted
    fall = math.log(second / last.seconds) - math.log(first / peak.seconds)
    off = spread * math.sqrt(1 / len(peak.trials) + 1 / len(last.trials))
    return max(counted, 2 * normal_cdf(-abs(fall) / off))


def _scatters(rates: Sequence[float]) -> bool:
    return max(rates) > min(rates) * (1 + 1e-9)


def _with_unfinished(peak: Rung, last: Rung) -> float | None:
    """The ratio of throughputs if each user's last request, cut off by the end, counts as half done."""
    if any(rung.requests is None or not rung.seconds or rung.level.unit != "users" for rung in (peak, last)):
        return None
    done = [
        ((rung.successes or 0) + len(rung.trials) * users_of(rung) / 2) / (rung.seconds or 1) for rung in (peak, last)
    ]
    return done[1] / done[0]

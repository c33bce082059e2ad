"""LEAK and CRASH: memory that keeps growing, and targets that end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from plimsoll.stats import wording
from plimsoll.stats.distributions.trends import theil_sen
from plimsoll.stats.findings.finding import Finding, Where

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from plimsoll.stats.study import Series, Study, Trial

GROWS = 0.05
"""Of the median, over the run: smaller changes are normal for allocators."""
LEAST_SAMPLES = 20
"""Ten in each half."""
MOST_SAMPLES = 600
"""All pairs are compared; more samples are reduced to means."""
HOUR = 3600.0
MEMORY = ("rss", "memory")
RULE = (
    "the slope of resident memory after the warm-up (Theil–Sen) is certainly (95 %) above 0 in the whole run and in "
    f"its second half, and amounts to more than {GROWS * 100:.0f} % of the median: a cache fills and stops, a leak "
    "does not"
)


@dataclass(frozen=True, slots=True)
class Growth:
    """Slopes in the unit of the series per hour, each with its 95 % interval."""

    word: Literal["leak", "plateau", "none"]
    slope: float
    low: float
    high: float
    second_half: tuple[float, float, float]
    """Slope, low, high."""
    share: float
    """Increase from its first tenth to its last, relative to its median."""
    ends: tuple[float, float] = (0.0, 0.0)
    """Medians of its first tenth and of its last."""


def growth_of(seconds: ArrayLike, values: ArrayLike) -> Growth | None:
    """None for fewer than `LEAST_SAMPLES`."""
    t, y = np.asarray(seconds, dtype=float), np.asarray(values, dtype=float)
    if len(t) < LEAST_SAMPLES:
        return None
    t, y = _thinned(t), _thinned(y)
    whole, second = _slope(t, y), _slope(t[len(t) // 2 :], y[len(y) // 2 :])
    median = float(np.median(y))
    tenth = max(1, len(y) // 10)
    ends = float(np.median(y[:tenth])), float(np.median(y[-tenth:]))
    share = (ends[1] - ends[0]) / median if median else 0.0
    grows = whole[1] > 0 and share > GROWS
    word: Literal["leak", "plateau", "none"] = ("leak" if second[1] > 0 else "plateau") if grows else "none"
    return Growth(word, *whole, second, share, ends)


def leaks(study: Study) -> Iterable[Finding]:
    for trial in study.trials:
        for series in trial.observed:
            if series.name not in MEMORY:
                continue
            warm = series.seconds >= trial.warmup
            found = growth_of(series.seconds[warm], series.values[warm])
            if found is not None and found.word != "none":
                yield _finding(study, trial, series, found)


def crashes(study: Study) -> Iterable[Finding]:
    for trial in study.trials:
        if trial.crashed is None:
            continue
        yield Finding(
            "CRASH",
            "warning",
            f"{wording.place(study, trial)}: the target ended during the run{_memory(trial)}: "
            f"{trial.crashed.rstrip('.')}.",
            Where(trial.variant, trial.level, trial.operation, None, trial.id),
            "a target that ends by itself while it is loaded is a result, not a run to be left out",
            {"how": trial.crashed, **_ended(trial)},
            "Look at its last log lines, and at its memory up to there.",
        )


def _memory(trial: Trial) -> str:
    """ ", at 1.2 GiB of memory"; "" where it was not observed."""
    series = [each for each in trial.observed if each.name in MEMORY and len(each.values)]
    if not series:
        return ""
    largest = max(series, key=lambda each: float(np.nanmax(each.values)))
    return f", at {wording.quantity(float(np.nanmax(largest.values)), largest.unit)} of memory"


def _ended(trial: Trial) -> dict[str, float | str | tuple[float, ...]]:
    """The time of the last success in seconds since second 0, if it is visible."""
    course = trial.total.course if trial.total is not None else None
    if course is None:
        return {}
    fine = np.flatnonzero(course.requests > course.failures)
    return {"at_s": (float(fine[-1] + 1),)} if len(fine) and fine[-1] + 1 < len(course) else {}


def _finding(study: Study, trial: Trial, series: Series, found: Growth) -> Finding:
    slope = f"{wording.quantity(found.slope, series.unit)}/h"
    second = found.second_half
    evidence: dict[str, float | str | tuple[float, ...]] = {
        "slope_per_h": found.slope,
        "interval_per_h": (found.low, found.high),
        "second_half_per_h": second,
        "share": found.share,
        "from": found.ends[0],
        "to": found.ends[1],
        **_line(trial, series, found.slope),
    }
    where = Where(trial.variant, trial.level, trial.operation, None, trial.id)
    place = f"{wording.place(study, trial)}: {series.source} {series.name}"
    ends = " to ".join(wording.quantity(each, series.unit) for each in found.ends)
    if found.word == "plateau":
        return Finding(
            "LEAK",
            "insight",
            f"{place} grows from {ends} and levels off in its second half.",
            where,
            RULE,
            evidence,
            "If it should not grow at all, look at what is kept while it warms up.",
        )
    return Finding(
        "LEAK",
        "warning",
        f"{place} grows from {ends} during the run ({slope}) and does not level off: a leak, "
        "unless what it keeps has a bound that was not reached.",
        where,
        RULE,
        evidence,
        "A longer run tells the two apart; a heap profile tells what is kept.",
    )


def _line(trial: Trial, series: Series, slope: float) -> dict[str, tuple[float, ...]]:
    """The slope as a line through the medians: its ends in seconds, and its values there."""
    warm = series.seconds >= trial.warmup
    t, y = series.seconds[warm], series.values[warm]
    ends = float(t[0]), float(t[-1])
    return {
        "between_s": ends,
        f"line_{series.unit}": tuple(float(np.median(y) + slope / HOUR * (end - np.median(t))) for end in ends),
    }


def _slope(t: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float, float]:
    found = theil_sen(t, y)
    return found.value * HOUR, found.low * HOUR, found.high * HOUR


def _thinned(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of neighbours, `MOST_SAMPLES` at most."""
    width = -(-len(values) // MOST_SAMPLES)
    whole = values[: len(values) // width * width]
    means: NDArray[np.float64] = whole.reshape(-1, width).mean(axis=1)
    return means

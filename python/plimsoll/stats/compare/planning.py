"""The number of pairs of runs needed, their length, and interim looks at the results."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

from plimsoll.stats.compare.pairs import ALPHA, LEAST
from plimsoll.stats.distributions.normal import normal_cdf, normal_quantile, root
from plimsoll.stats.distributions.student import t_beyond, t_quantile

POWER = 0.8
MOST = 1_000_000
"""Pairs. An experiment that needs more needs a quieter machine instead."""
DOMINATES = 2.0
"""Variance within runs divided by that between them, above which longer runs gain more than additional ones."""


def resolves(spread: float, pairs: int, alpha: float = ALPHA) -> float:
    """The relative difference that this many pairs distinguish from none: half the interval, t(k−1) · s / √k.

    spread: standard deviation of ln(b/a) between pairs. pairs ≥ 2.
    """
    return math.expm1(_half(spread, pairs, alpha))


def pairs_needed(spread: float, delta: float, alpha: float = ALPHA) -> int:
    """The fewest pairs, from `LEAST` to `MOST`, whose interval reaches no further than ln(1 + delta) to either side:
    t(K−1) · s / √K. Enough to distinguish an observed difference of delta from none; `pairs_for_power` returns the
    number that is likely to observe it."""
    goal = math.log1p(delta)
    low, high = LEAST - 1, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _half(spread, middle, alpha) <= goal else (middle, high)
    return high


def pairs_for_power(spread: float, delta: float, power: float = POWER, alpha: float = ALPHA) -> float | None:
    """Pairs, not rounded, with which the paired t test finds a true difference of delta with this probability.

    None: more than `MOST`. At least 2. By the noncentral t distribution (Cohen, Statistical Power Analysis, 2nd ed.,
    chapter 2).
    """
    if spread <= 0:
        return 2.0
    effect = math.log1p(delta) / spread

    def missing(pairs: float) -> float:
        return _power(effect, pairs, alpha) - power

    if missing(2.0) >= 0:
        return 2.0
    # A normal approximation nearly brackets the result: t needs a few more, and many more for a small alpha.
    rough = 10 + 20 / effect**2
    while rough <= MOST and missing(rough) < 0:
        rough *= 2
    return root(missing, 2.0, rough) if rough <= MOST else None


def minutes(pairs: int, duration: float, gap: float) -> float:
    """The time for this many pairs of runs of `duration` seconds with `gap` seconds around each."""
    return pairs * 2 * (duration + gap) / 60


def longer_runs(within: float, spread: float) -> bool:
    """Whether longer runs help more than additional ones.

    within: variance of ln(b/a) in a pair that comes from the chance within its two runs, w. The variance between pairs
    is s² = w + 2σ_b²; longer runs reduce only w. Yes if w / (2σ_b²) > 2.
    """
    between = spread**2 - within
    return between <= 0 or within / between > DOMINATES


def best_duration(within: float, duration: float, spread: float, setup: float) -> float | None:
    """The best length of a run in seconds: √(w₁ · T₀ / σ_b²), with w₁ the variance within one run times its seconds, T₀
    the seconds of its setup, σ_b² the variance between runs. None: no variance between runs is visible, so the longer
    the better.

    within and spread as for `longer_runs`. Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013,
    section 9.2: the length with the shortest interval for the available time.
    """
    between = (spread**2 - within) / 2
    if between <= 0:
        return None
    return math.sqrt(within / 2 * duration * setup / between)


@cache
def look_alphas(looks: int) -> tuple[float, ...]:
    """p at which each of this many evenly spaced looks may end the experiment, with at most 5 % false alarms over all
    looks.

    Each look has what the spending function of O'Brien and Fleming's kind, 2 − 2Φ(z / √t), adds since the one before
    (Lan and DeMets, Biometrika 70, 1983). That these add up to 5 % needs no assumption about how the looks depend on
    one another, and so holds for t tests of few pairs as well.
    """
    z = -normal_quantile(ALPHA / 2)
    spent = [2 * normal_cdf(-z / math.sqrt(look / looks)) for look in range(1, looks)]
    return tuple(after - before for before, after in pairwise([0.0, *spent, ALPHA]))


def look_of(pairs: int, planned: int | None, looks: int) -> int:
    """The number of the look, from 1, with this many of the planned pairs; the last one if the plan is unknown."""
    if planned is None or pairs >= planned:
        return looks
    return max(1, pairs * looks // planned)


def _power(effect: float, pairs: float, alpha: float) -> float:
    """Probability that |t| exceeds its bound at a true mean of `effect` standard deviations."""
    return t_beyond(pairs - 1, effect * math.sqrt(pairs), -t_quantile(pairs - 1, alpha / 2))


def _half(spread: float, pairs: int, alpha: float) -> float:
    return -t_quantile(pairs - 1, alpha / 2) * spread / math.sqrt(pairs)

"""The number of pairs of runs needed, their length, and interim looks at the results."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from plimsoll.stats.compare.pairs import ALPHA, LEAST
from plimsoll.stats.distributions.normal import normal_cdf, root
from plimsoll.stats.distributions.student import t_beyond, t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

POWER = 0.8
MOST = 1_000_000
"""Pairs. An experiment that needs more needs a quieter machine instead."""
DOMINATES = 2.0
"""Variance within runs divided by that between them, above which longer runs gain more than additional ones."""
MOST_LOOKS = 4


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
    # A normal approximation brackets the result: t needs a few more.
    rough = 10 + 20 / effect**2
    if rough > MOST:
        return None
    return root(missing, 2.0, rough)


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
def obf_thresholds(looks: int) -> tuple[float, ...]:
    """p at which each of this many evenly spaced looks may end the experiment, for 5 % false alarms over all looks.

    O'Brien and Fleming, Biometrics 35, 1979: |z_j| ≥ c · √(looks / j), which for the sum of the pairs is a constant
    bound. As p-values they apply to t tests too (Jennison and Turnbull 1999, section 4.4). Raises ValueError for more
    than 4.
    """
    if not 1 <= looks <= MOST_LOOKS:
        raise ValueError(f"{looks} looks: from 1 to {MOST_LOOKS} can be declared")
    constant = root(lambda c: _crossing(c * math.sqrt(looks), looks) - ALPHA, 1.5, 3.0)
    return tuple(2 * normal_cdf(-constant * math.sqrt(looks / look)) for look in range(1, looks + 1))


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


def _crossing(bar: float, steps: int) -> float:
    """Probability that a walk of this many standard normal steps is ever beyond ±bar: the density of the walks still
    within is computed step by step on a grid."""
    import numpy as np

    nodes, weights = np.polynomial.legendre.leggauss(60)
    nodes, weights = nodes * bar, weights * bar
    density = _normal(nodes)
    for _ in range(steps - 1):
        density = _normal(nodes[:, None] - nodes[None, :]) @ (weights * density)
    return 1 - float(weights @ density)


def _normal(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Density of the standard normal distribution."""
    import numpy as np

    density: NDArray[np.float64] = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    return density

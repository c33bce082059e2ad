"""Is b slower than a, or are they equivalent? Answers from pairs of runs, one of each.

The unit of evidence is the run: requests of one run share its machine, its memory layout and its time. Nominal 95 %
intervals from pooled requests contain the truth in half the cases (tests/stats/coverage.py: 6 % between runs).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from plimsoll.stats.distributions.student import t_cdf, t_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.study import Noise

ALPHA = 0.05
LEAST = 3
"""Pairs without which a t interval is almost meaningless: with two, it rests on a single difference."""
MODERATED = 3
"""Up to this many pairs, the bench's A/A history is used if there is one: their own spread is too uncertain."""
MOST_FLIPPED = 20
"""Pairs up to which all 2^k signs are tried."""

Verdict = Literal["different", "negligible", "equivalent", "not distinguishable"]


@dataclass(frozen=True, slots=True)
class PairedResult:
    """The statistics of pair differences, in their own scale: ln(b/a), or b − a."""

    pairs: int
    centre: float
    """Their mean."""
    error: float
    """Standard error of the mean."""
    freedom: float
    """Degrees of freedom of the error."""
    spread: float
    """The standard deviation behind the error; includes the history if it was used."""
    p_flip: float | None = None
    """Of no difference, by flipping signs; None for more than `MOST_FLIPPED` pairs."""
    with_history: bool = False
    alpha: float = ALPHA
    below: float = 0.0
    """How much lower than the mean difference the truth may be for a reason that more pairs do not remove."""
    above: float = 0.0
    """How much higher."""

    @property
    def p(self) -> float:
        """Of no difference, two-sided, by t; for the part of the difference beyond `below` or `above`."""
        certain = max(0.0, self.centre - self.below, -self.centre - self.above)
        if not self.error:
            return 1.0 if not certain else 0.0
        return 2 * t_cdf(self.freedom, -certain / self.error)

    @property
    def interval(self) -> tuple[float, float]:
        """At the level 1 − alpha."""
        return self._interval(self.alpha)

    def p_beyond(self, margin: float) -> float:
        """Of a true difference of `margin` or more to either side: the larger p of the two one-sided t tests (TOST;
        Schuirmann, J. Pharmacokin. Biopharm. 15, 1987)."""
        farthest = max(self.centre + self.above, self.below - self.centre)
        if not self.error:
            return 0.0 if farthest < margin else 1.0
        return t_cdf(self.freedom, (farthest - margin) / self.error)

    def is_within(self, margin: float) -> bool:
        """Whether the interval at 1 − 2 · alpha is within ±margin."""
        return self.p_beyond(margin) < self.alpha

    def verdict(self, margin: float) -> tuple[Verdict, bool]:
        """The word, and whether the whole interval is beyond ±margin."""
        low, high = self.interval
        if low <= 0 <= high:
            return ("equivalent" if self.is_within(margin) else "not distinguishable"), False
        if min(abs(low), abs(high)) >= margin:
            return "different", True
        return ("negligible" if self.is_within(margin) else "different"), False

    def _interval(self, alpha: float) -> tuple[float, float]:
        half = -t_quantile(self.freedom, alpha / 2) * self.error
        return self.centre - half - self.below, self.centre + half + self.above


def log_ratios(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """ln(b/a) pair by pair. Raises ValueError for a value that is not above 0, or lists of different length."""
    if any(not each > 0 for each in (*a, *b)):
        raise ValueError("only values above 0 have a ratio")
    return [math.log(y / x) for x, y in zip(a, b, strict=True)]


def paired(
    differences: Sequence[float], *, floor: float = 0.0, history: Noise | None = None, alpha: float = ALPHA
) -> PairedResult | None:
    """The mean difference with its t interval: d̄ ± t(k−1) · s / √k.

    floor: lower bound of the standard deviation, e.g. that of the tool's rounding: runs that all round to the same
    value do not have a spread of 0. history: of the same metric on this bench; used with at most `MODERATED` pairs: s̃²
    = (ν₀σ₀² + νs²) / (ν₀ + ν) with ν₀ + ν degrees of freedom (Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004, with the
    prior taken from runs). None without pairs, or for a single one without a history: its spread is unknown.
    """
    pairs = len(differences)
    if history is not None and (pairs > MODERATED or history.freedom <= 0):
        history = None
    if not pairs or (pairs == 1 and history is None):
        return None
    values = np.asarray(differences, dtype=np.float64)
    freedom = float(pairs - 1)
    variance = float(values.var(ddof=1)) if pairs > 1 else 0.0
    if history is not None:
        variance = (history.freedom * history.variance + freedom * variance) / (history.freedom + freedom)
        freedom += history.freedom
    spread = max(math.sqrt(variance), floor)
    return PairedResult(
        pairs=pairs,
        centre=float(values.mean()),
        error=spread / math.sqrt(pairs),
        freedom=freedom,
        spread=spread,
        p_flip=flipped(differences),
        with_history=history is not None,
        alpha=alpha,
    )


def over_levels(ratios: Sequence[float]) -> PairedResult | None:
    """Of one run of each of two variants at several levels: the levels as pairs. ratios: b / a, a level each. The
    interval holds if the difference is the same at all levels; it does not cover what all runs of a variant share. None
    for fewer than `LEAST` levels."""
    return paired(list(map(math.log, ratios))) if len(ratios) >= LEAST else None


def flipped(differences: Sequence[float]) -> float | None:
    """p of no difference: of all ways to flip the signs of the differences, the share whose sum is at least as far from
    0. Exact if they are symmetric around 0 under it (Fisher, The Design of Experiments, 1935, section 21); k pairs
    cannot reach below 2^(1−k), so 0.05 takes six. None for more than `MOST_FLIPPED` pairs, or none at all."""
    if not 0 < len(differences) <= MOST_FLIPPED:
        return None
    sums = np.zeros(1)
    for each in differences:
        sums = np.concatenate((sums + each, sums - each))
    seen = abs(sum(differences))
    rounding = 1e-12 * sum(abs(each) for each in differences)
    return float(np.mean(np.abs(sums) >= seen - rounding))


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """The adjusted p-values, in the given order: of those at most 0.05, one in twenty is a false alarm on average.

    Benjamini and Hochberg, JRSS B 57, 1995. Valid for independent tests and for positively dependent ones, such as
    endpoints of the same runs. Raises ValueError for an invalid probability.
    """
    if any(not 0 <= each <= 1 for each in ps):
        raise ValueError("a probability is from 0 to 1")
    adjusted, least = [0.0] * len(ps), 1.0
    for rank, place in reversed(list(enumerate(sorted(range(len(ps)), key=ps.__getitem__), 1))):
        least = min(least, ps[place] * len(ps) / rank)
        adjusted[place] = least
    return adjusted

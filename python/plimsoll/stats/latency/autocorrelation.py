"""The uncertainty of a value within one run, whose seconds are correlated: slow ones come in sequences.

It applies to this run only. `pairs` measures the difference to another run of the same build.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.stats.distributions.normal import normal_quantile
from plimsoll.stats.distributions.student import t_quantile
from plimsoll.stats.latency.ranks import rank

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from plimsoll._engine import Histogram

CONFIDENCE = 0.95
MOST_RHO = 0.97
"""Of the correlation of neighbours: with more, a run is not much longer than what it would have to average out."""


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """The number of occurrences of each value in each second."""

    matrix: NDArray[np.int64]
    """Seconds × bins."""
    values: NDArray[np.float64]
    """ms, ascending: of each bin."""

    @classmethod
    def of(cls, histograms: Iterable[Histogram | None]) -> Counts:
        """One histogram (in µs) per second; None for a second without any."""
        rows = [() if each is None else each.buckets() for each in histograms]
        values = sorted({value for row in rows for value, _ in row})
        place = {value: index for index, value in enumerate(values)}
        matrix = np.zeros((len(rows), len(values)), dtype=np.int64)
        for second, row in enumerate(rows):
            for value, count in row:
                matrix[second, place[value]] = count
        return cls(matrix, np.array(values, dtype=np.float64) / 1000)

    @property
    def total(self) -> int:
        return int(self.matrix.sum())

    @property
    def seconds(self) -> int:
        return len(self.matrix)

    def at_rank(self, place: int) -> float:
        """ms of the value with this rank among all, from 1."""
        return float(self.values[np.searchsorted(np.cumsum(self.matrix.sum(axis=0)), place)])


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over the seconds of a run, with its error within the run."""

    value: float
    error: float
    """Standard error."""
    freedom: float
    """Degrees of freedom of the error; ≤ 0 with too few seconds."""

    def half(self, confidence: float = CONFIDENCE) -> float:
        """Half the interval; infinite without degrees of freedom."""
        if self.freedom <= 0:
            return math.inf
        return -t_quantile(self.freedom, (1 - confidence) / 2) * self.error


@dataclass(frozen=True, slots=True)
class Within:
    """A percentile with its interval for this run only."""

    value: float
    """ms."""
    low: float | None
    """None: not bounded by the data."""
    high: float | None
    effect: float
    """Design effect: this factor fewer independent requests would be worth the same; at least 1."""
    requests: int

    @property
    def log_error(self) -> float | None:
        """Standard error of its logarithm, from the interval as if that were normal."""
        if not self.low or self.high is None:
            return None
        return math.log(self.high / self.low) / (2 * normal_quantile((1 + CONFIDENCE) / 2))


def ratio_of_sums(amounts: ArrayLike, per: ArrayLike) -> Estimate:
    """Σ amounts / Σ per, second by second, with an error that allows for correlated seconds.

    e_s = y_s − p̂ n_s; the variance is S · γ / n², with γ the long-run variance of e by Bartlett's weights over L =
    ⌊√S⌋ seconds (Newey and West, Econometrica 55, 1987) and S / (L + 1) − 1 degrees of freedom. In short runs whose
    seconds correlate these weights see too little of it, so γ is at least that of a first-order autoregression with
    the same correlation of neighbours: σ² / (1 − ρ)² (prewhitening: Andrews and Monahan, Econometrica 60, 1992), with
    ρ + (1 + 3ρ) / S for the bias of its estimate (Kendall, Biometrika 41, 1954), where that exceeds 1/√S, the error of
    an estimate.

    Simulated for 95 %, 1,500 runs each of 10 to 300 s: with ρ = 0.8 intervals hold the truth in 92 % to 96 % (without
    that least value in 81 % to 91 %), with 0.9 in 88 % to 96 %, with 0.5 and less in 94 % and more.
    """
    y, n = np.asarray(amounts, dtype=np.float64), np.asarray(per, dtype=np.float64)
    seconds, total = len(y), float(n.sum())
    if not seconds or not total:
        return Estimate(math.nan, math.inf, 0.0)
    value = float(y.sum()) / total
    rest = y - value * n
    lags = math.isqrt(seconds)
    long_run = float(rest @ rest) / seconds
    for lag in range(1, lags + 1):
        long_run += 2 * (1 - lag / (lags + 1)) * float(rest[lag:] @ rest[:-lag]) / seconds
    long_run = max(long_run, _autoregressive(rest))
    error = math.sqrt(max(0.0, seconds * long_run)) / total
    return Estimate(value, error, seconds / (lags + 1) - 1)


def _autoregressive(rest: NDArray[np.float64]) -> float:
    """The long-run variance of deviations, as if each second were ρ times the one before it and something new."""
    seconds, squares = len(rest), float(rest[:-1] @ rest[:-1])
    if seconds < 3 or not squares:
        return 0.0
    rho = float(rest[1:] @ rest[:-1]) / squares
    rho = min(rho + (1 + 3 * rho) / seconds, MOST_RHO)
    if rho * math.sqrt(seconds) <= 1:
        return 0.0
    new = rest[1:] - rho * rest[:-1]
    return float(new @ new) / (seconds - 2) / (1 - rho) ** 2


def woodruff(counts: Counts, p: float, confidence: float = CONFIDENCE) -> Within | None:
    """The p-quantile with the interval of Woodruff (JASA 47, 1952): that of the share of requests at or below it,
    converted by the same distribution. None if nothing was timed.

    The share's variance is that of `ratio_of_sums`, and at least p(1 − p)/n, that of independent requests.
    """
    requests = counts.total
    if not requests:
        return None
    value = counts.at_rank(rank(requests, p))
    below = counts.matrix[:, counts.values <= value].sum(axis=1)
    per_second = counts.matrix.sum(axis=1)
    share = ratio_of_sums(below, per_second)
    independent = p * (1 - p) / requests
    error = max(share.error, math.sqrt(independent))
    half = Estimate(p, error, share.freedom).half(confidence)
    low, high = p - half, p + half
    return Within(
        value=value,
        low=counts.at_rank(rank(requests, low)) if low > 0 else None,
        high=counts.at_rank(rank(requests, high)) if high < 1 else None,
        effect=error**2 / independent,
        requests=requests,
    )

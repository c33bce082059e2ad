"""The universal scalability law: throughput over load, reduced by contention and coherence.

X(N) = λN / (1 + σ(N − 1) + κN(N − 1)) (Gunther, "Guerrilla Capacity Planning", 2007). Its parameters are published only
if the ladder determines them; otherwise the reasons, the knee, the peak and the collapse are. λ is fitted like the
others: set to X(1), it would move the first run's scatter into σ and κ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from plimsoll.stats.capacity.least_squares import least_squares
from plimsoll.stats.distributions.student import t_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

LEAST_RUNGS = 6
"""Twice the number of parameters."""
LEAST_SIDE = 2
"""Rungs below and above the peak: without them σ and κ cannot be separated."""
LEAST_R2 = 0.95
MOST_RESIDUAL = 0.10
"""Of any rung, as a share of the highest throughput: a larger one means another law. Not of the rung's own throughput,
which least squares ignore: it would reject any ladder whose single user is a little slow."""
MOST_ABOVE = 0.03
"""The curve's peak may exceed the highest throughput of a level by this share: more was not seen."""
CHANCE = 0.05
"""The fall beyond the peak is real only if chance gives so good a fit less often: in an F test against the same curve
without κ."""
_LOW, _HIGH = (1e-9, 0.0, 0.0), (math.inf, 1.0, 1.0)
"""Of λ, σ, κ. Shares of serial work are between 0 and 1."""
_AT_BOUND = 1e-7


@dataclass(frozen=True, slots=True)
class LawDoubt:
    """Why the parameters of the law must not be published."""

    id: Literal[
        "levels",
        "sides",
        "r2",
        "residual",
        "bound",
        "outside",
        "above",
        "flat",
        "pauses",
        "no mean",
        "no success",
        "no fall",
    ]
    values: tuple[float, ...] = ()
    """levels: how many there are. sides: levels below and above the peak. r2, residual: of the fit. bound: the value.
    outside: the peak of the curve, the lowest and the highest load. above: how far the peak is above the highest
    throughput, relative. no fall: its p."""
    name: str = ""
    """bound: the parameter. no fall: the level."""


@dataclass(frozen=True, slots=True)
class ScalabilityLaw:
    """The fit, and whether it may be published. Rates are per second."""

    slope: float
    """λ: throughput of one user alone."""
    contention: float
    """σ, 0…1: the share of serial work."""
    coherence: float
    """κ, 0…1: the cost of each pair of users."""
    peak: float | None
    """N_peak = √((1 − σ)/κ); None for κ = 0, which has no peak."""
    capacity: float | None
    """X(N_peak)."""
    r2: float
    residual: float
    """The largest of any rung, as a share of the highest throughput."""
    reasons: tuple[LawDoubt, ...]
    """Why the parameters must not be published."""

    @property
    def published(self) -> bool:
        return not self.reasons


def usl(loads: Sequence[float], rates: Sequence[float]) -> ScalabilityLaw:
    """loads: users without think time, or else exchanges in flight, ascending; rates: requests per second.

    Raises ValueError for fewer than 3 rungs, which cannot be fitted, and for values that are not positive.
    """
    n, x = np.asarray(loads, dtype=float), np.asarray(rates, dtype=float)
    if len(n) != len(x) or len(n) < 3:
        raise ValueError(f"{len(n)} loads and {len(x)} rates: at least 3 of each are needed")
    if (n <= 0).any() or (x <= 0).any():
        raise ValueError("loads and rates have to be positive")
    slope, contention, coherence = _fit(n, x)
    fitted = _law(n, slope, contention, coherence)
    scatter = float(((x - x.mean()) ** 2).sum())
    r2 = 1 - float(((x - fitted) ** 2).sum()) / scatter if scatter else 0.0
    residual = float(np.abs(fitted - x).max() / x.max())
    has_peak = coherence > _AT_BOUND and contention < 1
    peak = math.sqrt((1 - contention) / coherence) if has_peak else None
    capacity = float(_law(np.array([peak]), slope, contention, coherence)[0]) if peak is not None else None
    reasons = (*too_short(loads, rates), *_poor(n, contention, coherence, peak, r2, residual))
    if peak is not None and not reasons:
        reasons = tuple(_unseen(n, x, fitted, capacity or 0.0))
    return ScalabilityLaw(slope, contention, coherence, peak, capacity, r2, residual, reasons)


def too_short(loads: Sequence[float], rates: Sequence[float]) -> tuple[LawDoubt, ...]:
    """What the ladder lacks for any fit of the law, whatever its values."""
    reasons = []
    if len(loads) < LEAST_RUNGS:
        reasons.append(LawDoubt("levels", (len(loads),)))
    top = max(range(len(rates)), key=lambda index: rates[index], default=0)
    below, above = top, max(0, len(rates) - 1 - top)
    if min(below, above) < LEAST_SIDE:
        reasons.append(LawDoubt("sides", (below, above)))
    return tuple(reasons)


def _poor(
    n: NDArray[np.float64], contention: float, coherence: float, peak: float | None, r2: float, residual: float
) -> list[LawDoubt]:
    reasons = []
    if r2 < LEAST_R2:
        reasons.append(LawDoubt("r2", (r2,)))
    if residual > MOST_RESIDUAL:
        reasons.append(LawDoubt("residual", (residual,)))
    for name, value in (("σ", contention), ("κ", coherence)):
        if value < _AT_BOUND or value > 1 - _AT_BOUND:
            reasons.append(LawDoubt("bound", (round(value),), name))
    if peak is not None and not n[0] <= peak <= n[-1]:
        reasons.append(LawDoubt("outside", (peak, float(n[0]), float(n[-1]))))
    return reasons


def _unseen(
    n: NDArray[np.float64], x: NDArray[np.float64], fitted: NDArray[np.float64], capacity: float
) -> Iterator[LawDoubt]:
    """What the levels around the peak of the curve do not support."""
    above = capacity / float(x.max()) - 1
    if above > MOST_ABOVE:
        yield LawDoubt("above", (above,))
    freedom = len(n) - 3
    squares, without = (float(((x - each) ** 2).sum()) for each in (fitted, _law(n, *_fit(n, x, 0.0))))
    # F with one degree of freedom in the numerator is the square of t.
    if freedom < 1 or (without - squares) * freedom < t_quantile(freedom, 1 - CHANCE / 2) ** 2 * squares:
        yield LawDoubt("flat")


def _fit(n: NDArray[np.float64], x: NDArray[np.float64], most: float = 1.0) -> tuple[float, float, float]:
    """most: the upper bound of κ."""

    def off(parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        return _law(n, *parameters) - x

    def slopes(parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        slope, contention, coherence = parameters
        divisor = 1 + contention * (n - 1) + coherence * n * (n - 1)
        per_divisor = -slope * n / divisor**2
        return np.stack([n / divisor, per_divisor * (n - 1), per_divisor * n * (n - 1)], axis=1)

    start = float((x / n).max())
    # Several starts, since the sum of squares has more than one minimum.
    fits = [
        least_squares(off, slopes, (start, sigma, kappa), _LOW, (*_HIGH[:2], most))
        for sigma in (0.001, 0.05, 0.5)
        for kappa in (1e-6, 1e-4, 1e-2)
    ]
    best, _ = min(fits, key=lambda fit: fit[1])
    slope, contention, coherence = (float(value) for value in best)
    return slope, contention, coherence


def _law(n: NDArray[np.float64], slope: float, contention: float, coherence: float) -> NDArray[np.float64]:
    return slope * n / (1 + contention * (n - 1) + coherence * n * (n - 1))

"""Little's law: the number in a system is the rate of arrivals times the time that each stays.

It holds for any system, so a table that breaks it is wrong, or leaves something out. Closed model: N = X · (R + Z / c),
with c requests per think time Z. Open model: in flight = X · R. R is the mean, never the median.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

LittleVerdict = Literal["holds", "doubtful", "missing", "impossible"]
"""missing: users or requests are unaccounted for. impossible: more work than the users can have requested. doubtful:
slightly outside of what the edges of the run explain."""

MARGIN = 0.02
"""Tolerance for true means and rates."""
GUESSED_MARGIN = 0.05
"""The margin for a mean guessed from p50 and p95."""
MISSING = 0.90
"""Below this, and below what the edge of the run explains: users were missing, or requests were not counted."""
IMPOSSIBLE = 1.10
"""Above this is impossible: users that wait for their replies are in flight at most once each."""
BUSY = 0.85
"""Closed model: the users only wait for the target if they spend at least this share of their time in requests."""
_Z95 = 1.645
"""Of the standard normal distribution: P(Z ≤ 1.645) = 0.95."""


@dataclass(frozen=True, slots=True)
class Little:
    ratio: float
    """X · (R + Z / c) / N: 1 when every second of every user is accounted for."""
    low: float
    high: float
    """The accepted range: 1 − R_max / T − margin, for requests cut off at the end of the run, to 1 + margin."""
    users: float
    """N, minus the users missing during the start."""
    word: LittleVerdict


def little(
    users: float,
    rate: float,
    mean: float,
    *,
    think: float = 0.0,
    per_think: float = 1.0,
    duration: float | None = None,
    ramp: float = 0.0,
    longest: float | None = None,
    guessed: bool = False,
) -> Little:
    """The closed model. rate per second; mean and longest in ms; think, duration and ramp in seconds; per_think:
    requests between two think times. Raises ValueError unless there are users."""
    present = effective_users(users, ramp, duration)
    if present <= 0:
        raise ValueError(f"{present} users: at least one is needed")
    ratio = rate * (mean / 1000 + think / per_think) / present
    margin = GUESSED_MARGIN if guessed else MARGIN
    # A user that is cut off at the end spent up to the longest time on a request that is not counted.
    edge = longest / 1000 / duration if longest is not None and duration else 0.0
    return _judged(ratio, 1 - edge - margin, 1 + margin, present)


def little_open(in_flight: float, rate: float, mean: float, *, duration: float | None, longest: float | None) -> Little:
    """The open model: the sum of times, compared with the average count in flight. Units as for `little`. Raises
    ValueError unless something was in flight."""
    if in_flight <= 0:
        raise ValueError(f"{in_flight} in flight: more than none are needed")
    edge = longest / 1000 / duration if longest is not None and duration else 0.0
    return _judged(rate * mean / 1000 / in_flight, 1 - edge - GUESSED_MARGIN, 1 + edge + GUESSED_MARGIN, in_flight)


def effective_users(users: float, ramp: float, duration: float | None) -> float:
    """Mean number of users over a run of `duration` seconds that started them evenly during its first `ramp`:
    N · (1 − ramp / 2T); of a run that ends before all are there, N · T / (2 · ramp)."""
    if not ramp or not duration:
        return users
    return users * (1 - ramp / (2 * duration)) if ramp <= duration else users * duration / (2 * ramp)


def lognormal_mean(p50: float, p95: float) -> float:
    """The mean of a lognormal distribution with these percentiles: p50 · exp(σ²/2), σ = ln(p95 / p50) / 1.645."""
    sigma = math.log(p95 / p50) / _Z95
    return p50 * math.exp(sigma * sigma / 2)


def _judged(ratio: float, low: float, high: float, users: float) -> Little:
    word: LittleVerdict = "holds"
    if ratio > IMPOSSIBLE:
        word = "impossible"
    elif ratio < min(MISSING, low):
        word = "missing"
    elif not low <= ratio <= high:
        word = "doubtful"
    return Little(ratio, low, high, users, word)

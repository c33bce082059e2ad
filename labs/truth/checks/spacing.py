"""Arrivals of the open model reach the target at their due times.

Uniform spacing: the last tenth of the arrivals is as late as the first tenth, by their medians, else the rate was
wrong. Both medians are at most the lateness that 98 % of all arrivals keep, because more than half of each tenth keeps
it. The reported lag is the lateness at the target, minus the overhead that the probe measured.

Poisson: gaps are exponential. The Kolmogorov-Smirnov distance has its limit at 99.9 %, plus the effect of lateness: a
gap that is wrong by d moves the distribution by at most rate · d. The numbers of arrivals in windows of 100 ms vary as
Poisson counts do; those of uniform spacing do not.
"""

import itertools
from collections.abc import Iterator

from ..arrivals import TIMER_SLACK, Scheduled
from ..lab import Lab, Load, Observation
from ..line import Line, exact, fact, milliseconds, within
from ..tolerance import (
    UNIT,
    Bounds,
    dispersion,
    dispersion_bounds,
    exponential_distance,
    kolmogorov_limit,
    upper_value,
    value_at,
    widened,
)
from .case import Case

EVEN_RATE, POISSON_RATE = 500, 100
TARGET = "/fixed?ms=0"
SEED = 20_261_121
WINDOW = 0.1
CERTAIN = (0.99, 0.999)


def check(lab: Lab) -> Iterator[Case]:
    yield Case("evenly spaced", lambda: even(lab))
    yield Case("Poisson", lambda: poisson(lab))


def even(lab: Lab) -> Iterator[Line]:
    case, seconds = "evenly spaced", lab.seconds(20, 5)
    observation = lab.observe(Load([lab.url(TARGET), "--rate", f"{EVEN_RATE}/s"], seconds, probe=True))
    scheduled = Scheduled(observation.truth.path(TARGET), EVEN_RATE)
    yield exact(case, "arrivals", EVEN_RATE * round(seconds), len(scheduled.arrivals))
    limit = lateness(observation, 0.99)  # kept by 98 %: lag and overhead exceed their parts for 1 % each
    yield within(case, "drift over the run", "0", scheduled.drift(), Bounds(-limit, limit))
    late = scheduled.lateness()
    for quantile in (0.5, 0.99):
        true = milliseconds(value_at(quantile, late))
        yield within(
            case, f"lag p{quantile * 100:g}", true, lag(observation, quantile), lag_bounds(observation, late, quantile)
        )


def lag_bounds(observation: Observation, late: list[float], quantile: float) -> Bounds:
    """The target sees lateness L = lag + O, so lag(q) is at most L(q), and at least L(q - e) - O(1 - e)."""
    low = max(
        value_at(quantile - share, late) - upper_value(1 - share, observation.overhead.kept)
        for share in (0.01, 0.02, 0.05)
    )
    return widened(Bounds(max(0.0, low), value_at(quantile, late) + TIMER_SLACK))


def poisson(lab: Lab) -> Iterator[Line]:
    case, seconds = "Poisson", lab.seconds(30, 10)
    arguments = [lab.url(TARGET), "--rate", f"{POISSON_RATE}/s", "--spacing", "poisson", "--seed", str(SEED)]
    observation = lab.observe(Load(arguments, seconds, probe=True))
    arrivals = sorted(arrival / 1e9 for arrival in observation.truth.path(TARGET).arrivals)
    expected = POISSON_RATE * seconds
    spread = 3.29 * expected**0.5
    holds = abs(len(arrivals) - expected) <= spread
    yield fact(case, "arrivals", f"{expected:,.0f}", f"{len(arrivals):,}", f"±{spread:.0f}", holds)
    gaps = [later - earlier for earlier, later in itertools.pairwise(arrivals)]
    distance = exponential_distance(gaps, 1 / POISSON_RATE)
    limit = kolmogorov_limit(len(gaps)) + smeared(observation)
    yield fact(case, "distance from exponential", "0", f"{distance:.4f}", f"≤ {limit:.4f}", distance <= limit)
    ratio, windows = dispersion(arrivals, WINDOW)
    bounds = dispersion_bounds(windows)
    tolerance = f"{bounds.low:.2f} … {bounds.high:.2f}"
    yield fact(case, "variance / mean in 100 ms", "1", f"{ratio:.2f}", tolerance, ratio in bounds)


def smeared(observation: Observation) -> float:
    """The maximum effect of lateness on the distribution of gaps. Lag and overhead exceed their parts of d for 1 -
    share of the arrivals each, and a gap has two ends. So all but 4 (1 - share) of the gaps are wrong by at most d."""
    return min(POISSON_RATE * lateness(observation, share) + 4 * (1 - share) for share in CERTAIN)


def lateness(observation: Observation, share: float) -> float:
    """The maximum lateness of that share of the arrivals, s: the generator's lag plus the overhead."""
    return lag(observation, share) + upper_value(share, observation.overhead.kept)


def lag(observation: Observation, quantile: float) -> float:
    return float(observation.report.generator["lag_ms"]["percentiles"][f"{quantile * 100:g}"]) / 1e3 + UNIT

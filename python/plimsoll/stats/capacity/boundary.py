"""The load at which half of the runs meet an objective, fitted to all runs that met it or did not.

The share of runs that meet the objective falls with ln(load) along a logistic curve. Place and width of the curve are
fitted by maximum likelihood; the interval holds the places that the likelihood ratio does not exclude. At any load a
small share of the runs fails for other reasons, so that no single run decides (F. A. Wichmann and N. J. Hill, 2001,
Perception & Psychophysics 63, 1293–1313, call it the lapse rate).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LAPSE = 0.02
"""Share of the runs that do not follow the curve."""
WIDTHS = np.geomspace(0.003, 1.0, 24)
"""Candidate widths of the curve, in ln(load): 12 % to 88 % of the runs break within four of them."""
EXCLUDED = 6.0
"""A place is excluded when twice its log-likelihood is this far below the best. Of chi-square 95 % are below 3.84; but
the width of the curve rests on the few runs near the boundary, and earlier runs determined the loads. With 6, the
square of Student's t for 6 degrees of freedom, intervals of simulated searches have their nominal coverage."""
_EDGE = 1.0
_NEAR = 0.3


@dataclass(frozen=True, slots=True)
class Boundary:
    """The load at which the objective breaks, with its 95 % interval. None: the runs exclude no load on that side."""

    load: float
    low: float | None
    high: float | None


def split(runs: Sequence[tuple[float, bool]]) -> tuple[float | None, float | None]:
    """The neighbouring loads between which the fewest runs contradict "met up to here, and not above"; of several such
    pairs the lowest. runs: (load, met). None: below or above all loads."""
    tally: dict[float, int] = {}
    for load, met in sorted(runs):
        tally[load] = tally.get(load, 0) + (1 if met else -1)
    best = fit = 0
    place: float | None = None
    for load, surplus in tally.items():
        fit += surplus
        if fit > best:
            best, place = fit, load
    if place is None:
        return None, min(tally)
    return place, dict(pairwise(tally)).get(place)


def boundary(runs: Sequence[tuple[float, bool]]) -> Boundary | None:
    """runs: (load, met), loads above 0. None if all of them met the objective, or none did."""
    met = np.array([each for _, each in runs], bool)
    if met.all() or not met.any():
        return None
    loads = np.log([load for load, _ in runs])
    places = _places(loads, runs)
    likelihood = _likelihood(loads, met, places)
    best = likelihood.max()
    likely = places[likelihood > best - 1e-9]
    inside = places[likelihood > best - EXCLUDED / 2]
    return Boundary(
        math.exp((likely[0] + likely[-1]) / 2),
        math.exp(inside[0]) if inside[0] > places[0] else None,
        math.exp(inside[-1]) if inside[-1] < places[-1] else None,
    )


def _places(loads: NDArray[np.float64], runs: Sequence[tuple[float, bool]]) -> NDArray[np.float64]:
    """In ln(load): 0.3 % apart near the split of the runs, and some over all loads and beyond them."""
    near = [math.log(each) for each in split(runs) if each is not None]
    middle = sum(near) / len(near)
    wide = np.linspace(loads.min() - _EDGE, loads.max() + _EDGE, 100)
    return np.union1d(wide, np.linspace(middle - _NEAR, middle + _NEAR, 201))


def _likelihood(loads: NDArray[np.float64], met: NDArray[np.bool_], places: NDArray[np.float64]) -> NDArray[np.float64]:
    """The log-likelihood of each place with its best width."""
    sides = np.where(met, 1.0, -1.0)
    distances = (places[:, None] - loads) * sides
    shares = 1 / (1 + np.exp(np.clip(-distances[:, None, :] / WIDTHS[:, None], -60, 60)))
    found: NDArray[np.float64] = np.log(LAPSE + (1 - 2 * LAPSE) * shares).sum(axis=2).max(axis=1)
    return found

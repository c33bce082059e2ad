from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize

from plimsoll.stats.capacity.least_squares import least_squares
from plimsoll.stats.capacity.scaling import usl


def law(n, slope, contention, coherence):
    return slope * n / (1 + contention * (n - 1) + coherence * n * (n - 1))


def slopes(n, slope, contention, coherence):
    divisor = 1 + contention * (n - 1) + coherence * n * (n - 1)
    along = -slope * n / divisor**2
    return np.stack([n / divisor, along * (n - 1), along * n * (n - 1)], axis=1)


def fitted_by_scipy(n, x):
    starts = [((x / n).max(), sigma, kappa) for sigma in (0.001, 0.05, 0.5) for kappa in (1e-6, 1e-4, 1e-2)]
    bounds = ((1e-9, 0.0, 0.0), (math.inf, 1.0, 1.0))
    fits = [
        optimize.least_squares(
            lambda each: law(n, *each) - x,
            start,
            jac=lambda each: slopes(n, *each),
            bounds=bounds,
            x_scale="jac",
            ftol=1e-14,
            xtol=1e-14,
        )
        for start in starts
    ]
    return min(fits, key=lambda fit: fit.cost).x


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("noise", [0.001, 0.02, 0.1])
def test_the_scaling_law_has_the_parameters_of_scipys_fit(seed, noise):
    rng = np.random.default_rng(seed)
    n = np.array([1, 4, 16, 32, 64, 100, 160, 240], dtype=float)
    truth = 10 ** rng.uniform(0, 4), rng.uniform(0.002, 0.1), 10 ** rng.uniform(-5, -3)
    x = law(n, *truth) * np.exp(noise * rng.normal(size=len(n)))
    found, expected = usl(n, x), fitted_by_scipy(n, x)
    # 0 is at the bound, which scipy comes near to only.
    own = (found.slope, found.contention, found.coherence)
    assert own == pytest.approx(tuple(expected), rel=1e-6, abs=1e-8)


def line(x, y):
    columns = np.stack([np.ones_like(x), x], axis=1)
    return (lambda at: columns @ at - y), (lambda at: columns)


X, Y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 2.9, 5.2, 6.9])


def test_within_its_bounds_a_line_is_that_of_the_normal_equations():
    at, squares = least_squares(*line(X, Y), (0.0, 0.0), (-10, -10), (10, 10))
    slope, start = np.polyfit(X, Y, 1)
    assert at == pytest.approx((start, slope), rel=1e-9)
    assert squares == pytest.approx(float(((start + slope * X - Y) ** 2).sum()), rel=1e-9)


def test_a_parameter_stays_at_its_bound_and_the_others_do_without_it():
    at, _ = least_squares(*line(X, Y), (0.0, 0.0), (-10, -10), (10, 1.5))
    assert at[1] == 1.5
    assert at[0] == pytest.approx(float((Y - 1.5 * X).mean()), rel=1e-9)


def test_a_start_out_of_bounds_is_moved_to_them():
    at, _ = least_squares(*line(X, Y), (50.0, -50.0), (-10, -10), (10, 10))
    assert at == pytest.approx(np.polyfit(X, Y, 1)[::-1], rel=1e-8)


def test_all_parameters_at_their_bounds_are_an_end():
    at, squares = least_squares(*line(X, Y), (0.0, 0.0), (0.0, 0.0), (0.5, 0.5))
    assert tuple(at) == (0.5, 0.5)
    assert squares == pytest.approx(float(((0.5 + 0.5 * X - Y) ** 2).sum()))

from __future__ import annotations

import pytest
from scipy.stats import binom
from tests.stats.experiments import CHANGES, IDENTICAL, NOTHING, Change, Shape, outcome

COUNT = 100
CHANCE = 1e-4
"""Of failing although the promise is kept. The random numbers are always the same."""


@pytest.mark.long
@pytest.mark.parametrize("shape", IDENTICAL, ids=lambda shape: shape.text)
def test_identical_versions_differ_in_one_of_twenty_experiments_and_fail_one_of_two_hundred(shape: Shape):
    found = outcome(shape, NOTHING, COUNT)
    assert found.claims <= binom.isf(CHANCE, COUNT, 0.05)
    assert found.gates <= binom.isf(CHANCE, COUNT, 0.005)


@pytest.mark.long
@pytest.mark.parametrize("change", CHANGES[2:], ids=lambda change: change.text)
def test_what_matters_is_found_and_fails_a_build(change: Change):
    found = outcome(Shape(endpoints=3), change, 20)
    assert found.claims == 20
    assert found.gates >= 16


@pytest.mark.long
def test_less_than_what_matters_hardly_fails_a_build():
    assert outcome(Shape(endpoints=3, noise=0.02), CHANGES[0], COUNT).gates <= 3


def test_one_experiment_of_each_kind():
    same, worse = outcome(Shape(), NOTHING, 3), outcome(Shape(noise=0.02), CHANGES[2], 3)
    assert (same.gates, worse.claims, worse.gates) == (0, 3, 3)

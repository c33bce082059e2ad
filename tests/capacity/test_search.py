from __future__ import annotations

import math
import random

import pytest

from plimsoll.capacity.search import ATTEMPTS, MOST_MISSED, Settings, search
from plimsoll.stats.capacity.estimate import capacity
from plimsoll.stats.capacity.probe import CapacityProbe
from plimsoll.stats.thresholds.slo import CriterionResult, parse_slo

(P99,) = parse_slo("p99 < 200ms")


class Target:
    """p99 is 200 ms at `truth`; a generator that is the limit from `limit` on."""

    def __init__(self, truth=437.0, elasticity=8.0, spread=0.05, limit=math.inf, seed=1):
        self.truth, self.elasticity, self.spread, self.limit = truth, elasticity, spread, limit
        self.random = random.Random(seed)
        self.loads = []

    def __call__(self, load, phase):
        self.loads.append((load, phase))
        p99 = 200 * (load / self.truth) ** self.elasticity * math.exp(self.random.gauss(0, self.spread))
        invalid = ("the generator was busy",) if load >= self.limit else ()
        return CapacityProbe(load, 10.0, phase, (CriterionResult(P99, p99, p99 < 200, at_least=False),), invalid)


def settings(**changed):
    return Settings(**{"unit": "/s", "start": 10.0, "most": 100_000.0, "seconds": 10.0, **changed})


@pytest.mark.parametrize("start", [10.0, 437.0, 5000.0])
def test_it_finds_the_truth_from_below_and_from_above(start):
    target = Target()
    found = capacity(search(settings(start=start), target))
    assert found.low <= 437 <= found.high
    assert found.load == pytest.approx(437, rel=0.04)
    phases = [phase for _, phase in target.loads]
    assert phases == sorted(phases, key=["double", "halve", "confirm"].index)


def test_the_confirming_runs_are_spread_around_the_bracket_and_shuffled():
    target = Target()
    search(settings(confirm=12), target)
    loads = [load for load, phase in target.loads if phase == "confirm"]
    assert len(loads) == 12
    assert loads != sorted(loads)
    assert min(loads) < 437 < max(loads)
    again = Target()
    search(settings(confirm=12, seed=2), again)
    assert [load for load, phase in again.loads if phase == "confirm"] != loads


def test_users_are_whole():
    target = Target(truth=23.4, spread=0.02)
    found = capacity(search(settings(unit="users", start=1.0, most=1000.0), target))
    assert all(load == int(load) >= 1 for load, _ in target.loads)
    assert found.load == pytest.approx(23.4, rel=0.08)


def test_a_generator_that_is_the_limit_ends_the_search():
    target = Target(limit=150)
    found = capacity(search(settings(), target))
    assert [load for load, _ in target.loads] == [10, 20, 40, 80] + [160] * ATTEMPTS
    assert (found.ending, found.low, found.generator) == ("unbroken", 80, (160, "the generator was busy"))


def test_a_generator_that_is_the_limit_close_by_ends_the_confirming_runs():
    target = Target()

    def measure(load, phase):
        target.limit = 430 if phase == "confirm" else math.inf
        return target(load, phase)

    assert sum(bool(each.invalid) for each in search(settings(), measure)) == MOST_MISSED * ATTEMPTS


def test_a_target_that_is_never_broken_and_one_that_never_holds():
    easy = Target(truth=1e9)
    found = capacity(search(settings(most=300.0), easy))
    assert (found.ending, found.low) == ("unbroken", 300)
    assert [load for load, _ in easy.loads] == [10, 20, 40, 80, 160, 300]
    hopeless = Target(truth=1e-9)
    assert capacity(search(settings(unit="users", start=4.0), hopeless)).ending == "unmet"
    assert [load for load, _ in hopeless.loads] == [4, 2, 1]


@pytest.mark.parametrize("unlucky", [1, 4, 7, 9])
def test_one_unlucky_run_does_not_decide(unlucky):
    target = Target()

    def measure(load, phase):
        target.truth = 1.0 if len(target.loads) + 1 == unlucky else 437.0
        return target(load, phase)

    found = capacity(search(settings(), measure))
    assert found.ending == "found"
    assert found.low < 437 < found.high
    assert found.load == pytest.approx(437, rel=0.05)


def test_a_load_that_held_by_luck_is_not_the_lowest_that_is_tried():
    """At 400/s the objective is broken, except for the first time."""
    target = Target(truth=270, spread=0.01)

    def measure(load, phase):
        target.truth = 500 if (load, phase) == (400, "double") else 270
        return target(load, phase)

    found = capacity(search(settings(start=100), measure))
    assert found.load == pytest.approx(270, rel=0.03)


def test_a_target_that_carries_more_once_it_is_warm_is_followed():
    target = Target(spread=0.01)

    def measure(load, phase):
        target.truth = 437 * (1 if len(target.loads) < 8 else 1.35)
        return target(load, phase)

    found = capacity(search(settings(), measure))
    assert found.low < 437 * 1.35 < found.high


def test_the_same_runs_lead_to_the_same_loads():
    """So that a search can go on with the runs that it has."""
    first, again = Target(), Target()
    probes = search(settings(), first)
    done = iter(probes[:9])
    assert search(settings(), lambda load, phase: next(done, None) or again(load, phase))[:9] == probes[:9]
    assert again.loads[0] == first.loads[9]

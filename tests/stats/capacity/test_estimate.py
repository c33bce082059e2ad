from __future__ import annotations

import math
import random

import pytest

from plimsoll.stats.capacity.estimate import CapacityProbe, Crossing, bracket, capacity, cross, step
from plimsoll.stats.thresholds.slo import Strain, parse_slo

(P99,) = parse_slo("p99 < 200ms")
(ERRORS,) = parse_slo("errors < 1%")


def strain(criterion, value):
    held = criterion.holds(value)
    return Strain(criterion, value, held, at_least=False, strain=value / criterion.limit)


def probe(load, p99=None, errors=None, phase="confirm", invalid=()):
    found = [strain(each, value) for each, value in ((P99, p99), (ERRORS, errors)) if value is not None]
    return CapacityProbe(load, 10.0, phase, tuple(found), invalid)


def simulated(truth, elasticity, spread, seed, loads=12):
    """p99 = 200 ms at `truth`, growing with this elasticity; runs at loads from -10 % to +10 %."""
    chance = random.Random(seed)
    spaced = [truth * (0.9 + 0.2 * place / (loads - 1)) for place in range(loads)]
    return [probe(load, 200 * (load / truth) ** elasticity * math.exp(chance.gauss(0, spread))) for load in spaced]


def test_the_crossing_of_a_line_without_noise_is_exact():
    found = cross([probe(load, 200 * (load / 400) ** 8) for load in (360, 380, 390, 410, 420, 440)], P99)
    assert isinstance(found, Crossing)
    assert (found.load, found.low, found.high) == (pytest.approx(400), pytest.approx(400), pytest.approx(400))
    assert found.elasticity == pytest.approx(8)
    assert found.runs == 6


def test_the_interval_covers_the_truth_as_often_as_it_says():
    """Fieller at 95 %: 1,000 simulated searches; four standard errors are 2.8 %."""
    covered = 0
    for seed in range(1000):
        found = cross(simulated(400, 8, 0.08, seed), P99)
        assert isinstance(found, Crossing)
        covered += found.low <= 400 <= found.high
    assert 0.92 <= covered / 1000 <= 0.98


def test_a_value_that_does_not_grow_gives_no_crossing():
    found = cross(simulated(400, 0.1, 0.3, seed=3), P99)
    assert isinstance(found, str)
    assert "does not certainly grow" in found


def test_a_crossing_beyond_what_was_confirmed_is_no_answer():
    found = cross([probe(load, 100 * (load / 400) ** 3) for load in (360, 380, 390, 410, 420, 440)], P99)
    assert isinstance(found, str)
    assert "outside" in found


def test_too_few_runs_and_what_is_no_time():
    assert "too few" in str(cross([probe(400, 200.0)] * 3, P99))
    assert "smoothly" in str(cross([probe(each, errors=each / 100) for each in range(380, 420, 4)], ERRORS))


def test_the_answer_names_what_broke_and_how_it_was_found():
    probes = [probe(100, 20, phase="double"), probe(800, 5000, phase="double"), *simulated(400, 8, 0.02, 1)]
    found = capacity(probes, "/s")
    assert found.crossing is not None
    assert found.load == pytest.approx(400, rel=0.02)
    assert found.low < found.load < found.high
    assert found.failed == (P99,)
    assert found.why.startswith("12 runs around it")


def test_errors_that_break_first_decide():
    """p99 would cross at 400/s, but at 370/s and above more than 1 % fails."""
    probes = [
        probe(each.load, each.strains[0].value, errors=5.0 if each.load > 365 else 0.0)
        for each in simulated(400, 8, 0.02, 1)
    ]
    found = capacity(probes, "/s")
    assert found.crossing is None
    assert found.high == min(each.load for each in probes if each.load > 365)
    assert found.low == max(each.load for each in probes if each.load < 365)
    assert found.failed[0] == ERRORS


def test_the_step_is_where_the_fewest_runs_disagree():
    held = {100: True, 110: True, 120: False, 130: True, 140: False, 150: False}
    assert step([probe(load, errors=0.0 if good else 5.0) for load, good in held.items()], ERRORS) == (110, 120)
    assert step([probe(load, errors=5.0) for load in (1, 2)], ERRORS) == (None, 1)
    assert step([probe(load, errors=0.0) for load in (1, 2)], ERRORS) == (2, None)


def test_nothing_broke_nothing_held_and_the_generator_as_the_limit():
    fine = [probe(each, 20, phase="double") for each in (100, 200, 400)]
    assert (capacity(fine, "/s").load, capacity(fine, "/s").high) == (400, None)
    limited = capacity([*fine, probe(800, 20, invalid=("a worker was busy",))], "/s")
    assert (limited.load, limited.high) == (400, None)
    assert "at 800 /s the generator was the limit: a worker was busy" in limited.why
    hopeless = capacity([probe(1, 900, phase="double")], "users")
    assert (hopeless.load, hopeless.high, hopeless.failed) == (None, 1, (P99,))


def test_the_bracket_goes_by_the_majority_of_runs():
    runs = [probe(100, 20), probe(200, 900), probe(200, 20), probe(200, 30), probe(300, 900), probe(400, 20)]
    assert bracket(runs) == (200, 300)
    assert bracket([probe(100, 900)]) == (0.0, 100)
    assert bracket([probe(100, 20), probe(100, 900)]) == (0.0, 100)

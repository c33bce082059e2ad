from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.stats.runs import GET, MAX, MEAN, P50, P99, RATE, TEN, own, study, table, trial

from plimsoll.record.cells import CellKey
from plimsoll.stats.compare.questions import Question
from plimsoll.stats.compare.ratios import (
    effect_of,
    history_of,
    relative_step,
    rounding_spread,
    variance_within,
    within_runs,
)
from plimsoll.stats.compare.readings import Readings
from plimsoll.stats.study import LOCUST, PLIMSOLL, Noise


def question(metric):
    return Question(metric, CellKey("A", TEN), CellKey("B", TEN), "baseline", GET, False, True)


def run(rng, variant, seconds=60, rate=50, median=50.0):
    return own(variant, (median * np.exp(0.4 * rng.normal(size=(seconds, rate)))).tolist())


@pytest.mark.parametrize(
    ("metric", "precision", "value", "step"),
    [
        (P99, LOCUST, 200.0, 10 / 200),
        (P99, LOCUST, 1200.0, 100 / 1200),
        (MAX, LOCUST, 1200.0, 100 / 1200),
        (MEAN, LOCUST, 200.0, 1 / 200),
        (RATE, LOCUST, 200.0, 0.0),
        (P99, PLIMSOLL, 200.0, 1 / 1024),
        (P99, PLIMSOLL, 0.01, 0.1),
        (MAX, PLIMSOLL, 200.0, 0.001 / 200),
        (P99, LOCUST, 0.0, 0.0),
    ],
)
def test_the_step_of_a_tool_at_a_value(metric, precision, value, step):
    assert relative_step(question(metric), precision, value) == pytest.approx(step)


def test_rounding_alone_brings_a_spread():
    pair = tuple(replace(trial(each, table(200)), precision=LOCUST) for each in "AB")
    simulated = np.random.default_rng(1).uniform(195, 205, size=(2, 100_000))
    spread = np.log(simulated[1] / simulated[0]).std()
    assert rounding_spread(question(P99), [pair], 200, 200) == pytest.approx(spread, rel=0.02)


def test_within_two_runs_the_interval_holds_their_ratio():
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(60):
        pair = run(rng, "A"), run(rng, "B", median=60.0)
        low, high = within_runs(Readings(study(*pair, metrics=(P50,))), question(P50), pair)
        held += low <= 1.2 <= high
    assert held >= 52


@pytest.mark.parametrize("metric", [P50, MEAN, RATE])
def test_swapping_the_runs_mirrors_their_interval(metric):
    rng = np.random.default_rng(3)
    pair = run(rng, "A"), run(rng, "B", median=60.0)
    bench = Readings(study(*pair, metrics=(metric,)))
    low, high = within_runs(bench, question(metric), pair)
    other = within_runs(bench, question(metric), pair[::-1])
    assert other == (pytest.approx(1 / high), pytest.approx(1 / low))


def test_of_some_things_nothing_is_known_within_a_run():
    rng = np.random.default_rng(4)
    ours = run(rng, "A"), run(rng, "B")
    assert within_runs(Readings(study(*ours, metrics=(MAX,))), question(MAX), ours) is None
    tables = trial("A", table(200)), trial("B", table(210))
    assert within_runs(Readings(study(*tables)), question(P99), tables) is None
    short = run(rng, "A", seconds=2), run(rng, "B", seconds=2)
    assert within_runs(Readings(study(*short, metrics=(P50,))), question(P50), short) is None


def test_the_variance_within_is_what_identical_runs_show():
    rng = np.random.default_rng(5)
    pairs = [(run(rng, "A", rate=40), run(rng, "B", rate=40)) for _ in range(60)]
    bench = Readings(study(*(each for pair in pairs for each in pair), metrics=(P50,)))
    differences = [math.log(b.endpoints[0].quantile(0.5) / a.endpoints[0].quantile(0.5)) for a, b in pairs]
    assert variance_within(bench, question(P50), pairs) == pytest.approx(np.var(differences), rel=0.6)
    assert variance_within(bench, question(MEAN), pairs) is None
    tables = [(trial("A", table(200)), trial("B", table(210)))]
    assert variance_within(Readings(study(*tables[0])), question(P99), tables) is None
    assert effect_of(bench, question(P50), pairs) >= 1
    assert effect_of(bench, question(MEAN), pairs) is None
    assert effect_of(Readings(study(*tables[0])), question(P99), tables) is None


def test_the_history_is_that_of_the_same_metric_endpoint_and_level():
    noise = Noise("p99", GET, TEN, 0.01, 5)
    trials = trial("A", table(1)), trial("B", table(1))
    assert history_of(study(*trials, noise=(replace(noise, metric="p50"), noise)), question(P99)) is noise
    assert history_of(study(*trials, noise=(replace(noise, level=None),)), question(P99)) is None
    assert history_of(study(*trials, noise=(noise,), is_aa=True), question(P99)) is None
    assert history_of(study(*trials, noise=(replace(noise, freedom=3),)), question(P99)) is None

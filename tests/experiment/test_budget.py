from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.experiment.budget import CellDurations, Spread, doubts, repeats_that_fit, spread_of
from plimsoll.experiment.order import cells_in_order
from plimsoll.experiment.spec import Compare
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import Level, Noise

KNOWN = Spread(0.05, "the spread")


def test_before_anything_was_run_times_follow_from_the_settings(make_spec):
    spec = make_spec("a b", repeats=2, cool_down=3.0)
    cells = cells_in_order(spec)
    # 10 s of run, 2 s of warm-up, 3 s of cool-down, 2 s for the generator.
    assert [CellDurations(spec).of(each) for each in cells] == [17.0] * 4
    assert CellDurations(spec).of_all(cells) == 68.0
    started = replace(spec.variants[0], target=replace(spec.variants[0].target, start=("serve",)))
    assert (
        CellDurations(replace(spec, variants=(started,))).of(cells_in_order(replace(spec, variants=(started,)))[0])
        == 19.0
    )


def test_afterwards_they_follow_from_what_was_measured_of_that_variant_or_of_the_others(make_spec):
    spec = make_spec("a b c", repeats=1)
    cell = {each.variant: each for each in cells_in_order(spec)}
    pace = CellDurations(spec)
    for seconds in (20.0, 22.0, 99.0):
        pace.measured(cell["a"], seconds)
    assert pace.of(cell["a"]) == 22.0
    pace.measured(cell["b"], 13.0)
    assert pace.of(cell["b"]) == 13.0
    assert pace.of(cell["c"]) == 12.0 + (8.0 + 10.0) / 2


def test_a_cell_that_was_stopped_early_makes_no_negative_time(make_spec):
    spec = make_spec("a", repeats=1)
    (cell,) = cells_in_order(spec)
    pace = CellDurations(spec)
    pace.measured(cell, 1.0)
    assert pace.of(cell) == 12.0


@pytest.mark.parametrize(("budget", "fit"), [(99.0, 4), (100.0, 5), (41.0, 2), (19.0, 0), (1e9, 5)])
def test_how_many_repeats_fit(make_spec, budget, fit):
    assert repeats_that_fit(make_spec(repeats=5), 100.0, budget) == fit


@pytest.mark.parametrize(
    ("repeats", "needed", "said"),
    [
        (1, 7, ["one run each", "7 repeats are needed at the spread"]),
        (2, 7, ["an interval needs at least 3", "7 repeats are needed"]),
        (3, 3, ["cannot reach p = 0.05"]),
        (5, 7, ["cannot reach p = 0.05", "to tell a difference of 5 % from none, 7 repeats"]),
        (6, 7, ["7 repeats"]),
        (7, 7, []),
    ],
)
def test_doubts(make_spec, repeats, needed, said):
    found = doubts(make_spec(repeats=repeats), KNOWN, needed)
    assert len(found) == len(said)
    assert all(text in each.text for text, each in zip(said, found, strict=True)), found
    assert all(each.repeats > repeats for each in found)


def test_one_variant_asks_for_no_comparison(make_spec):
    assert doubts(make_spec("a", repeats=1), KNOWN, 7) == []


def test_a_variant_against_itself_wants_enough_for_a_spread(make_spec):
    few, enough = (make_spec("a again", repeats=repeats, is_aa=True) for repeats in (3, 4))
    assert [each.repeats for each in doubts(few, KNOWN, 99)] == [4]
    assert doubts(enough, KNOWN, 99) == []


def noise(metric: str, endpoint: str, variance: float) -> Noise:
    method, _, name = endpoint.rpartition(" ")
    return Noise(metric, (method, name), Level("users", 5.0), variance, 8.0)


def test_the_spread_is_the_widest_of_what_is_asked(make_spec):
    spec = make_spec(compare=Compare(primary=(Metric.parse("p99 of GET /"), Metric.parse("throughput of Aggregated"))))
    history = [
        noise("p99", "GET /", 0.03**2), noise("p99", "GET /x", 0.5**2), noise("p50", "GET /", 0.4**2),
        noise("throughput", "Aggregated", 0.01**2),
    ]  # fmt: skip
    found = spread_of(spec, history)
    assert found.value == pytest.approx(0.03)
    assert found.text == "the spread of 3 % that A/A runs showed for p99 of GET /"
    of_each = make_spec(compare=Compare(primary=(Metric.parse("p99"),)))
    assert spread_of(of_each, history).value == pytest.approx(0.5)


def test_without_a_history_it_is_assumed_and_said_so(make_spec):
    found = spread_of(make_spec(), [noise("p12", "GET /", 0.1)])
    assert (found.value, "assumed" in found.text, "`--aa a` measures it" in found.text) == (0.05, True, True)

from __future__ import annotations

import pytest
from tests.stats.runs import ERRORS, GET, P50, P99, RATE, TEN, study, table, trial

from plimsoll.stats.compare.questions import pairs_of_variants, questions_of
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import TOTAL, Level

POST = ("POST", "/a")


def test_a_chain_is_compared_with_the_step_before_and_with_the_baseline_but_never_twice():
    trials = [trial(variant, table(1)) for variant in ("one", "two", "three")]
    both = study(*trials, against=("previous", "baseline"))
    assert pairs_of_variants(both.variants, both.against) == [
        ("one", "two", "previous"), ("two", "three", "previous"), ("one", "three", "baseline"),
    ]  # fmt: skip
    plain, alone = study(*trials), study(trials[0])
    assert pairs_of_variants(plain.variants, plain.against) == [
        ("one", "two", "baseline"),
        ("one", "three", "baseline"),
    ]
    assert pairs_of_variants(alone.variants, alone.against) == []


def test_the_order_is_that_of_every_table():
    levels = Level("users", 20), TEN
    trials = [
        trial(variant, table(1), table(1, key=POST), level=level, operation=operation, total=table(1, key=TOTAL))
        for operation in ("write", "read")
        for level in levels
        for variant in ("A", "B")
    ]
    asked = list(questions_of(study(*trials, metrics=(P99, P50))))
    assert len(asked) == 2 * 2 * 1 * 3 * 2
    assert [each.b.operation for each in asked[:: len(asked) // 2]] == ["write", "read"]
    first = asked[: len(asked) // 4]
    assert {each.b.level for each in first} == {TEN}
    assert [(each.endpoint, each.metric.text) for each in first] == [
        (GET, "p99"), (GET, "p50"), (POST, "p99"), (POST, "p50"), (TOTAL, "p99"), (TOTAL, "p50"),
    ]  # fmt: skip


def test_primary_metrics_are_asked_even_if_they_are_not_among_the_others():
    rate = Metric.parse("throughput of Aggregated")
    trials = [trial(each, table(1), total=table(1, key=TOTAL)) for each in "AB"]
    asked = list(questions_of(study(*trials, metrics=(P99,), primary=(rate, Metric.parse("p99 of GET /a")))))
    assert [(each.metric.text, each.label, each.is_primary) for each in asked] == [
        ("p99", "GET /a", True),
        ("p99", "Aggregated", False),
        ("throughput", "Aggregated", True),
    ]
    plain = questions_of(study(*trials, metrics=(P99, RATE), primary=(RATE,)))
    assert [each.is_primary for each in plain] == [False, True, False, True]


@pytest.mark.parametrize("name", ["GET /a", "/a"])
def test_an_endpoint_is_named_with_its_method_or_without(name):
    trials = [trial(each, table(1), total=table(1, key=TOTAL)) for each in "AB"]
    asked = list(questions_of(study(*trials, metrics=(P99,), primary=(Metric.parse(f"p99 of {name}"),))))
    assert [(each.label, each.is_primary) for each in asked] == [("GET /a", True), ("Aggregated", False)]


def test_a_metric_of_one_endpoint_is_not_asked_twice():
    trials = [trial(each, table(1)) for each in "AB"]
    asked = list(questions_of(study(*trials, metrics=(Metric.parse("p99 of GET /a"), P99))))
    assert len(asked) == 1
    assert list(questions_of(study(*trials, metrics=(Metric.parse("p99 of GET /b"),)))) == []


def test_for_failures_the_tolerance_is_what_matters():
    trials = [trial(each, table(1)) for each in "AB"]
    (asked,) = questions_of(study(*trials, metrics=(ERRORS,), tolerance=0.02))
    assert asked.metric.delta == 0.02


def test_a_cell_that_nobody_was_run_in_raises_no_question():
    there, only_a = TEN, Level("users", 20)
    trials = [trial("A", table(1)), trial("B", table(1)), trial("A", table(1), level=only_a)]
    trials += [trial("C", table(1), level=there)]
    asked = [(each.b.variant, each.b.level) for each in questions_of(study(*trials))]
    assert asked == [("B", there), ("C", there), ("B", only_a), ("C", only_a)]
    others = study(trials[0], trials[1], trials[3], variants=("B", "C", "A"))
    assert [each.b.level for each in questions_of(others)] == [there, there]

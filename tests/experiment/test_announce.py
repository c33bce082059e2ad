from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.errors import UsageError
from plimsoll.experiment.announce import announcement
from plimsoll.experiment.budget import CellDurations, Spread
from plimsoll.experiment.order import cells_in_order
from plimsoll.experiment.plan import Plan
from plimsoll.experiment.spec import Compare
from plimsoll.stats.metric import Metric

SPREAD = Spread(0.05, "a spread of 5 %")


def plan_of(spec, **given) -> Plan:
    plain = {"spec": spec, "is_new": True, "cells": cells_in_order(spec), "later": 0, "there": 0, "added": ()}
    return Plan(**{**plain, **given})


def said(plan, needed=3):
    lines, found = announcement(plan, CellDurations(plan.spec), SPREAD, needed)
    return "\n".join(lines), found


def test_what_is_run_and_for_how_long(make_spec):
    compare = Compare(("previous", "baseline"), primary=(Metric.parse("p99 of GET /"),), smallest=0.1)
    spec = make_spec("a b", users=(5, 10), repeats=6, operations=("read", "write"), question="Why?", compare=compare)
    text, found = said(plan_of(spec))
    assert text == (
        "experiment trial: Why?\n"
        "2 variants × 2 levels × 2 operations × 6 repeats; to run now: 48 cells of ≈ 15 s, ≈ 12 min\n"
        "variants: a, b\n"
        "levels: 5 users, 10 users\n"
        "operations: read, write\n"
        "asked: primary p99 of GET /, against previous and baseline; the smallest difference that matters is 10 %\n"
        "order: levels at random, variants next to one another and every other time reversed; seed 1"
    )
    assert found == []


def test_what_is_there_already_and_what_is_left_out(make_spec):
    spec = make_spec("a", repeats=6)
    text, _ = said(plan_of(spec, cells=cells_in_order(spec)[4:5], later=1, there=4))
    assert "to run now: 1 cell of ≈ 15 s" in text
    assert "4 of 6 cells are there already" in text and "1 cell left for later" in text


def test_what_more_repeats_would_take(make_spec):
    _, found = said(plan_of(make_spec("a b", repeats=6)), needed=8)
    assert found == [
        "to tell a difference of 5 % from none, 8 repeats are needed at a spread of 5 %; --repeats 8 takes ≈ 1 min more"
    ]


def test_repeats_that_are_added_after_a_look(make_spec):
    spec = make_spec("a b", repeats=7)
    added = {"is_new": False, "added": cells_in_order(spec)[12:], "there": 12}
    assert [each[:13] for each in said(plan_of(spec, **added))[1]] == ["repeats added"]
    declared = replace(spec, compare=Compare(looks=2))
    assert said(plan_of(declared, **added))[1] == []
    assert said(plan_of(spec))[1] == []


@pytest.mark.parametrize(
    ("budget", "advice"),
    [
        (140.0, "would take ≈ 3 min, its budget is 2 min; --repeats 4 would fit, or raise the budget"),
        (20.0, "its budget is 20 s; not even one repeat fits: shorten run_time, leave out levels or variants"),
    ],
)
def test_more_than_the_budget_is_refused(make_spec, budget, advice):
    with pytest.raises(UsageError) as error:
        said(plan_of(make_spec("a b", repeats=6, budget=budget)))
    assert advice in str(error.value)
    assert said(plan_of(make_spec("a b", repeats=6, budget=180.0)))


def test_what_is_left_over_the_budget_may_be_run_in_parts(make_spec):
    with pytest.raises(UsageError, match="--only runs a part of it now"):
        said(plan_of(make_spec("a b", repeats=6, budget=60.0), is_new=False))

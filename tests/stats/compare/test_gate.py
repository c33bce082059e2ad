from __future__ import annotations

import pytest
from tests.stats.runs import GET, P99, RATE, TEN, table, trial

from plimsoll.stats.compare.gate import VerdictGate
from plimsoll.stats.compare.questions import Question
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.study import TOTAL, Level


def question(endpoint=GET, metric=P99, a="A", b="B"):
    return Question(metric, a, b, "baseline", endpoint, TEN, "read", False)


def finding(weight="blocks", **where):
    return Finding("X", weight, "It is wrong.", Where(**where), "rule")


@pytest.mark.parametrize(
    ("where", "blocks"),
    [
        ({}, True),
        ({"variant": "A"}, True),
        ({"variant": "B"}, True),
        ({"variant": "C"}, False),
        ({"variant": "A", "against": "B"}, True),
        ({"variant": "B", "against": "A"}, True),
        ({"variant": "A", "against": "C"}, False),
        ({"level": TEN}, True),
        ({"level": Level("users", 11)}, False),
        ({"operation": "read"}, True),
        ({"operation": "write"}, False),
        ({"endpoint": GET}, True),
        ({"endpoint": ("POST", "/a")}, False),
        ({"endpoint": TOTAL}, False),
        ({"kinds": ("quantile", "mean")}, True),
        ({"kinds": ("throughput",)}, False),
        ({"variant": "A", "level": TEN, "operation": "read", "endpoint": GET, "kinds": ("quantile",)}, True),
        ({"variant": "A", "level": TEN, "operation": "write", "endpoint": GET}, False),
    ],
)
def test_a_finding_blocks_what_it_is_about(where, blocks):
    assert bool(VerdictGate([finding(**where)]).of_question(question())) is blocks


def test_all_endpoints_together_are_one_of_their_own():
    for key in (TOTAL, ("", "")):
        gate = VerdictGate([finding(endpoint=key)])
        assert gate.of_question(question(TOTAL))
        assert not gate.of_question(question(GET))


def test_warnings_and_insights_block_nothing():
    assert VerdictGate([finding("warning"), finding("insight")]).of_question(question()) == []


def test_a_finding_about_one_run_leaves_the_others():
    first, second = trial("A", table(1), repeat=0), trial("A", table(1), repeat=1)
    gate = VerdictGate([finding(trial=first.id, variant="A", endpoint=GET)])
    assert gate.of_question(question()) == []
    assert gate.of_trial(first, question())
    assert gate.of_trial(second, question()) == []
    assert gate.of_trial(first, question(("POST", "/a"))) == []
    assert gate.of_trial(first, question(metric=RATE))

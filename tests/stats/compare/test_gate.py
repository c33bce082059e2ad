from __future__ import annotations

import pytest
from tests.say.written import written
from tests.stats.runs import GET, P50, P99, RATE, TEN, study, table, trial

from plimsoll.record.cells import CellKey
from plimsoll.stats.compare.gate import VerdictGate
from plimsoll.stats.compare.questions import Question
from plimsoll.stats.findings.finding import Where
from plimsoll.stats.study import TOTAL, Level

STUDY = study(
    *(
        trial(variant, table(1, requests=9400), table(1, key=("GET", "/rare"), requests=600), operation="read")
        for variant in "AB"
    )
)


def question(endpoint=GET, metric=P99, a="A", b="B"):
    return Question(metric, CellKey(a, TEN, "read"), CellKey(b, TEN, "read"), "baseline", endpoint, False, True)


def finding(weight="blocks", **where):
    return written("X", weight, "It is wrong.", Where(**where), "rule")


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
    assert bool(VerdictGate([finding(**where)], STUDY).of_question(question())) is blocks


def test_all_endpoints_together_are_one_of_their_own():
    for key in (TOTAL, ("", "")):
        gate = VerdictGate([finding(endpoint=key)], STUDY)
        assert gate.of_question(question(TOTAL))
        assert not gate.of_question(question(GET))


def test_warnings_and_insights_block_nothing():
    assert VerdictGate([finding("warning"), finding("insight")], STUDY).of_question(question()) == []


def test_a_finding_about_one_run_leaves_the_others():
    first, second = trial("A", table(1), repeat=0), trial("A", table(1), repeat=1)
    gate = VerdictGate([finding(trial=first.id, variant="A", endpoint=GET)], STUDY)
    assert gate.of_question(question()) == []
    assert gate.of_trial(first, question())
    assert gate.of_trial(second, question()) == []
    assert gate.of_trial(first, question(("POST", "/a"))) == []
    assert gate.of_trial(first, question(metric=RATE))


def test_an_endpoint_blocks_the_sum_that_it_is_a_part_of():
    gate = VerdictGate([finding(endpoint=GET)], STUDY)
    assert gate.of_question(question(TOTAL)), "94 % of the requests"
    assert not gate.of_question(question(("GET", "/rare")))


def test_an_endpoint_with_few_requests_blocks_only_the_tail_of_the_sum():
    rows = (table(1, requests=9700), table(1, key=("GET", "/rare"), requests=300))
    gate = VerdictGate(
        [finding(endpoint=("GET", "/rare"))], study(*(trial(each, *rows, operation="read") for each in "AB"))
    )
    assert gate.of_question(question(TOTAL, P99)), "3 % of the requests may be all beyond the p99"
    assert not gate.of_question(question(TOTAL, P50))
    assert not gate.of_question(question(TOTAL, RATE))

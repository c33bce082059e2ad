from __future__ import annotations

import json
import re

import pytest

from plimsoll.report.document.capacity import answer, capacity_document, chart
from plimsoll.report.render.capacity_json import document
from plimsoll.report.render.console import console
from plimsoll.report.render.markdown import markdown
from plimsoll.report.render.pictures import svg
from plimsoll.stats.capacity.estimate import Capacity, CapacityProbe, Crossing
from plimsoll.stats.thresholds.slo import Strain, parse_slo

SLO = parse_slo("p99 < 200ms, errors < 0.1%")
P99, ERRORS = SLO
CROSSING = Crossing(P99, 412.3, 398.1, 425.2, 13.7, 0.04, 12)


def probe(load, p99, errors=0.0, invalid=()):
    strains = [
        Strain(each, value, each.holds(value), False, value / each.limit)
        for each, value in ((P99, p99), (ERRORS, errors))
    ]
    return CapacityProbe(load, 10.0, "confirm", tuple(strains), invalid, f"run-{load:g}")


PROBES = [probe(440, 900.0), probe(400, 170.0), probe(420, 230.0, invalid=("a worker was lost",))]


@pytest.mark.parametrize(
    ("found", "first"),
    [
        (
            Capacity(412.3, 398.1, 425.2, CROSSING, (P99,), "12 runs around it"),
            "capacity 412.3/s, 95 % interval [398.1, 425.2], under p99 < 200ms, errors < 0.1%",
        ),
        (
            Capacity(400, 400, 440, None, (ERRORS,), "the bracket"),
            "capacity between 400/s and 440/s under p99 < 200ms, errors < 0.1%",
        ),
        (
            Capacity(400, 400, None, None, (), "nothing broke"),
            "capacity at least 400/s under p99 < 200ms, errors < 0.1%",
        ),
        (
            Capacity(None, None, 10, None, (P99,), "nowhere"),
            "no capacity under p99 < 200ms, errors < 0.1%: it is not even met at 10/s",
        ),
        (
            Capacity(None, None, None, None, (), "the generator was the limit"),
            "no answer under p99 < 200ms, errors < 0.1%: the generator was the limit",
        ),
    ],
)
def test_the_answer_in_a_sentence(found, first):
    assert answer(found, "/s", SLO)[0] == first
    json.dumps(document(found, PROBES, "/s", SLO, "plimsoll capacity …"), allow_nan=False)
    assert svg(chart(found, PROBES, "/s", SLO)).count('aria-roledescription="point"') == len(PROBES)


def test_a_bracket_claims_no_confidence_and_an_interval_says_what_it_rests_on():
    bracket = answer(Capacity(400, 400, 440, None, (ERRORS,), "the bracket"), "/s", SLO)
    assert "above it breaks: errors < 0.1%" in bracket
    assert bracket[-1] == "found by: the bracket; such a bracket has no confidence level"
    interval = answer(Capacity(412.3, 398.1, 425.2, CROSSING, (P99,), "12 runs around it"), "/s", SLO)
    assert interval[-1] == "elasticity 13.7: 1 % more load makes p99 about 14 % more; runs at one load lie 4 % apart"


def test_every_run_has_a_line_by_load_in_every_form():
    found = capacity_document(
        Capacity(400, 400, 440, None, (ERRORS,), "x"), PROBES, "users", SLO, "plimsoll capacity a|b"
    )
    lines = console(found, 100).splitlines()
    head = next(place for place, line in enumerate(lines) if line.split()[:1] == ["Users"])
    assert lines[head].split() == ["Users", "Phase", "p99", "errors", "Objective", "Run"]
    rows = [line.split() for line in lines[head + 2 : head + 5]]
    assert [(row[0], row[-2]) for row in rows] == [("400", "met"), ("420", "invalid"), ("440", "broken")]
    text = markdown(found)
    rows = [re.sub(" +", " ", line) for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(PROBES)
    assert len({line.count("|") for line in rows}) == 1
    assert "| 400 users | confirm | 170 ms | 0% | met | run-400 |" in rows
    assert "Made by: plimsoll capacity a\\|b" in text


def test_the_answer_comes_first():
    found = capacity_document(Capacity(400, 400, 440, None, (ERRORS,), "x"), PROBES, "/s", SLO, "c")
    assert console(found, 120).splitlines()[3].startswith("Capacity between 400/s and 440/s under p99 < 200ms")


def test_a_value_that_may_be_greater_is_marked():
    strains = (Strain(P99, 230.0, False, True, 1.15),)
    late = CapacityProbe(400, 10.0, "confirm", strains, (), "run")
    found = capacity_document(Capacity(None, None, 400, None, (P99,), "x"), [late], "/s", SLO, "c")
    assert "≥230 ms" in console(found, 100)
    assert "≥230 ms" in markdown(found)

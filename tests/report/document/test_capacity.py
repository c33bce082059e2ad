from __future__ import annotations

import json

import pytest

from plimsoll.report.document.capacity import answer, chart, document, markdown, table
from plimsoll.report.render.pictures import svg
from plimsoll.stats.capacity import Capacity, Crossing, Probe
from plimsoll.stats.slo import Strain, parse_slo

SLO = parse_slo("p99 < 200ms, errors < 0.1%")
P99, ERRORS = SLO
CROSSING = Crossing(P99, 412.3, 398.1, 425.2, 13.7, 0.04, 12)


def probe(load, p99, errors=0.0, invalid=()):
    strains = [
        Strain(each, value, each.holds(value), False, value / each.limit)
        for each, value in ((P99, p99), (ERRORS, errors))
    ]
    return Probe(load, 10.0, "confirm", tuple(strains), invalid, f"run-{load:g}")


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


def test_every_run_has_a_line_by_load():
    lines = table(PROBES, "/s", 100)
    assert lines[0].split() == ["Rate", "Phase", "p99", "errors", "Objective", "Run"]
    assert [line.split()[0] for line in lines[2:]] == ["400/s", "420/s", "440/s"]
    assert [line.split()[-2] for line in lines[2:]] == ["met", "invalid", "broken"]


def test_markdown_has_the_same_rows_and_the_command():
    text = markdown(Capacity(400, 400, 440, None, (ERRORS,), "x"), PROBES, "users", SLO, "plimsoll capacity a|b")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(PROBES)
    assert len({line.count("|") for line in rows}) == 1
    assert "| 400 users | confirm | 170 ms | 0% | met | run-400 |" in rows
    assert "Made by `plimsoll capacity a|b`." in text

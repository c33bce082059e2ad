from __future__ import annotations

import pytest
from tests.say.written import written
from tests.stats.runs import GET, P99, TEN, pairs, study, table, trial

from plimsoll.record.cells import CellKey
from plimsoll.say.remarks import reason_text, remark_text
from plimsoll.stats.compare.evidence import counted_failures, fewest_requests, gather, too_few
from plimsoll.stats.compare.gate import VerdictGate
from plimsoll.stats.compare.questions import Question
from plimsoll.stats.compare.readings import Readings
from plimsoll.stats.findings.finding import Where

QUESTION = Question(P99, CellKey("A", TEN), CellKey("B", TEN), "baseline", GET, False, True)


def gathered(made, findings=()):
    return gather(made, Readings(made), VerdictGate(findings, made), QUESTION)


@pytest.mark.parametrize(
    ("q", "requests", "reason"),
    [
        (0.99, 45, "p99 rests on the single largest of 45 requests; 368 are needed, 10\u00a0000 to compare well"),
        (0.99, 150, "p99 rests on the 2 largest of 150 requests; 368 are needed, 10\u00a0000 to compare well"),
        (0.5, 5, "p50 rests on the 3 largest of 5 requests; 6 are needed, 200 to compare well"),
        (
            0.999,
            3000,
            "p99.9 rests on the 4 largest of 3000 requests; 3\u00a0688 are needed, 100\u00a0000 to compare well",
        ),
        (0.99, 0, "p99 rests on none of 0 requests; 368 are needed, 10\u00a0000 to compare well"),
        (0.99, 368, ""),
        (0.5, 6, ""),
    ],
)
def test_too_few_requests_for_a_percentile(q, requests, reason):
    found = too_few(q, requests, True)
    assert (remark_text(found) if found is not None else "") == reason


def test_all_pairs_count_when_nothing_is_wrong():
    evidence, refusal = gathered(pairs([1, 2, 3], [4, 5, 6]))
    assert refusal is None
    assert [(a.repeat, b.repeat) for a, b in evidence.pairs] == [(0, 0), (1, 1), (2, 2)]
    assert (evidence.failed, evidence.remarks) == (frozenset(), ())


def test_the_reason_of_a_refusal_is_the_first_there_is():
    made = pairs([1], [2])
    blocking = written("PAYLOAD", "blocks", "Not the same work.", Where(), "rule")
    evidence, refusal = gathered(made, [blocking])
    assert (refusal.word, reason_text(refusal)) == ("invalid", "Not the same work.")
    assert evidence.failed == {"PAYLOAD"}
    assert len(evidence.pairs) == 1  # its values may be shown


def test_a_pair_in_which_one_lacks_the_endpoint_does_not_count():
    made = study(
        trial("A", table(1), repeat=0),
        trial("B", table(1), repeat=0),
        trial("A", table(1), repeat=1),
        trial("B", repeat=1),
    )
    evidence, refusal = gathered(made)
    assert (len(evidence.pairs), refusal) == (1, None)


def test_an_endpoint_without_times_is_explained():
    made = study(trial("A", table(1)), trial("B", table(None, requests=0)))
    assert remark_text(gathered(made)[1].reason) == "the p99, as nothing was timed, is not known of B"


def test_the_fewest_requests_of_any_run_decide():
    made = study(
        trial("A", table(1, requests=500)), trial("B", table(1, requests=None, rate=1.0)), trial("C", table(1))
    )
    bench = Readings(made)
    assert fewest_requests(bench, QUESTION, bench.pairs(CellKey("A", TEN), CellKey("B", TEN))) == (300, False)
    assert fewest_requests(bench, QUESTION, bench.pairs(CellKey("A", TEN), CellKey("C", TEN))) == (500, True)
    assert fewest_requests(bench, QUESTION, ()) == (None, False)


def test_a_number_that_the_source_rounds_was_not_counted():
    rounded = table(1, requests=12_300, rounding={"requests": 50.0})
    bench = Readings(study(trial("A", rounded), trial("B", table(1, requests=20_000))))
    assert fewest_requests(bench, QUESTION, bench.pairs(CellKey("A", TEN), CellKey("B", TEN))) == (12_300, False)


def test_failures_are_counted_where_they_are_known():
    made = pairs([1, 2], [3, 4], of=lambda ms: table(ms, failures=None if ms == 4 else 5))
    bench = Readings(made)
    ((a, b),) = counted_failures(bench, QUESTION, bench.pairs(CellKey("A", TEN), CellKey("B", TEN)))
    assert (a.failures, b.requests) == (5, 20_000)
    assert counted_failures(bench, QUESTION, ()) == []

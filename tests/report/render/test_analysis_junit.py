from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from tests.report.studies import SAMPLES, chain, ladder, operations, rates

from plimsoll.report.render.analysis_junit import analysis_junit
from plimsoll.report.sources import OutputRequest, StudySource
from plimsoll.stats.analysis import Analysis


def suite(analysis: Analysis) -> ElementTree.Element:
    return ElementTree.fromstring(analysis_junit(StudySource(analysis), OutputRequest()).encode())[0]


def outcomes(analysis: Analysis) -> list[tuple[str | None, str]]:
    return [(case.get("name"), case[0].tag) for case in suite(analysis)]


def only_primary(analysis: Analysis) -> Analysis:
    return replace(analysis, comparisons=tuple(each for each in analysis.comparisons if each.primary))


def test_a_test_per_primary_comparison_and_one_for_the_runs():
    primary = only_primary(ladder())
    assert outcomes(primary) == [
        ("p99 of GET /threads/{id} at 48 users, new against old", "system-out"),
        ("p99 of GET /threads/{id} at 162 users, new against old", "system-out"),
        ("p99 of GET /threads/{id} at 336 users, new against old", "failure"),
        ("p99 of GET /threads/{id} at 460 users, new against old", "failure"),
        ("run validity", "system-out"),
    ]
    found = suite(primary)
    assert [found.get(name) for name in ("name", "tests", "failures", "errors", "skipped")] == [
        "plimsoll permalink", "5", "2", "0", "0",
    ]  # fmt: skip


def test_a_failure_says_what_became_worse_and_what_that_rests_on():
    failure = suite(ladder())[2][0]
    assert failure.get("message") == "slower: DIFFERENT, at least 5 % (×1.32 [1.28, 1.36])"
    assert "p99 rests on" in (failure.text or "")


def test_another_comparison_has_a_test_where_it_is_certain():
    extra = [each for each in outcomes(ladder()) if each not in outcomes(only_primary(ladder()))]
    assert len(extra) == 16
    assert ("throughput of Aggregated at 460 users, new against old", "failure") in extra


def test_what_is_worse_and_fails_no_build_passes():
    doubtful = tuple(replace(each, at_least=False) for each in ladder().comparisons)
    assert {tag for _, tag in outcomes(Analysis(ladder().study, (), doubtful))} == {"system-out"}


def test_what_became_better_passes():
    better = Analysis(
        ladder().study,
        (),
        tuple(replace(each, ratio=2.0 if each.metric.more_is_better else 0.5) for each in ladder().comparisons),
    )
    assert {tag for _, tag in outcomes(better)} == {"system-out"}


def test_what_blocks_is_an_error_and_what_is_open_is_skipped():
    found = outcomes(chain())
    assert ("PAYLOAD: async, GET /todos/", "error") in found
    assert ("p99 of GET /todos/ at 50 users, async against baseline", "error") in found
    assert ("p99 of GET /todos/ at 50 users, limit against async", "skipped") in found


def test_where_nothing_is_compared_there_is_still_a_test():
    assert outcomes(operations()) == [("run validity", "system-out")]
    study = operations().study
    broken = replace(study, trials=tuple(replace(each, invalid=("lag",)) for each in study.trials))
    assert outcomes(Analysis(broken, (), ())) == [("run validity", "error")]


def test_no_two_tests_have_one_name():
    twice = Analysis(rates().study, (rates().findings[0],) * 2, ())
    assert [name for name, _ in outcomes(twice)][:2] == ["GEN: koding, at 900/s", "GEN: koding, at 900/s (2)"]


@pytest.mark.parametrize("name", SAMPLES)
def test_counts_are_those_of_the_tests(name):
    found = suite(SAMPLES[name]())
    counted = {tag: len(found.findall(f"testcase/{tag}")) for tag in ("failure", "error", "skipped")}
    assert [int(found.get(key, "")) for key in ("tests", "failures", "errors", "skipped")] == [
        len(found), *counted.values(),
    ]  # fmt: skip

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.stats.runs import DIFFERENT, ERRORS, GET, P99, RATE, pairs, study, table, trial

from plimsoll.say.findings import said
from plimsoll.say.remarks import reason_text, warnings
from plimsoll.stats.analysis import analyse
from plimsoll.stats.findings import BLOCKING


def test_findings_decide_which_verdicts_there_are():
    def row(ms, size):
        return table(ms, size=size, rate=20.0)

    sound = pairs(*DIFFERENT, of=lambda ms: row(ms, 100.0), metrics=(P99, RATE))
    found = analyse(sound)
    assert [(comparison.metric.text, comparison.word) for comparison in found.comparisons] == [
        ("p99", "different"), ("throughput", "equivalent"),
    ]  # fmt: skip
    assert found.comparisons[0].checks == (len(BLOCKING) + 1,) * 2
    assert found.study is sound
    bigger = pairs(*DIFFERENT, of=lambda ms: row(ms, 100.0 if ms < 220 else 200.0), metrics=(P99, RATE))
    refused = analyse(bigger)
    assert refused.findings[0].weight == "blocks"
    assert {comparison.word for comparison in refused.comparisons} == {"invalid"}
    assert reason_text(refused.comparisons[0]) == said(refused.findings[0]).statement
    passed, of = refused.comparisons[0].checks
    assert passed < of


def test_times_are_not_compared_where_failures_differ_but_failures_are():
    trials = [
        trial(variant, table(200 + repeat, failures=failures + repeat), repeat=repeat)
        for variant, failures in (("A", 10), ("B", 2000))
        for repeat in range(4)
    ]
    times, failures = analyse(study(*trials, metrics=(P99, ERRORS))).comparisons
    assert times.word == "invalid"
    assert "failed" in reason_text(times)
    assert (failures.word, failures.at_least, failures.better) == ("different", True, False)


def test_the_same_study_has_the_same_analysis():
    made = pairs(*DIFFERENT)
    assert analyse(made).comparisons == analyse(made).comparisons


@pytest.mark.parametrize("trials", [(), (trial("A", table(1)),)])
def test_of_nothing_or_of_one_variant_nothing_is_compared(trials):
    assert analyse(study(*trials)).comparisons == ()


def test_a_bench_that_calls_identical_systems_different_is_named():
    def rows(ms):
        return [table(ms, key=("GET", f"/{place}")) for place in range(8)]

    trials = [
        trial(variant, *rows(ms + repeat), repeat=repeat)
        for variant, ms in (("A", 200.0), ("B", 240.0))
        for repeat in range(4)
    ]
    (warning,) = warnings(analyse(study(*trials, is_aa=True)))
    assert "8 of 8 A/A comparisons" in warning
    assert list(warnings(analyse(study(*trials)))) == []
    assert GET == ("GET", "/a")


def test_a_run_does_not_wait_for_what_only_an_analysis_needs():
    modules = "plimsoll.cli, plimsoll.stats.analysis, plimsoll.stats.study"
    program = f"import sys, {modules}; print(sorted({{'scipy', 'statsmodels', 'arch'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

"""A run after earlier ones, as a gate of CI compares it: what the comment, the annotations and the tests say of it."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from tests.stats.compare.test_prediction import STEADY, found

from plimsoll.report.formats import FORMATS
from plimsoll.report.gate import is_unexplained, unexplained
from plimsoll.report.sources import OutputRequest, StudySource
from plimsoll.stats.thresholds.verdict import ThresholdResult

HOLDS = ThresholdResult("p99 < 300ms", True, 108.0, 300.0, "p99: 108 ms", "ms")
BROKEN = ThresholdResult("errors < 1%", False, 2.0, 1.0, "errors: 2 %", "%")
NOT_SHOWN = replace(HOLDS, passed=False, shown=False)
DRIFTING = [value * factor for value, factor in zip(STEADY, [1, 1.1, 0.9, 1.05, 0.95] * 2 + [1], strict=True)]


def source(values, ms, *thresholds):
    analysis = found(values, ms)
    newest = replace(analysis.study.newest, thresholds=thresholds)
    return StudySource(replace(analysis, study=replace(analysis.study, newest=newest)))


def written(format, *given):
    made = FORMATS[format].study(source(*given), OutputRequest())
    return made if isinstance(made, str) else "".join(made)


def test_the_comment_begins_with_the_verdict_the_thresholds_and_the_versions():
    text = written("md", STEADY, 100, HOLDS, BROKEN)
    assert text.split("\n\n")[:3] == [
        "# this run against main",
        "**Failed: 1 of 2 thresholds holds; nothing is certainly worse**",
        "- ✓ p99 &lt; 300ms: p99: 108 ms\n- ✗ errors &lt; 1%: errors: 2 %\n"
        "- This run is r, branch slow, commit 1a2b3c4d5e; the last good run of main is r0.",
    ]
    assert text.index("✗") < text.index("**Answer.**")


@pytest.mark.parametrize(
    ("ms", "thresholds", "title"),
    [
        (100, (), "Passed: nothing is certainly worse"),
        (100, (HOLDS,), "Passed: 1 of 1 threshold holds; nothing is certainly worse"),
        (100, (NOT_SHOWN,), "Open: 0 of 1 threshold holds; nothing is certainly worse"),
        (120, (HOLDS,), "Failed: 1 of 1 threshold holds; 1 figure certainly worse"),
    ],
)
def test_the_verdict_follows_from_thresholds_and_regressions(ms, thresholds, title):
    assert f"**{title}**" in written("md", STEADY, ms, *thresholds)


def test_annotations_say_what_is_broken_and_how_noisy_the_runner_is():
    lines = written("github", STEADY, 100, HOLDS, BROKEN).splitlines()
    assert lines[0] == "::error title=errors < 1%25%3A broken::errors: 2 %25"
    assert not any("p99 < 300ms" in line for line in lines)
    [noise] = [line for line in lines if line.startswith("::notice title=Noise of this runner::")]
    assert "11 good runs of main" in noise


def test_with_few_earlier_runs_the_noise_is_said_to_be_unknown():
    text = written("github", STEADY[:1], 150)
    assert "The noise of this runner is not known: main has 1 good run of this scenario, and 5 are needed." in text
    assert "::warning" not in text


def test_a_slowdown_that_is_not_certain_is_a_warning_where_the_scatter_does_not_explain_it():
    analysis = found(DRIFTING, 124)
    p99 = analysis.comparisons[0]
    assert (p99.word, p99.better, p99.low > 1) == ("not distinguishable", None, True)
    assert unexplained(analysis) == (p99,)
    text = written("github", DRIFTING, 124)
    assert "::warning title=p99 of GET" in text
    assert "beyond the scatter of 11 earlier runs, but not certain as one of all comparisons" in text
    assert "1 figure is worse than the earlier runs explain" in written("md", DRIFTING, 124)
    assert not unexplained(found(DRIFTING, 102))
    assert not unexplained(found(DRIFTING, 85)), "it is better"


def test_with_one_run_each_only_what_is_twice_as_bad_is_a_warning():
    twice, less = (found(STEADY[:1], ms).comparisons[0] for ms in (210, 180))
    assert (twice.word, less.word) == ("one run", "one run")
    assert is_unexplained(twice) and not is_unexplained(less)
    assert "which is much; how much of it is noise is unknown" in written("github", STEADY[:1], 210)


def test_throughput_is_worse_when_it_falls():
    p99 = found(DRIFTING, 124).comparisons[0]
    throughput = replace(p99, metric=replace(p99.metric, kind="throughput", quantile=None))
    assert not is_unexplained(throughput)
    assert is_unexplained(replace(throughput, ratio=0.8, low=0.7, high=0.9))
    assert not is_unexplained(replace(throughput, ratio=0.8, low=0.6, high=1.1))


def test_junit_has_the_thresholds_and_names_that_stay():
    suite = ElementTree.fromstring(written("junit", STEADY, 100, HOLDS, BROKEN).encode())[0]
    assert suite.get("name") == "plimsoll this run against main"
    found = {case.get("name"): case[0].tag for case in suite if case.get("classname") == "plimsoll.threshold"}
    assert found == {"p99 < 300ms": "system-out", "errors < 1%": "failure"}
    assert suite.get("failures") == "1"


def test_metrics_have_the_names_of_a_run_by_itself():
    assert all(" / " not in name for name in json.loads(written("bmf", STEADY, 100)))

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.report.studies import chain, ladder, operations

from plimsoll.report.gate import exit_code, is_invalid, is_regression, regressions
from plimsoll.report.sources import StudySource
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.metric import Metric


def having(analysis: Analysis, **study: object) -> Analysis:
    changed = replace(analysis.study, **study)
    comparisons = (
        replace(each, primary=any(one.is_same(each.metric) and one.is_about(each.endpoint) for one in changed.primary))
        for each in analysis.comparisons
    )
    return Analysis(changed, analysis.findings, tuple(comparisons))


def with_words(analysis: Analysis, word: str) -> Analysis:
    changed = tuple(replace(each, word=word, q=None) for each in analysis.comparisons)
    return Analysis(analysis.study, analysis.findings, changed)


def test_the_primary_metric_is_what_is_judged():
    assert {(each.metric.text, each.endpoint) for each in ladder().judged} == {("p99", ("GET", "/threads/{id}"))}
    assert len(ladder().judged) == 4


def test_without_a_primary_metric_everything_is():
    plain = having(ladder(), primary=())
    assert plain.judged == plain.comparisons


def test_an_invalid_comparison_of_the_primary_metric_is_still_judged():
    invalid = with_words(ladder(), "invalid")
    assert len(invalid.judged) == 4
    assert is_invalid(invalid)
    assert exit_code(StudySource(invalid), None) == 3


def test_a_regression_is_a_certain_difference_for_the_worse():
    assert {each.level.value for each in regressions(ladder())} == {336, 460}
    first = regressions(ladder())[0]
    assert not is_regression(replace(first, at_least=False)), "it may be less than matters"
    assert not is_regression(replace(first, q=0.02)), "one in a hundred is too many for a build"
    assert not is_regression(replace(first, q=None))
    assert exit_code(StudySource(ladder()), "regression") == 1
    assert exit_code(StudySource(ladder()), None) == 0
    assert exit_code(StudySource(with_words(ladder(), "not distinguishable")), "regression") == 0


def test_what_is_better_is_no_regression():
    better = tuple(replace(each, ratio=2.0 if each.metric.more_is_better else 0.5) for each in ladder().comparisons)
    assert exit_code(StudySource(Analysis(ladder().study, (), better)), "regression") == 0


def test_a_regression_outweighs_that_something_else_is_invalid():
    first = ladder().judged[0]
    mixed = tuple(replace(each, word="invalid") if each is first else each for each in ladder().comparisons)
    assert exit_code(StudySource(Analysis(ladder().study, (), mixed)), "regression") == 1
    assert exit_code(StudySource(Analysis(ladder().study, (), mixed)), None) == 3


def test_without_a_primary_metric_one_valid_comparison_is_enough():
    undeclared = having(with_words(chain(), "invalid"), primary=())
    assert is_invalid(undeclared)
    comparisons = (replace(undeclared.comparisons[0], word="equivalent"), *undeclared.comparisons[1:])
    assert not is_invalid(Analysis(undeclared.study, (), comparisons))


@pytest.mark.parametrize(("reasons", "code"), [((), 0), (("too late",), 3)])
def test_where_nothing_is_compared_the_runs_decide(reasons, code):
    study = operations().study
    trials = tuple(replace(each, invalid=reasons) for each in study.trials)
    assert exit_code(StudySource(Analysis(replace(study, trials=trials), (), ())), "regression") == code
    one = (replace(trials[0], invalid=()), *trials[1:])
    assert exit_code(StudySource(Analysis(replace(study, trials=one), (), ())), None) == 0


def test_a_metric_of_one_endpoint_is_not_that_of_another():
    declared = having(with_words(ladder(), "equivalent"), primary=(Metric("throughput", None, "Aggregated"),))
    assert {each.endpoint for each in declared.judged} == {("", "Aggregated")}

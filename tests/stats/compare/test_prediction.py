from __future__ import annotations

import math

import numpy as np
import pytest
from tests.stats.runs import ERRORS, GET, P99, of_exact, table, trial

from plimsoll.experiment.matching.studies import after_earlier
from plimsoll.report.gate import regressions
from plimsoll.say.answer import answer_of
from plimsoll.stats.analysis import analyse
from plimsoll.stats.compare.prediction import LEAST_EARLIER, NewestRun, predicted
from plimsoll.stats.study import Study

STEADY = [100, 103, 97, 101, 99, 102, 98, 100, 104, 96, 100]


def single(name, ms, failures=0, level=None):
    row = table(ms, failures=failures)
    return Study(name, (trial("scenario", row, level=level),), metrics=(P99, ERRORS), source=name)


def newest_of(earlier):
    return NewestRun(
        baseline="main", earlier=len(earlier), last="r0", last_commit="", run="r", branch="slow", commit="1a2b3c4d5e6f"
    )


def found(values, ms, failures=0):
    earlier = [single(f"r{place}", each) for place, each in enumerate(values)]
    return analyse(of_exact(after_earlier(newest_of(earlier), earlier, single("r", ms, failures))))


def test_the_formula():
    result = predicted([1.0, 2.0, 3.0, 4.0, 5.0], 8.0)
    error = math.sqrt(2.5) * math.sqrt(1 + 1 / 5)
    assert (result.centre, result.freedom) == (5.0, 4.0)
    assert result.error == pytest.approx(error)
    low, high = result.interval
    assert (high - low) / 2 == pytest.approx(2.7764451 * error)


@pytest.mark.parametrize("runs", [5, 11, 20])
def test_one_more_run_of_the_same_lies_within_it_in_19_of_20_cases(runs):
    drawn = np.random.default_rng(3).normal(size=(4000, runs + 1))
    inside = [low <= 0 <= high for row in drawn for low, high in [predicted(row[:-1], row[-1]).interval]]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.012)


def test_a_slowdown_that_the_scatter_cannot_explain_fails_a_build():
    analysis = found(STEADY, 120)
    p99 = analysis.comparisons[0]
    assert (p99.word, p99.at_least, p99.earlier, p99.pairs) == ("different", True, 11, 1)
    assert p99.a_value == pytest.approx(math.exp(np.mean(np.log(STEADY))))
    assert regressions(analysis)
    assert answer_of(analysis)[0].startswith("`this run` has a 20 % higher p99 than `main`")
    assert "11 earlier runs" in answer_of(analysis)[0]


def test_one_that_it_can_explain_fails_none():
    noisy = [
        value * factor for value, factor in zip(STEADY, [1, 1.2, 0.8, 1.1, 0.9, 1.3, 0.7, 1, 1.25, 0.8, 1], strict=True)
    ]
    analysis = found(noisy, 120)
    assert analysis.comparisons[0].word == "not distinguishable"
    assert not regressions(analysis)
    assert "more pair" not in " ".join(answer_of(analysis))


def test_failures_that_no_run_had_before():
    analysis = found(STEADY, 100, failures=1_000)
    errors = next(each for each in analysis.comparisons if each.metric.kind == "errors")
    assert (errors.word, errors.earlier) == ("different", 11)
    assert errors in regressions(analysis)
    assert not regressions(found(STEADY, 100, failures=2))


def test_fewer_runs_predict_nothing():
    analysis = found(STEADY[: LEAST_EARLIER - 1], 150)
    assert analysis.comparisons[0].word == "one run"
    assert analysis.comparisons[0].endpoint == GET


def test_a_run_of_the_branch_itself_has_another_name():
    earlier = [single(f"r{place}", each) for place, each in enumerate(STEADY)]
    newest = single("r", 100)
    newest = Study("r", tuple(trial("main", row, level=None) for each in newest.trials for row in each.endpoints))
    assert after_earlier(newest_of(earlier), earlier, newest).variants == ("main", "this run")

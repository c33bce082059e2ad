from __future__ import annotations

import json

import pytest

from plimsoll.report.render.bencher import MEASURES, bencher_metrics
from plimsoll.report.sources import OutputRequest, StudySource
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.study import Level, Measured, Study, Trial


def measured(p50, rate, failures=0, key=("GET", "/a")):
    return Measured(*key, requests=100, failures=failures, rate=rate, mean=p50, quantiles={0.5: p50, 0.99: 2 * p50})


def written(*trials):
    study = Study("x", trials)
    return json.loads(bencher_metrics(StudySource(Analysis(study, (), ())), OutputRequest()))


def trial(variant, p50, repeat=0, **given):
    level = Level("users", 5)
    return Trial(
        id=f"{variant}{repeat}", variant=variant, level=level, repeat=repeat, endpoints=(measured(p50, 50.0),), **given
    )


def test_one_run_has_its_endpoints():
    found = written(trial("a", 10.0))
    assert list(found) == ["GET /a"]
    assert found["GET /a"]["latency-p50"] == {"value": pytest.approx(10e6)}
    assert found["GET /a"]["throughput"] == {"value": pytest.approx(50)}
    assert found["GET /a"]["error-rate"] == {"value": 0.0}
    assert set(found["GET /a"]) <= set(MEASURES)


def test_repeats_have_an_interval_and_variants_a_name_each():
    found = written(*(trial("a", p50, repeat) for repeat, p50 in enumerate([10.0, 11.0, 12.0])), trial("b", 20.0))
    assert list(found) == ["a / 5 users / GET /a", "b / 5 users / GET /a"]
    latency = found["a / 5 users / GET /a"]["latency-p50"]
    assert latency["lower_value"] < latency["value"] < latency["upper_value"]
    assert latency["value"] == pytest.approx((10 * 11 * 12) ** (1 / 3) * 1e6)


def test_of_compared_runs_the_last_one_counts_under_the_names_of_a_run_by_itself():
    level = Level("users", 5)
    runs = [
        Trial(id=each, variant=each, level=level, endpoints=(measured(p50, 50.0),))
        for each, p50 in (("r1", 10.0), ("r2", 20.0))
    ]
    found = written(*runs)
    assert list(found) == ["GET /a"]
    assert found["GET /a"]["latency-p50"]["value"] == pytest.approx(20e6)


def test_what_is_invalid_is_left_out():
    assert written(trial("a", 10.0, invalid=("busy",))) == {}

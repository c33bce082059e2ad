import json
from dataclasses import replace

import pytest
from tests.report.studies import EVIL, SAMPLES, chain, imported, ladder, operations, rates
from tests.report.traffic import Traffic, trial

from plimsoll.report.charts import MOST_CURVES, MOST_ENDPOINTS, busiest, charts_of, trial_label, what_of
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.study import Level, Measured, Study, Trial


def kinds(analysis) -> set[str]:
    return {chart.kind for chart in charts_of(analysis)}


@pytest.mark.parametrize("shape", SAMPLES)
def test_names_are_unique_and_everything_is_json(shape):
    charts = charts_of(SAMPLES[shape]())
    assert len({chart.name for chart in charts}) == len(charts)
    for chart in charts:
        assert "{{" not in json.dumps({**chart.spec, "datasets": None, "title": None}, allow_nan=False)


def test_each_shape_has_what_there_is_to_show_of_it():
    always = {"percentiles", "course_rate", "course_times", "course_heat", "target"}
    assert kinds(ladder()) == always | {"verdicts", "ladder_throughput", "ladder_latency", "failures"}
    assert kinds(operations()) == always | {"ladder_throughput", "ladder_latency", "failures"}
    assert kinds(chain()) == always | {"verdicts", "histogram"}
    assert kinds(rates()) >= always | {"verdicts", "ladder_throughput"}
    assert kinds(imported()) == {"verdicts", "percentiles"}


def test_with_several_variants_there_is_a_curve_for_each_level_and_with_one_for_all():
    of_ladder = [chart for chart in charts_of(ladder()) if chart.kind == "percentiles" and not any(chart.endpoint)]
    assert [chart.level for chart in of_ladder] == ["48 users", "162 users", "336 users", "460 users"]
    assert of_ladder[0].spec["encoding"]["color"]["scale"]["domain"] == ["old", "new"]
    upload = [chart for chart in charts_of(operations()) if chart.kind == "percentiles" and chart.operation == "upload"]
    assert len(upload) == 1
    assert upload[0].spec["encoding"]["color"]["scale"]["domain"] == ["10 users", "30 users", "50 users"]


def test_runs_without_the_asked_load_have_a_curve_and_a_course():
    charts = [chart for chart in charts_of(rates()) if chart.level == "900/s"]
    curve = next(chart for chart in charts if chart.kind == "percentiles")
    assert curve.spec["encoding"]["color"]["scale"]["domain"] == ["tunnel", "koding"]
    assert any(chart.kind == "course_rate" and chart.variant == "koding" for chart in charts)
    assert EVIL in curve.title


def test_of_many_endpoints_the_busiest_have_charts():
    endpoints = tuple(Measured("GET", f"/{place}", requests=place, quantiles={0.5: 1.0}) for place in range(2000))
    study = Study("x", (Trial(id="1", variant="a", endpoints=endpoints),))
    assert busiest(study, "") == sorted(("GET", f"/{place}") for place in range(2000 - MOST_ENDPOINTS, 2000))
    assert len(charts_of(Analysis(study, (), ()))) <= MOST_ENDPOINTS + 1


def test_a_run_is_called_what_tells_it_from_others():
    study = ladder().study
    assert trial_label(study, study.trials[-1]).endswith("at 460 users, repeat 5")
    # An experiment calls its first repeat 1, which is what its lines say of a cell.
    counted = replace(study, trials=tuple(replace(each, repeat=each.repeat + 1) for each in study.trials))
    assert trial_label(counted, counted.trials[-1]).endswith("at 460 users, repeat 5")
    assert trial_label(imported().study, imported().study.trials[0]) == "old at 48 users"


def test_the_axis_says_what_the_clock_was():
    study = imported().study
    assert what_of(study) == "service time"
    mixed = replace(study, trials=(*study.trials, *ladder().study.trials[:1]))
    assert what_of(mixed) == "time"


def test_the_endpoints_of_a_single_run_share_a_chart_and_the_slowest_comes_first():
    endpoints = {("GET", f"/{place}"): Traffic(10.0, 2.0**place) for place in range(1, 11)}
    study = Study("one", (trial("run", Level("users", 5), endpoints),))
    (chart,) = [
        each for each in charts_of(Analysis(study, (), ())) if each.kind == "percentiles" and "parts" not in each.name
    ]
    series = chart.spec["encoding"]["color"]["scale"]["domain"]
    assert len(series) == MOST_CURVES
    assert series == ["Aggregated", *(f"GET /{place}" for place in range(10, 4, -1))]
    assert chart.title == "Percentiles by endpoint"
    assert "in the table" in chart.note

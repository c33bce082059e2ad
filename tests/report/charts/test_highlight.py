import json
from dataclasses import replace

import pytest
from tests.report.studies import SAMPLES, chain, ladder, operations, rates
from tests.say.written import written

from plimsoll.report.charts import charts_of
from plimsoll.report.charts.highlight import RUNGS, SECONDS, highlighted
from plimsoll.report.render.pictures import svg
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.subject import Subject
from plimsoll.stats.findings.target.leaks import MemoryGrowth
from plimsoll.stats.study import Level

CHARTS = {"ladder": charts_of(ladder()), "chain": charts_of(chain()), "operations": charts_of(operations())}
CHARTS["rates"] = charts_of(rates())


def first(sample, kind):
    return next(chart for chart in CHARTS[sample] if chart.kind == kind)


def finding(rule, evidence, where=None) -> Finding:
    return written(rule, "insight", "Something.", where or Where(), "a rule", evidence)


def marked(chart, of) -> list:
    return highlighted(chart, of).spec["datasets"]["highlight"]


@pytest.mark.parametrize("kind", ["course_rate", "course_times", "course_heat"])
@pytest.mark.parametrize(
    ("rule", "evidence", "spans"),
    [
        ("STALL", {"at_s": (3.0, 7.0)}, [(3, 4), (7, 8)]),
        ("COLD", {"between_s": (2.0, 5.0)}, [(2, 5)]),
        ("NONSTATIONARY", {"between_s": (2.0, 10.0)}, [(2, 10)]),
        ("CRASH", {"at_s": (6.0,)}, [(6, 10)]),
    ],
)
def test_seconds_are_bands_in_the_charts_of_their_run(kind, rule, evidence, spans):
    chart = first("ladder", kind)
    of = finding(rule, {**evidence, "run": chart.trial})
    assert [(row["from"], row["to"]) for row in marked(chart, of)] == spans
    assert highlighted(chart, of).spec["datasets"]["highlight-label"][0]["label"] == SECONDS[rule]
    assert highlighted(replace(chart, trial="another"), of) is None


@pytest.mark.parametrize(
    ("rule", "evidence", "low", "high"),
    [
        ("SAT", {"bracket": (162.0, 336.0), "peak": 336.0}, 162, 336),
        ("RETRO", {"loads": (336.0, 460.0)}, 336, 460),
        ("ELAST", {"loads": (48.0, 162.0)}, 48, 162),
        ("SERIAL", {"loads": (48.0, 460.0)}, 48, 460),
    ],
)
def test_rungs_are_a_band_in_both_charts_of_a_ladder(rule, evidence, low, high):
    for kind in ("ladder_throughput", "ladder_latency"):
        chart = first("ladder", kind)
        (row,) = marked(chart, finding(rule, evidence, Where("old")))
        assert (row["from"], row["to"]) == (low, high)
        assert row["label"].startswith("old: ")


def test_a_single_rung_is_a_band_around_it():
    (row,) = marked(first("ladder", "ladder_latency"), finding("LITTLE", {}, Where("new", Level("users", 162.0))))
    assert row["from"] < 162 < row["to"]
    assert row["to"] - row["from"] < 40


def test_a_rule_about_levels_that_this_ladder_has_not_is_not_seen_in_it():
    assert highlighted(first("ladder", "ladder_latency"), finding("SAT", {"bracket": (1.0, 2.0)})) is None
    assert highlighted(first("ladder", "ladder_latency"), finding("LITTLE", {"ratios": (1.0,)})) is None


def test_failures_are_marked_from_their_onset_on():
    rows = marked(first("operations", "failures"), finding("ERR", {"bracket": (10.0, 30.0)}))
    assert [row["cell"] for row in rows] == ["30 users", "50 users"]
    assert all(row["label"].endswith("% failed") for row in rows)


def test_unequal_failures_are_those_of_the_two_variants_at_that_level():
    where = Where("new", Level("users", 460.0), against="old")
    rows = marked(first("ladder", "failures"), finding("ERR", {"difference": (0.1, 0.2)}, where))
    assert [row["cell"] for row in rows] == ["old at 460 users", "new at 460 users"]


def test_modes_are_where_they_were_found():
    of = finding("BIMODAL", {"modes_ms": (84.0, 1200.0)})
    for kind in ("histogram", "percentiles"):
        rows = marked(first("chain", kind), of)
        assert [(row["ms"], row["label"]) for row in rows] == [(84.0, "84.0 ms"), (1200.0, "1.20 s")]


def test_a_leak_is_a_line_in_the_chart_of_memory_only():
    rss = next(chart for chart in CHARTS["ladder"] if chart.name.endswith("-rss"))
    run = str(rss.spec["datasets"]["points"][0]["run"]).split()[0]
    of = MemoryGrowth(
        Subject(), 180.0, (170.0, 190.0), (180.0, 170.0, 190.0), 0.1, 170.0, 190.0, (2.0, 10.0), (179.0, 179.4), "MB",
        ("app", "rss"), levels_off=False, is_steady=True, per_failed=None, where=Where(trial=run), weight="warning",
    )  # fmt: skip
    assert [(row["second"], row["value"]) for row in marked(rss, of)] == [(2, 179), (10, 179.4)]
    assert marked(rss, of)[0]["label"] == "+180 MB/h"
    cpu = next(chart for chart in CHARTS["ladder"] if chart.name.endswith("-cpu"))
    assert highlighted(cpu, of) is None


def test_what_was_in_the_chart_stays_and_is_not_copied():
    chart = first("ladder", "ladder_throughput")
    layers = len(chart.spec["layer"])
    found = highlighted(chart, finding("SAT", {"bracket": (162.0, 336.0)}))
    assert found.name != chart.name
    assert all(found.spec["datasets"][name] is rows for name, rows in chart.spec["datasets"].items())
    assert len(chart.spec["layer"]) == layers
    assert "highlight" not in chart.spec["datasets"]


def test_each_is_drawn_and_says_in_words_what_is_highlighted():
    cases = [
        ("ladder", "course_rate", finding("COLD", {"run": first("ladder", "course_rate").trial, "between_s": (2, 5)})),
        ("ladder", "ladder_latency", finding("SAT", {"bracket": (162.0, 336.0)})),
        ("ladder", "failures", finding("ERR", {}, Where("new", Level("users", 460.0)))),
        ("chain", "histogram", finding("BIMODAL", {"modes_ms": (84.0, 1200.0)})),
        ("chain", "percentiles", finding("BIMODAL", {"modes_ms": (84.0, 1200.0)})),
    ]
    for sample, kind, of in cases:
        found = highlighted(first(sample, kind), of)
        json.dumps(found.spec, allow_nan=False)
        text = svg(found)
        assert "NaN" not in text
        assert found.spec["datasets"]["highlight"][0]["label"] in text


def test_other_findings_are_seen_in_no_chart():
    of = finding("PAYLOAD", {"ratio": 1.3})
    assert all(highlighted(chart, of) is None for charts in CHARTS.values() for chart in charts)
    assert not RUNGS.keys() & SECONDS.keys()


@pytest.mark.parametrize("shape", SAMPLES)
def test_findings_of_any_study_may_be_asked_about_any_chart(shape):
    analysis = SAMPLES[shape]()
    for chart in charts_of(analysis):
        for each in analysis.findings:
            highlighted(chart, each)

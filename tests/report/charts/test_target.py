import numpy as np
import pytest

from plimsoll._engine import Histogram
from plimsoll.report.charts.target import capacity_chart, histogram_chart, target_charts
from plimsoll.report.render.pictures import svg
from plimsoll.stats.study import Series, Trial


def series(source, name, values, unit="MB") -> Series:
    return Series(source, name, unit, np.arange(len(values), dtype=float), np.array(values))


def test_each_thing_that_was_observed_has_a_chart_with_a_line_for_each_run_and_source():
    trials = [
        Trial(id="1", variant="old", observed=(series("app", "rss", [1.0, 2.0]), series("db", "rss", [5.0, 6.0]))),
        Trial(
            id="2",
            variant="new",
            observed=(series("app", "rss", [3.0, 4.0]), series("app", "cpu", [0.5, 0.6], "cores")),
        ),
    ]
    rss, cpu = target_charts("t", "50 users", trials, ["old", "new"])
    assert {row["run"] for row in rss.spec["datasets"]["points"]} == {"1 app", "1 db", "2 app"}
    assert rss.spec["encoding"]["y"]["title"] == "memory (RSS), MB"
    assert rss.spec["encoding"]["y"]["scale"]["zero"] is False
    assert cpu.spec["encoding"]["color"]["scale"]["domain"] == ["new"]


def test_bytes_are_shown_in_a_unit_that_fits():
    observed = Trial(id="r1", variant="a", observed=(series("app", "rss", [50 * 2**20, 100 * 2**20], "bytes"),))
    (chart,) = target_charts("target", "5 users", [observed], ["a"])
    assert [row["value"] for row in chart.spec["datasets"]["points"]] == [50, 100]
    assert chart.spec["encoding"]["y"]["title"] == "memory (RSS), MiB"


def test_what_never_changes_has_no_chart():
    ones = [Trial(id=name, variant=name, observed=(series("app", "processes", [1, 1], ""),)) for name in ("a", "b")]
    assert target_charts("target", "5 users", ones, ["a", "b"]) == []
    two = Trial(id="b", variant="b", observed=(series("app", "processes", [2, 2], ""),))
    assert len(target_charts("target", "5 users", [ones[0], two], ["a", "b"])) == 1


def test_a_single_value_is_no_line():
    assert target_charts("t", "", [Trial(id="1", variant="a", observed=(series("app", "rss", [1.0]),))], ["a"]) == []


def test_bars_hold_all_requests_between_their_edges():
    histogram = Histogram()
    for micros, count in ((1_000, 7), (84_000, 900), (1_200_000, 30)):
        histogram.record(micros, count)
    chart = histogram_chart("h", "H", histogram, (84.0, 1200.0))
    bars = chart.spec["datasets"]["bars"]
    assert sum(bar["count"] for bar in bars) == 937
    assert all(bar["to"] / bar["from"] == pytest.approx(10**0.05, rel=1e-3) for bar in bars)
    slow = next(bar for bar in bars if bar["count"] == 30)
    assert slow["from"] <= 1200 <= slow["to"]
    assert histogram_chart("h", "H", Histogram()) is None


def test_a_search_for_capacity_is_a_chart_too():
    points = [
        {"load": 100.0, "value": 50.0, "state": "met", "phase": "double", "run": "1"},
        {"load": 400.0, "value": 300.0, "state": "broken", "phase": "halve", "run": "2"},
    ]
    words = {"level": "arrivals per second", "what": "p99", "unit": "ms"}
    chart = capacity_chart("c", "Capacity", points, limit=200.0, load=(290.0, 280.0, 300.0), words=words)
    assert chart.spec["datasets"]["range"] == [{"low": 280.0, "high": 300.0}]
    assert chart.spec["datasets"]["answer"] == [{"load": 290.0}]
    assert svg(chart).count('aria-roledescription="point"') == 2
    without = capacity_chart("c", "Capacity", points, limit=200.0, load=(None, 290.0, None), words=words)
    assert "answer" not in without.spec["datasets"]


def test_runs_without_a_failure_are_seen_too():
    """A logarithmic axis has no 0."""
    points = [
        {"load": load, "value": value, "state": "met", "phase": "double", "run": "1"}
        for load, value in ((100.0, 0.0), (400.0, 5.0))
    ]
    words = {"level": "arrivals per second", "what": "errors (%)", "unit": "%"}
    chart = capacity_chart("c", "Capacity", points, limit=1.0, load=(290.0, 280.0, 300.0), words=words)
    assert chart.spec["encoding"]["y"]["scale"]["type"] == "linear"
    assert svg(chart).count('aria-roledescription="point"') == 2

import pytest

from plimsoll._engine import Histogram
from plimsoll.report.charts.percentiles import FEW, Curves, percentile_chart
from plimsoll.stats.study import Measured


def measured(*micros: int) -> Measured:
    histogram = Histogram()
    for each in micros:
        histogram.record(each)
    return Measured("GET", "/", histogram=histogram)


def rows(chart, name):
    return chart.spec["datasets"].get(name, [])


def test_a_point_is_the_value_at_its_rank():
    chart = percentile_chart("x", "X", [Curves("a", [("1", measured(*range(1000, 1001_000, 1000)))])], "time")
    known = [*rows(chart, "together"), *rows(chart, "few")]
    assert len(known) > 20
    for row in known:
        rank = -(-row["q"] * 1000 // 1)
        assert row["ms"] == pytest.approx(rank, abs=max(1.0, rank / 500))
        assert row["q"] <= 1 - 1 / 1000 + 1e-9


def test_what_rests_on_few_requests_is_drawn_apart():
    chart = percentile_chart("x", "X", [Curves("a", [("1", measured(*range(1000, 1001_000, 1000)))])], "time")
    assert all((1 - row["q"]) * 1000 >= FEW - 1e-6 for row in rows(chart, "together"))
    first, *others = rows(chart, "few")
    assert first == rows(chart, "together")[-1]
    assert all((1 - row["q"]) * 1000 < FEW for row in others)


def test_runs_are_added_up_and_shown_singly():
    runs = [("1", measured(*[10_000] * 900)), ("2", measured(*[20_000] * 100))]
    chart = percentile_chart("x", "X", [Curves("a", runs)], "time")
    at_half = min(rows(chart, "together"), key=lambda row: abs(row["q"] - 0.5))
    assert at_half["ms"] == pytest.approx(10, rel=0.01)
    assert at_half["requests"] == 1000
    assert {row["run"] for row in rows(chart, "runs")} == {"1", "2"}
    alone = percentile_chart("x", "X", [Curves("a", runs[:1])], "time")
    assert rows(alone, "runs") == []


def test_quantiles_without_a_histogram_are_points():
    measurement = Measured("GET", "/", requests=100, quantiles={0.99: 200.0, 0.5: 140.0, 1.0: 300.0})
    chart = percentile_chart("x", "X", [Curves("a", [("1", measurement)])], "time")
    assert [(row["q"], row["ms"]) for row in rows(chart, "together")] == [(0.5, 140.0), (0.99, 200.0)]
    assert chart.spec["layer"][0]["mark"]["point"]["filled"]


def test_nothing_known_is_no_chart():
    assert percentile_chart("x", "X", [Curves("a", [("1", Measured("GET", "/", histogram=Histogram()))])], "t") is None

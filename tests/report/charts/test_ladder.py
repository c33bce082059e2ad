import pytest
from tests.report.studies import P50, ladder, operations

from plimsoll.record.cells import CellKey
from plimsoll.report.charts.ladder import ladder_charts, operations_charts
from plimsoll.report.document.blocks import Figures
from plimsoll.report.document.sections import ReportContext, summary
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.cell import cell_value
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import Level, Measured, Study, Trial


def test_there_are_two_charts_and_neither_has_two_scales():
    charts = ladder_charts(ladder(), "", ("", ""), "Aggregated")
    assert [chart.kind for chart in charts] == ["ladder_throughput", "ladder_latency"]
    for chart in charts:
        assert "resolve" not in str(chart.spec)
        titles = {each["encoding"]["y"].get("title") for each in chart.spec["layer"] if "y" in each["encoding"]}
        assert len(titles - {None}) == 1


def test_points_are_means_of_cells_with_their_intervals():
    throughput, latency = ladder_charts(ladder(), "", ("", ""), "Aggregated")
    point = next(row for row in throughput.spec["datasets"]["points"] if row["level"] == 336 and row["series"] == "new")
    cell = cell_value(ladder().study.cell(CellKey("new", Level("users", 336))), Metric("throughput"), ("", ""))
    assert cell is not None
    assert (point["value"], point["low"], point["high"]) == pytest.approx((cell.value, cell.low, cell.high), rel=1e-4)
    assert point["count"] == 5
    assert len(latency.spec["datasets"]["points"]) == 4 * 2 * 3


def test_the_bracket_of_the_knee_is_shaded_for_each_variant():
    throughput, _ = ladder_charts(ladder(), "", ("", ""), "Aggregated")
    assert throughput.spec["datasets"]["knees"] == [
        {"series": "old", "low": 162.0, "high": 336.0},
        {"series": "new", "low": 162.0, "high": 336.0},
    ]


def of(*levels: float, invalid: float | None = None) -> Analysis:
    trials = tuple(
        Trial(
            id=str(value),
            variant="a",
            level=Level("users", value),
            total=Measured("", "Aggregated", rate=value),
            invalid=("lag",) if value == invalid else (),
        )
        for value in levels
    )
    return Analysis(Study("x", trials), (), ())


def test_one_level_is_no_ladder():
    assert ladder_charts(of(10), "", ("", ""), "all") == []


def test_levels_far_apart_are_on_a_logarithmic_axis():
    for levels, scale in (((10, 100), "linear"), ((1, 100), "log")):
        chart = ladder_charts(of(*levels), "", ("", ""), "all")[0]
        assert chart.spec["encoding"]["x"]["scale"]["type"] == scale


def test_a_cell_without_the_asked_load_is_a_point():
    chart = ladder_charts(of(1, 2, 3, invalid=3), "", ("", ""), "all")[0]
    assert [row["level"] for row in chart.spec["datasets"]["points"]] == [1, 2, 3]


def test_operations_share_a_chart_of_throughput_and_one_of_medians():
    throughput, medians = operations_charts(operations())
    # Users of "delete" wait for the list of versions: a median of both requests would be neither's.
    names = ["upload", "read", "update", "delete: GET /keys/[id]/versions"]
    for chart in (throughput, medians):
        assert list(dict.fromkeys(row["series"] for row in chart.spec["datasets"]["points"])) == names
        assert len(chart.spec["datasets"]["points"]) == 4 * 3
    assert operations_charts(ladder()) == []
    study = operations().study
    cell = cell_value(study.cell(CellKey("2.11", Level("users", 50), "delete")), P50, ("GET", "/keys/[id]/versions"))
    assert cell is not None
    assert medians.spec["datasets"]["points"][-1]["value"] == pytest.approx(cell.value, rel=1e-3)


def test_a_report_of_operations_opens_with_the_charts_of_all_of_them():
    section = summary(ReportContext.of(operations()))
    (figures,) = [block for block in section.blocks if isinstance(block, Figures)]
    assert figures.charts == ("ladder-operations-throughput", "ladder-operations-p50")

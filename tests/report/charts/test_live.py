import json
import re

import pytest
from tests.report.seconds import live_set, of_total, second
from tests.report.seconds import until as axis_end

from plimsoll.report.charts.columns import merged, part_of
from plimsoll.report.charts.live import MOST_COLUMNS, LiveChartSet
from plimsoll.report.charts.thin import MOST_POINTS
from plimsoll.report.render.pictures import svg

KINDS = ["course_rate", "course_times", "course_heat", "course_users", "course_generator"]


def rows(charts: LiveChartSet) -> dict[str, dict[str, list]]:
    """What all charts show, by name and data set."""
    return {chart.name: dict(chart.spec["datasets"]) for chart in charts.charts()}


def new_set(**given) -> LiveChartSet:
    return LiveChartSet(**{"is_open": False, "warmup": 0, "is_total": True, **given})


def test_one_endpoint_has_the_charts_that_are_about_its_requests():
    assert [chart.kind for chart in new_set().charts()] == KINDS
    assert [chart.kind for chart in new_set(is_total=False).charts()] == KINDS[:3]


def test_a_set_without_a_second_is_drawn_with_data_sets_that_rows_can_be_added_to():
    for chart in new_set().charts():
        text = json.dumps(chart.spec, allow_nan=False)
        assert "{{" not in text
        for layer in chart.spec["layer"]:
            assert layer["data"]["name"] in chart.spec["datasets"]


def test_what_has_nothing_to_show_yet_is_drawn_with_its_axes():
    silent = new_set()
    silent.put(second(0, 0))
    for charts in (new_set(), silent):
        for chart in charts.charts():
            width, height = re.search(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"', svg(chart)).groups()
            assert 600 < float(width) < 900, chart.name
            assert 100 < float(height) < 500, chart.name


@pytest.mark.parametrize("is_open", [False, True])
def test_what_was_drawn_and_the_rows_added_since_are_what_would_be_drawn_now(is_open):
    charts = new_set(is_open=is_open)
    shown, version, redrawn = rows(charts), charts.version, 0
    for number in range(900):
        added = charts.put(of_total(number, 100 + number % 9, failures=int(number == 7), ms=10 + number % 5))
        if charts.version != version:
            assert added == {}
            shown, version, redrawn = rows(charts), charts.version, redrawn + 1
        for name, sets in added.items():
            for data, new in sets.items():
                shown[name][data] = [*shown[name][data], *new]
    now = rows(charts)
    assert redrawn < 20

    def ordered(of):
        return {name: {data: sorted(map(json.dumps, each)) for data, each in sets.items()} for name, sets in of.items()}

    assert ordered(shown) == ordered(now)


def test_a_long_run_has_no_more_rows_than_a_screen_can_show():
    charts = new_set(is_total=False)
    for number in range(5000):
        charts.put(second(number, 3))
    shown = rows(charts)
    assert len(shown["live-rate"]["points"]) <= MOST_POINTS
    assert len(shown["live-times"]["points"]) <= 5 * MOST_POINTS
    assert len({row["s"] for row in shown["live-heat"]["cells"]}) <= MOST_COLUMNS
    times = next(chart for chart in charts.charts() if chart.kind == "course_times")
    assert "stands for 16 s" in times.note


def test_rows_stay_within_the_axes_that_they_are_added_to():
    charts = new_set()
    domains = {}
    version = -1
    for number in range(200):
        added = charts.put(of_total(number, 10 + number * number, ms=1.05**number, users=number))
        if charts.version != version:
            version = charts.version
            domains = {
                chart.name: chart.spec["layer"][-1]["encoding"]["y"]["scale"]["domain"]
                for chart in charts.charts()
                if chart.kind != "course_heat"
            }
        for name, (low, high) in domains.items():
            for row in added.get(name, {}).get("points", ()):
                assert row["value"] is None or low <= row["value"] <= high


def test_failures_are_a_line_once_there_are_any():
    charts = new_set()
    for number in range(3):
        charts.put(of_total(number))
    lines = {row["of"] for row in rows(charts)["live-rate"]["points"]}
    assert lines == {"requests"}
    version = charts.version
    charts.put(of_total(3, failures=2))
    assert charts.version > version
    failures = [row["value"] for row in rows(charts)["live-rate"]["points"] if row["of"] == "failures"]
    assert failures == [0, 0, 0, 2]


def test_offered_and_waiting_are_of_the_open_model():
    for is_open in (False, True):
        shown = rows(live_set(5, is_open=is_open))
        assert ("offered" in {row["of"] for row in shown["live-rate"]["points"]}) is is_open
        assert ("waiting" in {row["of"] for row in shown["live-users"]["points"]}) is is_open


def test_a_second_that_changes_makes_what_was_drawn_outdated_and_the_same_again_does_not():
    charts = live_set(5)
    version = charts.version
    assert charts.put(of_total(2, 102)) == {}
    assert charts.version == version
    charts.put(of_total(2, 50))
    assert charts.version == version + 1
    values = [row["value"] for row in rows(charts)["live-rate"]["points"] if row["of"] == "requests"]
    assert values == [100, 101, 50, 103, 104]


def test_seconds_that_nobody_told_of_had_no_requests():
    charts = new_set(is_total=False)
    charts.put(second(0, 5))
    charts.put(second(3, 5))
    shown = rows(charts)
    assert [row["value"] for row in shown["live-rate"]["points"]] == [5, 0, 0, 5]
    p99 = [row["value"] for row in shown["live-times"]["points"] if row["of"] == "p99"]
    assert p99[1:3] == [None, None]


def test_what_is_in_no_figure_is_grey_and_said():
    for chart in live_set(9, warmup=5).charts():
        assert chart.spec["datasets"]["warmup"] == [{"from": 0, "to": 5}]
        assert "first 5 s" in chart.note


def test_the_heat_map_has_every_request_and_a_colour_for_every_cell():
    charts = new_set()
    for number in range(130):
        charts.put(of_total(number, 1 + number % 50, ms=1 + number))
    heat = next(chart for chart in charts.charts() if chart.kind == "course_heat")
    cells = heat.spec["datasets"]["cells"]
    assert sum(row["n"] for row in cells) == sum(1 + number % 50 for number in range(130))
    colour = heat.spec["layer"][1]["encoding"]["color"]
    shades = colour["scale"]["domain"]
    assert colour["scale"]["range"] == f"heat{len(shades)}"


def test_what_is_left_out_may_change_while_it_is_looked_at():
    charts = live_set(9)
    version = charts.version
    charts.leave_out(7)
    assert charts.version > version
    for chart in charts.charts():
        assert chart.spec["datasets"]["warmup"] == [{"from": 0, "to": 7}]
        assert "first 7 s" in chart.note


def test_changes_of_the_load_are_marked_in_all_charts():
    charts = live_set(20)
    version = charts.version
    charts.mark([(7, "30 users")])
    assert charts.version > version
    for chart in charts.charts():
        assert chart.spec["datasets"]["edits"] == [{"second": 7, "text": "30 users"}]
        svg(chart)


def test_changes_of_the_load_that_are_left_out_are_counted():
    charts = live_set(20)
    charts.mark([(7, "30 users"), (9, "40 users")], 98)
    for chart in charts.charts():
        assert "Only the last 2 of 100 changes of the load are marked." in chart.note


@pytest.mark.parametrize("width", [1, 4, 16])
def test_a_set_that_begins_with_columns_shows_what_one_shows_that_was_given_each_second(width):
    given, begun = new_set(is_total=False), new_set(is_total=False)
    until = 1000 - 1000 % width
    columns = []
    for start in range(0, until, width):
        seconds = [second(number, 3, ms=5 + number % 7) for number in range(start, start + width) if number % 5]
        columns += [(start, merged([part_of(each) for each in seconds]))] if seconds else []
    begun.begin(columns, width, until)
    for number in range(1200):
        part = second(number, 3 * bool(number % 5), ms=5 + number % 7)
        given.put(part)
        if number >= until:
            begun.put(part)
    expected = {chart.name: chart for chart in given.charts()}
    for chart in begun.charts():
        assert axis_end(chart) == 1200
        if width <= 2 or (chart.kind == "course_heat" and width <= 8):
            assert dict(chart.spec["datasets"]) == dict(expected[chart.name].spec["datasets"])
        elif chart.kind != "course_heat":
            assert f"Each point stands for {width} s" in chart.note


def test_at_the_end_the_axes_end_with_the_last_whole_second_and_what_is_left_of_one_is_no_fall():
    charts = live_set(90)
    charts.put(of_total(90, 3))
    version = charts.version
    charts.end(90)
    assert charts.version > version
    for chart in charts.charts():
        assert axis_end(chart) == 90, chart.name
    values = [row["value"] for row in rows(charts)["live-rate"]["points"] if row["of"] == "requests"]
    assert len(values) == 90 and min(values) >= 100


def test_at_the_end_the_last_column_is_shown_although_it_has_fewer_seconds():
    charts = live_set(901)
    before = [row["second"] for row in rows(charts)["live-rate"]["points"] if row["of"] == "requests"]
    charts.end(901)
    now = [row["second"] for row in rows(charts)["live-rate"]["points"] if row["of"] == "requests"]
    assert now == [*before, 900]

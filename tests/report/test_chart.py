import re
from xml.etree import ElementTree

from plimsoll.report.chart import BOTTOM, HEIGHT, LEFT, MOST_POINTS, RIGHT, TOP, WIDTH, Line, line_chart


def polylines(chart: str) -> list[list[tuple[float, float]]]:
    svg = ElementTree.fromstring(chart[chart.index("<svg") : chart.index("</svg>") + 6])
    found = [each.get("points", "").split() for each in svg.iter("polyline")]
    return [[(float(x), float(y)) for x, y in (point.split(",") for point in points)] for points in found]


def test_the_greatest_value_is_above_the_others_and_all_is_inside():
    (points,) = polylines(line_chart("Users", [Line("users", [0, 5, 10, 5])]))
    heights = [y for _, y in points]
    assert heights[0] == HEIGHT - BOTTOM
    assert heights[2] == min(heights) == TOP
    assert heights[1] == heights[3] == (TOP + HEIGHT - BOTTOM) / 2
    assert (points[0][0], points[-1][0]) == (LEFT, WIDTH - RIGHT)


def test_every_line_has_its_name_and_the_same_scale():
    chart = line_chart("a & b", [Line("<one>", [1, 1]), Line("two", [100, 100])])
    one, two = polylines(chart)
    assert one[0][1] > two[0][1] == TOP
    assert "&lt;one&gt;" in chart and "a &amp; b" in chart and "<one>" not in chart


def test_a_long_run_is_drawn_with_as_many_points_as_there_are_pixels_for():
    values = [0.0, 100.0] * 6000
    (points,) = polylines(line_chart("Users", [Line("users", values)]))
    assert MOST_POINTS / 2 < len(points) <= MOST_POINTS
    assert len({y for _, y in points}) == 1, "each point is the mean of as many highs as lows"


def test_nothing_is_drawn_of_less_than_two_seconds():
    assert line_chart("Users", [Line("users", [1])]) == line_chart("Users", []) == ""


def test_what_is_always_0_is_drawn_at_the_bottom():
    (points,) = polylines(line_chart("Failures", [Line("failures", [0, 0])]))
    assert {y for _, y in points} == {HEIGHT - BOTTOM}
    assert re.findall(r">0</text>", line_chart("Failures", [Line("failures", [0, 0])]))

import re

import pytest
from tests.report.seconds import second

from plimsoll.report.charts.chart import colours
from plimsoll.report.charts.columns import cells_of, part_of
from plimsoll.report.charts.course_draw import (
    LINES,
    MOST_SHADES,
    CourseContext,
    Frame,
    classes_of,
    edge,
    heat_chart,
    heat_rows,
    line_rows,
    shades_of,
)
from plimsoll.report.render.pictures import svg


@pytest.mark.parametrize(
    ("most", "least", "classes"),
    [
        (900, 1, (3, 10, 30, 100, 300)),
        (40, 1, (3, 10, 30)),
        (20, 1, (2, 5, 10, 20)),
        (3, 1, (2,)),
        (1, 1, ()),
        (40, 0.1, (0.3, 1, 3, 10, 30)),
    ],
)
def test_colours_begin_at_round_numbers(most, least, classes):
    assert classes_of(most, least) == classes
    shades = shades_of(classes)
    assert len(shades) == len(set(shades)) == len(classes) + 1 <= MOST_SHADES


def test_a_cell_tells_its_column_its_bucket_and_its_requests():
    assert heat_rows(4, cells_of(second(4, 9, ms=11.0))) == [{"s": 4, "b": 40, "n": 9}]


def test_a_cell_has_the_colour_of_its_requests_per_second():
    """As the picture has it: Vega works it out."""
    columns = [(2 * number, cells_of(second(number, count))) for number, count in enumerate((5, 6, 19, 20))]
    frame = Frame(7, 1.0, 100.0, (), (3.0, 10.0))
    chart = heat_chart(CourseContext("h"), frame, columns, 2)
    light = colours("light")
    drawn = [
        each[1] for each in re.findall(r'<path aria-label="[^"]*since the start: (\d+)[^>]*fill="([^"]+)"', svg(chart))
    ]
    # Over two seconds; the last column has one, as the run ends in it.
    assert drawn == [light["h2"], light["h4"], light["h4"], light["h6"]]


def test_what_is_no_number_of_a_line_is_a_gap_or_nothing():
    rows = line_rows("course_times", 3, part_of(second(3, 0)), 1)["points"]
    assert [(row["of"], row["value"]) for row in rows] == [(line, None) for line in LINES["course_times"]]
    assert line_rows("course_users", 3, None, 1)["points"] == []


def test_edges_are_ms():
    assert edge(30) == 1.0
    assert edge(60) == 1000.0

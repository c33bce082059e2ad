import itertools
import json
from dataclasses import replace

import pytest

from plimsoll.report.charts.trend import MOST_LABELS, Point, change_words, trend_chart
from plimsoll.report.render.pictures import svg
from plimsoll.stats.compare.trend import DetectedChange, DetectedChanges, Step, changes

STARTED = 1_790_000_000.0
LEVELS = [10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 20.0, 20.1, 19.9, 20.0, 20.1, 19.9]


def points(values, **given) -> list[Point]:
    return [
        Point(f"r{number}", STARTED + 86_400 * number, f"{number:040x}", value, **given)
        for number, value in enumerate(values)
    ]


def chart(shown, found=None, unit="ms"):
    values = [each.value for each in shown if each.is_valid and each.value is not None]
    return trend_chart("t", "p99 of nightly", shown, found or changes(values), what="p99", unit=unit)


def data(of, name) -> list:
    return of.spec["datasets"].get(name, [])


def test_each_run_is_a_point_that_tells_its_commit():
    rows = data(chart(points(LEVELS)), "points")
    assert [row["value"] for row in rows] == LEVELS
    assert [row["place"] for row in rows] == list(range(1, 13))
    assert rows[3]["commit"] == "0" * 12
    assert rows[3]["run"] == "r3"
    assert rows[3]["started"].endswith("UTC")
    assert rows[0]["shown"] == "10 ms"


@pytest.mark.parametrize(
    ("hours", "labels"),
    [
        ((0, 1), ["08:00", "09:00"]),
        ((0, 24), ["01-02", "01-03"]),
        ((0, 1, 24), ["01-02 08:00", "01-02 09:00", "01-03 08:00"]),
    ],
)
def test_below_each_run_is_when_it_began_and_its_commit(hours, labels):
    shown = [Point(f"r{hour}", 1_767_340_800.0 + 3600 * hour, "abcdef1234567890" * (hour > 0), 1.0) for hour in hours]
    axis = chart(shown).spec["encoding"]["x"]["axis"]["labelExpr"]
    for label in labels:
        assert f"'{label}'" in axis or f'"{label}"' in axis
    assert "abcdef1" in axis
    assert "abcdef12" not in axis


def test_a_change_is_between_two_runs_and_says_in_words_what_it_is():
    made = chart(points(LEVELS))
    (change,) = data(made, "changes")
    assert (change["at"], change["label"], change["tone"]) == (6.5, "+100 %, worse", "worse")
    first, second = data(made, "steps")
    assert (first["from"], first["to"], first["mean"]) == (0.6, 6.4, 10.0)
    assert (second["from"], second["to"], second["mean"], second["runs"]) == (6.6, 12.4, 20.0, 6)
    assert "+100 %, worse" in svg(made)


def test_invalid_runs_keep_their_place_and_are_in_no_mean():
    shown = points(LEVELS)
    shown[2] = replace(shown[2], is_valid=False, value=900.0)
    shown[7] = replace(shown[7], value=None)
    made = chart(shown)
    assert [row["place"] for row in data(made, "points") if row["tone"] == "invalid run"] == [3]
    assert 8 not in [row["place"] for row in data(made, "points")]
    first, second = data(made, "steps")
    assert first["mean"] == pytest.approx(10.02)
    assert (second["from"], second["to"], second["runs"]) == (6.6, 12.4, 5)
    assert "1 invalid run is shown and left out of the means." in made.note


def test_too_few_runs_are_said():
    assert "at least 10 are needed" in chart(points([1.0, 2.0])).note
    assert chart(points([])) is None
    assert chart(points([None, None])) is None
    assert data(chart(points([3.0], is_valid=False), DetectedChanges((), (), 1, 0)), "steps") == []


def test_there_is_room_above_the_points_and_0_is_there_when_it_is_near():
    for values, bottom in ((LEVELS, 0.0), ([100.0, 101.0] * 6, None), ([0.0] * 12, 0.0)):
        low, high = chart(points(values)).spec["encoding"]["y"]["scale"]["domain"]
        assert high > max(values)
        assert low == bottom or 0 < low < min(values)


@pytest.mark.parametrize(
    ("before", "after", "unit", "words"),
    [
        (100.0, 112.5, "ms", "+12.5 %, worse"),
        (100.0, 90.0, "ms", "−10 %, better"),
        (10.0, 50.0, "ms", "×5, worse"),
        (0.0, 2.0, "%", "from 0 to 2%, worse"),
    ],
)
def test_changes_in_words(before, after, unit, words):
    assert change_words(DetectedChange(5, before, after, 1e-5, after > before, 5), unit) == words


def test_of_many_changes_the_first_have_labels_and_none_cover_their_neighbours():
    count = MOST_LABELS + 4
    found = DetectedChanges(
        tuple(DetectedChange(5 * (n + 1), 1.0, 2.0, 1e-4, True, 5) for n in range(count)),
        tuple(Step(5 * n, 5 * n + 5, 1.0) for n in range(count + 1)),
        5 * count + 5,
        0,
    )
    rows = data(chart(points([1.0] * (5 * count + 5)), found), "changes")
    assert sum(bool(row["label"]) for row in rows) == MOST_LABELS
    assert all(a["line"] != b["line"] for a, b in itertools.pairwise(rows))


@pytest.mark.parametrize("unit", ["ms", "%", "/s"])
def test_it_is_drawn_with_every_unit(unit):
    made = chart(points(LEVELS), unit=unit)
    json.dumps(made.spec, allow_nan=False)
    text = svg(made)
    assert "NaN" not in text
    assert "undefined" not in text
    assert "null" not in text


def test_names_of_runs_are_data():
    evil = "'];alert(1)//</script>"
    shown = [replace(each, name=evil, run=evil, commit=evil) for each in points(LEVELS)]
    made = chart(shown)
    assert evil not in json.dumps({**made.spec, "datasets": None})
    assert data(made, "points")[0]["name"] == evil

import math

import numpy as np
import pytest
from tests.report.seconds import times, until

from plimsoll.report.charts.course import Beside, course_charts
from plimsoll.stats.study import Course, GeneratorCourse


def histograms(counts, ms):
    return tuple(times(ms, count=int(count)) if count else None for count in counts)


def course(counts, failures=None, ms=10.0, service=8.0) -> Course:
    unknown = np.full(len(counts), math.nan)
    failed = np.zeros(len(counts), dtype=np.int64) if failures is None else np.array(failures)
    known = histograms(counts, service) if service else ()
    return Course(np.array(counts), failed, unknown, unknown, unknown, histograms(counts, ms), service=known)


def generator(count) -> GeneratorCourse:
    late = (times(0.1), *(times(0.2) for _ in range(count - 1)))
    return GeneratorCourse(late, late, np.full(count, 4.0), np.full(count, 2.0), np.full(count, 9.0))


def charts(*given, **beside):
    return {chart.kind: chart for chart in course_charts("c", "C", *given, Beside(**beside))}


def points(chart, of):
    return [row["value"] for row in chart.spec["datasets"]["points"] if row["of"] == of]


def test_everything_second_by_second():
    found = charts(course([5, 0, 7], [1, 0, 2]), warmup=1.0, users=[3.0, math.nan, 2.0], generator=generator(3))
    assert points(found["course_rate"], "requests") == [5, 0, 7]
    assert points(found["course_rate"], "failures") == [1, 0, 2]
    about_10 = pytest.approx(10, rel=1e-3)
    assert points(found["course_times"], "p99") == [about_10, None, about_10]
    assert points(found["course_times"], "service p50")[0] == pytest.approx(8, rel=1e-3)
    assert points(found["course_users"], "users") == [3, 2]
    assert points(found["course_users"], "in flight") == [4, 4, 4]
    assert points(found["course_users"], "waiting") == []
    assert points(found["course_generator"], "lag p99") == [0.1, 0.2, 0.2]
    assert sum(row["n"] for row in found["course_heat"].spec["datasets"]["cells"]) == 12
    for chart in found.values():
        assert chart.spec["datasets"]["warmup"] == [{"from": 0, "to": 1.0}]
        assert until(chart) == 3


def test_the_open_model_shows_what_was_offered_and_what_waits():
    found = charts(course([5, 5]), generator=generator(2), is_open=True)
    assert points(found["course_rate"], "offered") == [9, 9]
    assert points(found["course_users"], "waiting") == [2, 2]


def test_changes_of_the_load_by_hand_are_marked_in_every_chart():
    found = charts(course([10] * 30), edits=((12, "20 users"),))
    assert all(chart.spec["datasets"].get("edits") == [{"second": 12, "text": "20 users"}] for chart in found.values())


def test_the_second_in_which_a_run_ended_is_not_drawn_as_a_fall():
    assert points(charts(course([100, 100, 3]), length=2.03)["course_rate"], "requests") == [100, 100]


def test_a_note_says_when_a_p99_is_the_slowest_request():
    few, many = (charts(course([count] * 3))["course_times"].note for count in (50, 500))
    assert "fewer than 100" in few
    assert many == ""


def test_without_failures_there_is_no_line_of_them():
    rate = charts(course([5, 5]))["course_rate"]
    assert points(rate, "failures") == []
    assert "failures" not in rate.spec["layer"][-1]["encoding"]["color"]["legend"]["values"]


def test_without_histograms_there_are_no_times_and_a_moment_has_no_course():
    counts = Course(*(np.ones(3) for _ in range(5)), (None, None, None))
    assert list(charts(counts)) == ["course_rate"]
    assert charts(course([5])) == {}


def test_a_long_run_loses_no_stall_and_no_request():
    counts = [10] * 3600
    long = course(counts)
    slow = list(long.histograms)
    slow[1234] = times(900.0, count=10)
    stalled = Course(long.requests, long.failures, long.means, long.maxima, long.sizes, tuple(slow))
    found = charts(stalled)
    shade = list(found["course_times"].spec["datasets"]["extremes"])
    assert len(shade) == 600
    assert max(row["high"] for row in shade) == pytest.approx(900, rel=1e-3)
    assert max(points(found["course_times"], "p99")) == pytest.approx(900, rel=1e-3)
    assert sum(row["n"] for row in found["course_heat"].spec["datasets"]["cells"]) == 36_000
    assert "6 s" in found["course_times"].note


def test_of_many_runs_each_has_fewer_points():
    def size(runs):
        made = course_charts("c", "C", course([10] * 600), Beside(generator=generator(600)), runs=runs)
        return {
            chart.kind: len(
                {
                    row.get("second", row.get("s"))
                    for name in ("points", "cells")
                    for row in chart.spec["datasets"].get(name, ())
                }
            )
            for chart in made
        }

    assert size(1) == size(6) == {**dict.fromkeys(size(1), 600), "course_heat": 150}
    assert size(60) == {**dict.fromkeys(size(1), 100), "course_heat": 25}


def test_a_point_of_one_second_is_its_own_extremes_and_says_so_once():
    times = charts(course([5, 7, 5]))["course_times"]
    assert all(row.keys() == {"of", "second", "value"} for row in times.spec["datasets"]["points"])
    assert "extremes" not in times.spec["datasets"]

import math

import numpy as np
import pytest

from plimsoll._engine import Histogram
from plimsoll.report.charts.course import course_charts
from plimsoll.stats.study import Course


def course(counts, failures=None, ms=10.0) -> Course:
    histograms = []
    for count in counts:
        histogram = Histogram()
        if count:
            histogram.record(round(ms * 1000), int(count))
        histograms.append(histogram if count else None)
    unknown = np.full(len(counts), math.nan)
    failed = np.zeros(len(counts), dtype=np.int64) if failures is None else np.array(failures)
    return Course(np.array(counts), failed, unknown, unknown, unknown, tuple(histograms))


def points(chart, of=None):
    return [row for row in chart.spec["datasets"]["points"] if of in (None, row.get("of"))]


def test_requests_failures_percentiles_and_users_second_by_second():
    rate, times, users = course_charts("c", "C", course([5, 0, 7], [1, 0, 2]), 1.0, [3.0, 3.0, 2.0])
    assert [row["value"] for row in points(rate, "requests")] == [5, 0, 7]
    assert [row["value"] for row in points(rate, "failures")] == [1, 0, 2]
    about_10 = pytest.approx(10, rel=1e-3)
    assert [row["value"] for row in points(times, "p99")] == [about_10, None, about_10]
    assert [row["value"] for row in points(users)] == [3, 3, 2]
    for chart in (rate, times, users):
        assert chart.spec["datasets"]["warmup"] == [{"from": 0, "to": 1.0}]
        assert chart.spec["encoding"]["x"]["scale"]["domain"] == [0, 3]


def test_the_second_in_which_a_run_ended_is_not_drawn_as_a_fall():
    rate, _ = course_charts("c", "C", course([100, 100, 3]), 0.0, length=2.03)
    assert [row["value"] for row in points(rate, "requests")] == [100, 100]


def test_a_note_says_when_a_p99_is_the_slowest_request():
    few, many = (course_charts("c", "C", course([count] * 3), 0.0)[1].note for count in (50, 500))
    assert "fewer than 100" in few
    assert many == ""


def test_without_histograms_there_are_no_times_and_a_moment_has_no_course():
    counts = Course(*(np.ones(3) for _ in range(5)), (None, None, None))
    assert [chart.kind for chart in course_charts("c", "C", counts, 0.0)] == ["course_rate"]
    assert course_charts("c", "C", course([5]), 0.0) == []

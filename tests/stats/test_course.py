"""What is kept second by second."""

from __future__ import annotations

import pytest

from plimsoll._engine import Histogram
from plimsoll.stats.columns import IntervalColumns
from plimsoll.stats.course import CourseBuilder, numbers_of


def waited(interval, milliseconds):
    """The same with these times for a generator that sends on time."""
    interval.on_time = Histogram()
    for each in milliseconds:
        interval.on_time.record(each * 1000)
    return interval


@pytest.mark.parametrize("last", [2, 0], ids=["of a new second", "late, of a known second"])
def test_times_on_time_are_those_of_the_service_until_arrivals_wait(make_interval, last):
    course = CourseBuilder()
    intervals = [
        make_interval([1.0], second=0),
        make_interval([2.0, 3.0], second=1),
        make_interval([4.0], second=1, outcome="http"),
        waited(make_interval([50.0], second=last), [5]),
        make_interval([6.0], second=3),
    ]
    for each in intervals:
        columns = IntervalColumns.of([each])
        course.add(columns, numbers_of(columns), {each.outcome: [0]})
    found = course.course(4, 0)
    for second in range(4):
        expected = Histogram.sum([each.response_on_time for each in intervals if each.second == second])
        on_time = found.on_time[second]
        assert ([] if on_time is None else on_time.buckets()) == expected.buckets()


def test_without_waiting_there_are_none_of_their_own(make_interval):
    course = CourseBuilder()
    columns = IntervalColumns.of([make_interval([1.0])])
    course.add(columns, numbers_of(columns), {"success": [0]})
    assert course.course(1, 0).on_time == ()

from __future__ import annotations

import pytest

from plimsoll._engine import Histogram


def test_a_stall_also_stands_for_the_requests_that_it_held_up():
    histogram = Histogram()
    histogram.record(50, 10)
    histogram.record(350, 2)
    assert histogram.corrected(100).buckets() == [(50, 10), (150, 2), (250, 2), (350, 2)]
    assert histogram.buckets() == [(50, 10), (350, 2)]


def test_a_freeze_of_an_hour_at_a_request_a_microsecond_is_no_problem():
    histogram = Histogram()
    histogram.record(3_600_000_000)
    corrected = histogram.corrected(1)
    assert corrected.count == histogram.buckets()[0][0]
    assert corrected.value_at(0.5) == pytest.approx(1_800_000_000, rel=0.001)


def test_there_is_no_interval_of_0():
    with pytest.raises(ValueError, match="interval must be above 0 µs"):
        Histogram().corrected(0)

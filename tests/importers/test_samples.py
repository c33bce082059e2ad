from __future__ import annotations

import math

import numpy as np
import pytest

from plimsoll.errors import UsageError
from plimsoll.importers import samples as module
from plimsoll.importers.options import ImportOptions
from plimsoll.importers.result_file import ResultFile
from plimsoll.importers.samples import Samples
from plimsoll.stats.study import Precision

PRECISION = Precision("x", mergeable=True)


@pytest.fixture
def samples(tmp_path):
    return Samples(ResultFile(tmp_path / "x.csv"))


def trial(samples, **settings):
    (found,) = samples.study(ImportOptions(**settings), PRECISION).trials
    return found


def test_a_request_belongs_to_the_second_of_its_end_counted_from_the_first_start(samples):
    for end, ms in ((100.9, 900.0), (101.4, 100.0), (103.2, 50.0)):  # the first one began at 100.0
        samples.add(1, ("GET", "/"), end, ms)
    course = trial(samples).total.course
    assert course.requests.tolist() == [1, 1, 0, 1]
    assert course.maxima[:2].tolist() == [900, 100]
    assert np.isnan(course.means[2])
    assert course.histograms[2] is None
    assert course.histograms[3].count == 1


def test_any_order_is_the_same(samples, tmp_path):
    other = Samples(ResultFile(tmp_path / "x.csv"))
    rows = [(100 + number / 7, float(number)) for number in range(50)]
    for end, ms in rows:
        samples.add(1, ("", "a"), end, ms)
    for end, ms in reversed(rows):
        other.add(1, ("", "a"), end, ms)
    one, two = trial(samples).total, trial(other).total
    assert one.histogram.encode() == two.histogram.encode()
    assert one.course.requests.tolist() == two.course.requests.tolist()


def test_requests_without_a_time_are_counted_and_not_timed(samples):
    samples.add(1, ("", "a"), 1.0, 10.0)
    samples.add(2, ("", "a"), 1.5, None, failed=True, kind="refused")
    total = trial(samples, duration=4).total
    assert (total.requests, total.failures, total.rate, total.mean, total.histogram.count) == (2, 1, 0.5, 10, 1)
    assert (total.mean_success, total.mean_failure) == (10, None)


def test_percentiles_are_those_of_the_sorted_values(samples):
    values = [float(number) for number in range(1, 1001)]
    for value in values:
        samples.add(1, ("", "a"), 5.0, value)
    total = trial(samples).total
    for q in (0.5, 0.95, 0.99):
        assert total.quantile(q) == pytest.approx(values[math.ceil(q * 1000) - 1], rel=1 / 1000)


def test_failures_are_told_apart_up_to_a_limit(samples, monkeypatch):
    monkeypatch.setattr(module, "MOST_KINDS", 2)
    for number in range(5):
        samples.add(1, ("", "a"), 1.0, 1.0, failed=True, kind=f"error {number}")
    samples.add(1, ("", "a"), 1.0, 1.0, failed=True, kind="error 0")
    total = trial(samples).total
    assert (total.failures, [kind.count for kind in total.kinds]) == (6, [2, 1])


@pytest.mark.parametrize(("end", "ms"), [(math.nan, 1.0), (1.0, -1.0), (1.0, math.inf), (math.inf, 1.0)])
def test_times_that_cannot_be(samples, end, ms):
    with pytest.raises(UsageError, match=r"x\.csv:7: a request of"):
        samples.add(7, ("", "a"), end, ms)


def test_limits(samples, monkeypatch):
    monkeypatch.setattr(module, "MOST_ENDPOINTS", 2)
    monkeypatch.setattr(module, "MOST_ROWS", 4)
    for number in range(2):
        samples.add(1, ("", f"/{number}"), 1.0, 1.0)
    with pytest.raises(UsageError, match=r"x\.csv:3: more than 2 different names: names must not hold ids"):
        samples.add(3, ("", "/2"), 1.0, 1.0)
    samples.add(1, ("", "/0"), 1.0, 1.0)
    samples.add(1, ("", "/0"), 1.0, 1.0)
    with pytest.raises(UsageError, match=r"x\.csv:6: more than 4 requests"):
        samples.add(6, ("", "/0"), 1.0, 1.0)


def test_days_between_two_requests_are_a_mistake(samples):
    samples.add(1, ("", "a"), 0.0, 1.0)
    samples.add(2, ("", "a"), 1e9, 1.0)
    with pytest.raises(UsageError, match="its requests lie 11574 days apart: a time in it is wrong"):
        trial(samples)

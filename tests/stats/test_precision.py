"""What importers and footnotes say of the precision of histograms and sketches, checked against these."""

from __future__ import annotations

import numpy as np
import pytest
from ddsketch import DDSketch
from hdrh.histogram import HdrHistogram

from plimsoll._engine import Histogram
from plimsoll.stats.study import LOCUST, PLIMSOLL

WHOLE = range(1, 10_001)


@pytest.mark.parametrize(
    ("value", "interval", "values"),
    [(1000, 100, range(100, 1001, 100)), (250, 100, [150, 250]), (50, 100, [50])],
)
def test_correction_for_omission_fills_in_what_was_not_sent(value, interval, values):
    histogram = Histogram()
    histogram.record(value)
    assert histogram.corrected(interval).buckets() == [(each, 1) for each in values]


def test_hdr_histograms_of_three_and_two_digits():
    three, two, ours = HdrHistogram(1, 3_600_000_000, 3), HdrHistogram(1, 3_600_000_000, 2), Histogram()
    for value in WHOLE:
        three.record_value(value)
        two.record_value(value)
        ours.record(value)
    quantiles = (0.5, 0.99, 0.999)
    assert [three.get_value_at_percentile(100 * q) for q in quantiles] == [5003, 9903, 9991]
    assert [two.get_value_at_percentile(100 * q) for q in quantiles] == [5023, 9919, 10047]
    assert [ours.value_at(q) for q in quantiles] == [5003, 9903, 9991]


def test_a_step_of_ours_is_at_least_the_width_of_a_bucket():
    for value in (3.7, 50.0, 2047.5, 99_999.0):
        histogram = Histogram()
        histogram.record(round(1000 * value))
        histogram.record(round(1000 * (value + 1.001 * PLIMSOLL.step(value))))
        assert len(histogram.buckets()) == 2


def test_a_ddsketch_is_within_its_relative_error():
    sketch = DDSketch(0.01)
    for value in WHOLE:
        sketch.add(value)
    assert [round(sketch.get_quantile_value(q), 2) for q in (0.5, 0.99)] == [4965.32, 9801.16]
    for q in np.linspace(0.01, 0.999, 50):
        assert sketch.get_quantile_value(q) == pytest.approx(10_000 * q, rel=0.0101)


@pytest.mark.parametrize(("ms", "step"), [(7, 1), (99, 1), (100, 10), (999, 10), (1000, 100), (10_000, 1000)])
def test_locust_tells_two_digits(ms, step):
    assert LOCUST.step(ms) == step

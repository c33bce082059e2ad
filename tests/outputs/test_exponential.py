from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll._engine import Histogram
from plimsoll.outputs.exponential import FINEST_SCALE, MOST_BUCKETS, ExponentialBuckets, exponential_buckets


def _bounds(buckets: ExponentialBuckets, index: int) -> tuple[float, float]:
    base = 2 ** (2**-buckets.scale)
    return base ** (buckets.offset + index), base ** (buckets.offset + index + 1)


def test_a_power_of_two_is_the_upper_end_of_its_bucket() -> None:
    # 0.5 s and 0.25 s, as the specification has them: upper ends are part of a bucket.
    found = exponential_buckets([(250_000, 2), (500_000, 3)])
    assert found.scale == FINEST_SCALE
    assert (found.counts[0], found.counts[-1], sum(found.counts)) == (2, 3, 5)
    assert _bounds(found, 0)[1] == pytest.approx(0.25)
    assert _bounds(found, len(found.counts) - 1)[1] == pytest.approx(0.5)


def test_values_of_0_are_counted_apart() -> None:
    assert exponential_buckets([(0, 4)]) == (FINEST_SCALE, 0, [], 4)
    found = exponential_buckets([(0, 4), (1_000_000, 2)])
    assert (found.counts, found.zeros) == ([2], 4)


@given(st.lists(st.integers(1, 3_600_000_000), min_size=1, max_size=50))
def test_nothing_is_lost_and_everything_is_within_its_bucket(micros: list[int]) -> None:
    histogram = Histogram()
    for value in micros:
        histogram.record(value)
    values = histogram.buckets()
    found = exponential_buckets(values)
    assert len(found.counts) <= MOST_BUCKETS
    assert sum(found.counts) == len(micros)
    counted = [index for index, count in enumerate(found.counts) for _ in range(count)]
    recorded = [value / 1e6 for value, count in values for _ in range(count)]
    for index, seconds in zip(counted, recorded, strict=True):
        low, high = _bounds(found, index)
        assert low * (1 - 1e-9) < seconds <= high * (1 + 1e-9)
    # The width grows only where it must.
    span = math.log2(values[-1][0] / values[0][0])
    assert found.scale == FINEST_SCALE or span * 2 ** (found.scale + 1) > MOST_BUCKETS - 2

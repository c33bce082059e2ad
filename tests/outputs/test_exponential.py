from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from plimsoll._engine import Histogram
from plimsoll.outputs.exponential import FINEST_SCALE, MOST_BUCKETS, ExponentialBuckets, exponential_buckets


def _bounds(buckets: ExponentialBuckets, index: int) -> tuple[float, float]:
    base = 2 ** (2**-buckets.scale)
    return base ** (buckets.offset + index), base ** (buckets.offset + index + 1)


def _histogram(*micros: int) -> Histogram:
    histogram = Histogram()
    for value in micros:
        histogram.record(value)
    return histogram


def test_buckets_have_the_bounds_of_the_specification() -> None:
    # log(0.001) / log(base), rounded up, less 1; base is the 512th root of 2. A histogram has these values exactly.
    found = exponential_buckets(_histogram(1_000, 1_000, 1_500))
    assert found.scale == 9
    assert found.offset == math.ceil(math.log(0.001) / math.log(2 ** (1 / 512))) - 1 == -5103
    assert (found.counts[0], found.counts[-1], sum(found.counts)) == (2, 1, 3)


def test_values_of_0_are_counted_apart() -> None:
    assert exponential_buckets(_histogram(0, 0, 0, 0)) == (FINEST_SCALE, 0, [], 4)
    found = exponential_buckets(_histogram(0, 1, 1))
    assert (found.counts, found.zeros) == ([2], 1)


@given(st.lists(st.integers(1, 3_600_000_000), min_size=1, max_size=50))
def test_nothing_is_lost_and_everything_is_within_its_bucket(micros: list[int]) -> None:
    histogram = _histogram(*micros)
    found = exponential_buckets(histogram)
    assert len(found.counts) <= MOST_BUCKETS
    assert sum(found.counts) == len(micros)
    counted = [index for index, count in enumerate(found.counts) for _ in range(count)]
    for index, value in zip(counted, sorted(micros), strict=True):
        low, high = _bounds(found, index)
        # To the precision of the histogram that they come from.
        assert low * 0.998 < value / 1e6 < high * 1.002
    # The width grows only where it must.
    span = math.log2(histogram.max / histogram.min)
    assert found.scale == FINEST_SCALE or span * 2 ** (found.scale + 1) > MOST_BUCKETS - 2

"""Histograms with buckets of exponentially growing width, as OpenTelemetry has them."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from plimsoll._engine import Histogram

FINEST_SCALE = 9
"""Buckets of 0.14 %. Those of a recorded histogram have up to 0.1 %, so finer ones say no more."""
COARSEST_SCALE = -2
MOST_BUCKETS = 320
"""Of one histogram: times from 1 ms to 1 s have buckets of 2.2 %."""
_LONGEST_US = 3_600_000_000
"""No recorded time is longer."""


class ExponentialBuckets(NamedTuple):
    """Bucket i has the values above base ** (offset + i), up to and with base ** (offset + i + 1); base is
    2 ** (2 ** -scale)."""

    scale: int
    offset: int
    counts: list[int]
    zeros: int
    """Values of 0, which have no bucket."""


def exponential_buckets(times: Histogram, finest: int = FINEST_SCALE) -> ExponentialBuckets:
    """The finest, at most `MOST_BUCKETS`. finest: the finest scale, at most `FINEST_SCALE`.

    times: µs, at least one. The buckets are in seconds."""
    positive = times.counts_above([0])[0]
    zeros = times.count - positive
    if not positive:
        return ExponentialBuckets(finest, 0, [], zeros)
    least, most = (1 if zeros else times.min), times.max
    scale = finest
    while scale > COARSEST_SCALE and _index(most, scale) - _index(least, scale) >= MOST_BUCKETS:
        scale -= 1
    offset, first = _index(least, scale), _index(1, scale)
    # The upper ends of all buckets but the last one, which has the remaining values.
    bounds = _bounds(scale)[offset - first : _index(most, scale) - first]
    above = [positive, *times.counts_above(bounds), 0]
    return ExponentialBuckets(scale, offset, [more - less for more, less in pairwise(above)], zeros)


def _index(micros: int, scale: int) -> int:
    """The index of the bucket that has a value."""
    return math.ceil(math.ldexp(math.log2(micros / 1e6), scale)) - 1


@lru_cache(maxsize=FINEST_SCALE - COARSEST_SCALE + 1)
def _bounds(scale: int) -> list[int]:
    """The upper ends of all buckets from that of 1 µs on, in whole µs: recorded times are whole, too."""
    first, last = _index(1, scale), _index(_LONGEST_US, scale)
    return [math.floor(2 ** math.ldexp(index + 1, -scale) * 1e6) for index in range(first, last + 1)]

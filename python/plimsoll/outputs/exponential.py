"""Histograms with buckets of exponentially growing width, as OpenTelemetry has them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

FINEST_SCALE = 9
"""Buckets of 0.14 %. Those of a recorded histogram have up to 0.1 %, so finer ones say no more."""
COARSEST_SCALE = -2
MOST_BUCKETS = 640
"""Of one histogram: times from 1 ms to 30 s have buckets of 1.1 %."""


class ExponentialBuckets(NamedTuple):
    """Bucket i has the values above base ** (offset + i), up to and with base ** (offset + i + 1); base is
    2 ** (2 ** -scale)."""

    scale: int
    offset: int
    counts: list[int]
    zeros: int
    """Values of 0, which have no bucket."""


def exponential_buckets(values: Sequence[tuple[int, int]]) -> ExponentialBuckets:
    """The finest, at most `MOST_BUCKETS`. values: µs and counts, ascending. The buckets are in seconds."""
    zeros = sum(count for micros, count in values if not micros)
    powers = [(math.log2(micros / 1e6), count) for micros, count in values if micros]
    if not powers:
        return ExponentialBuckets(FINEST_SCALE, 0, [], zeros)
    first, last = powers[0][0], powers[-1][0]
    scale = FINEST_SCALE
    while scale > COARSEST_SCALE and _index(last, scale) - _index(first, scale) >= MOST_BUCKETS:
        scale -= 1
    offset = _index(first, scale)
    counts = [0] * (_index(last, scale) - offset + 1)
    for power, count in powers:
        counts[_index(power, scale) - offset] += count
    return ExponentialBuckets(scale, offset, counts, zeros)


def _index(power: float, scale: int) -> int:
    """Of the bucket with the value 2 ** power."""
    return math.ceil(math.ldexp(power, scale)) - 1

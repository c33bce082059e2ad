"""Whether a figure grows, by the Theil-Sen slope: the median of the slopes between all pairs of samples. A few jumps do
not affect it. With a 95 % confidence interval from Kendall's tau."""

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import theilslopes  # type: ignore[import-untyped]

MIB = 2**20
HOUR = 3600.0
CONFIDENCE = 0.95
WARM_UP = 0.2
"""Share of the first samples to leave out: caches fill and the allocator grows during this time."""
LIMIT_MB_PER_HOUR = 1.0
LEAST_SAMPLES = 8
"""Fewer samples do not show a slope."""


@dataclass(frozen=True)
class Trend:
    """MiB per hour: the slope, and the bounds of its 95 % confidence interval."""

    slope: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Compared with LIMIT_MB_PER_HOUR: "holds" or "GROWS" if the interval is conclusive, otherwise "undecided"."""
        if self.high <= LIMIT_MB_PER_HOUR:
            return "holds"
        return "GROWS" if self.low > LIMIT_MB_PER_HOUR else "undecided"


def trend(seconds: Sequence[float], sizes: Sequence[int]) -> Trend | None:
    """The trend of sizes in bytes at these times, without the warm-up; None if too few samples are left."""
    first = round(len(seconds) * WARM_UP)
    times, values = seconds[first:], sizes[first:]
    if len(times) < LEAST_SAMPLES:
        return None
    found = theilslopes([value / MIB for value in values], [time / HOUR for time in times], alpha=CONFIDENCE)
    return Trend(float(found.slope), float(found.low_slope), float(found.high_slope))

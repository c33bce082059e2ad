"""Percentiles and means of times of which some are only known to be longer than the wait for them.

A request that is given up without a response has a right-censored time: it would have taken at least as long as the
wait. The product-limit estimate counts it among those that may take any longer time: E. L. Kaplan, P. Meier,
Nonparametric Estimation from Incomplete Observations, JASA 53 (1958), pp. 457-481. Without waits, and with waits that
are shorter than every time, it is the plain distribution.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from plimsoll._engine import Histogram

_ROUNDING = 1e-9
"""Of a share: what sums of products may lose."""


@dataclass(frozen=True, slots=True)
class Survival:
    """The estimated distribution of the times. Without numpy, which a run does without."""

    micros: Sequence[int]
    """Times that were seen, in µs, ascending."""
    reached: Sequence[float]
    """The share of all requests that take at most so long, 0…1, one for each time, ascending. The last is below 1 if
    the longest of all is a wait."""
    longest: int
    """µs: the longest time or wait."""

    @classmethod
    def of(cls, times: Histogram, waits: Histogram) -> Self:
        """times: of responses; waits: for responses that did not come. A time and a wait of the same length: the wait
        goes on. Raises ValueError if both are empty."""
        if not times.count + waits.count:
            raise ValueError("there are neither times nor waits")
        ends = waits.buckets()
        lengths, left = [length for length, _ in ends], [0, *accumulate(count for _, count in ends)]
        micros, reached, seen, lasting = [], [], 0, 1.0
        for value, count in times.buckets():
            at_risk = times.count + waits.count - seen - left[bisect_left(lengths, value)]
            lasting *= 1 - count / at_risk
            seen += count
            micros.append(value)
            reached.append(1 - lasting)
        return cls(micros, reached, max(times.max if times.count else 0, waits.max if waits.count else 0))

    @property
    def is_complete(self) -> bool:
        """Whether the longest of all is a time that was seen."""
        return bool(self.reached) and self.reached[-1] > 1 - _ROUNDING

    def quantiles(self, qs: Sequence[float]) -> list[tuple[int, bool]]:
        """For each of these, 0…1: µs, and whether it may be longer, because so many responses did not come."""
        places = [bisect_left(self.reached, q - _ROUNDING) for q in qs]
        return [(self.micros[place], False) if place < len(self.micros) else (self.longest, True) for place in places]

    @property
    def mean(self) -> float:
        """µs: the area below the curve of those that take longer. If it is not complete, up to the longest wait, which
        is less than the mean."""
        shares = [share - before for share, before in zip(self.reached, [0.0, *self.reached], strict=False)]
        seen = sum(share * value for share, value in zip(shares, self.micros, strict=True))
        return seen if self.is_complete else seen + (1 - sum(shares)) * self.longest

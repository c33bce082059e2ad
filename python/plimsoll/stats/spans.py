"""Sums over the course of a run in constant memory, whatever its length."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_SPANS = 64


@dataclass(slots=True)
class SpanSum:
    """The responses of some time."""

    responses: int = 0
    time_ns: int = 0
    """The sum of their response times."""
    body_bytes: int = 0
    """The sum of the sizes of their bodies."""

    def add(self, other: SpanSum) -> None:
        self.responses += other.responses
        self.time_ns += other.time_ns
        self.body_bytes += other.body_bytes

    @property
    def mean_ms(self) -> float:
        return self.time_ns / self.responses / 1e6 if self.responses else 0.0

    @property
    def mean_bytes(self) -> float:
        return self.body_bytes / self.responses if self.responses else 0.0


class TimeSpans:
    """Responses in at most `MOST_SPANS` spans of equal length. The length doubles when there would be more."""

    def __init__(self) -> None:
        self.length = 1
        """Seconds of a span."""
        self._sums = [array("Q") for _ in range(3)]
        """Responses, ns and bytes of each span."""

    def add(self, seconds: Sequence[int], *columns: Sequence[int]) -> None:
        """columns: how many responses came in each of these seconds, the ns that they took, and their bytes."""
        last = max(seconds)
        while last // self.length >= MOST_SPANS:
            self.length *= 2
            self._sums = [array("Q", map(sum, zip(sums[::2], [*sums[1::2], 0], strict=False))) for sums in self._sums]
        for sums, column in zip(self._sums, columns, strict=True):
            missing = last // self.length + 1 - len(sums)
            if missing > 0:
                sums.extend([0] * missing)
            for second, number in zip(seconds, column, strict=True):
                sums[second // self.length] += number

    def within(self, seconds: range) -> Iterator[SpanSum]:
        """The spans that lie wholly within these seconds of the run, in order; also those without a response."""
        first, stop = -(-seconds.start // self.length), seconds.stop // self.length
        for place in range(first, stop):
            yield SpanSum(*(sums[place] if place < len(sums) else 0 for sums in self._sums))

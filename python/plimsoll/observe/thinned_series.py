"""Series of values over time with a limited number of points: the longer they get, the farther apart these are."""

from __future__ import annotations

from array import array

MOST_POINTS = 1200
"""Per series: one a second for the first 20 minutes, one per two seconds up to 40 minutes, and so on."""


class ThinnedSeries:
    """Points that are added in the order of their times. Above the limit two neighbours become one point, with the mean
    of their times and of their values; those that follow are averaged over as many."""

    def __init__(self) -> None:
        self.at: array[float] = array("d")
        self.values: array[float] = array("d")
        self._each = 1
        """Added points per kept point."""
        self._sums = (0.0, 0.0)
        self._open = 0
        """Added points that are not yet a kept one."""

    def add(self, at: float, value: float) -> None:
        """at: in seconds."""
        self._sums = self._sums[0] + at, self._sums[1] + value
        self._open += 1
        if self._open == self._each:
            self._keep()

    def points(self) -> tuple[array[float], array[float]]:
        """Times and values, as copies."""
        at, values = self.at[:], self.values[:]
        if self._open:
            at.append(self._sums[0] / self._open)
            values.append(self._sums[1] / self._open)
        return at, values

    def _keep(self) -> None:
        self.at.append(self._sums[0] / self._open)
        self.values.append(self._sums[1] / self._open)
        self._sums, self._open = (0.0, 0.0), 0
        if len(self.at) >= MOST_POINTS:
            self.at, self.values = _halved(self.at), _halved(self.values)
            self._each *= 2


def _halved(values: array[float]) -> array[float]:
    return array("d", ((a + b) / 2 for a, b in zip(values[::2], values[1::2], strict=True)))

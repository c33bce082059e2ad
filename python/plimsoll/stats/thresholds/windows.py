"""Sums of exchanges over any range of the last seconds of a run, with cheap sliding windows."""

from __future__ import annotations

from plimsoll.stats.totals import Totals


class WindowSums:
    """The sum of each of the last seconds, and of each pair, four, eight, … of them: any window of w seconds is the sum
    of at most 2 log2 w of these, and late data of a past second is added like any other."""

    def __init__(self, longest: int) -> None:
        """longest: seconds of the longest window."""
        self._levels: list[dict[int, Totals]] = [{} for _ in range(longest.bit_length())]
        """levels[k][n]: seconds n * 2**k up to, not including, (n + 1) * 2**k."""
        self._oldest = 0

    def add(self, second: int, totals: Totals) -> None:
        """Seconds dropped by `forget` are ignored. totals: of this second; unchanged."""
        if second < self._oldest:
            return
        for level, sums in enumerate(self._levels):
            into = sums.get(second >> level)
            if into is None:
                into = sums[second >> level] = Totals()
            into.merge(totals)

    def window(self, first: int, seconds: int) -> Totals:
        """The sum of this many seconds."""
        total = Totals()
        end = first + seconds
        while first < end:
            level = len(self._levels) - 1
            while first & ((1 << level) - 1) or first + (1 << level) > end:
                level -= 1
            if sums := self._levels[level].get(first >> level):
                total.merge(sums)
            first += 1 << level
        return total

    def forget(self, before: int) -> None:
        """Drop seconds before this one."""
        if before <= self._oldest:
            return
        self._oldest = before
        for level, sums in enumerate(self._levels):
            for index in [index for index in sums if (index + 1) << level <= before]:
                del sums[index]

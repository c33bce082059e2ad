"""A few slow seconds at the start of a run, found by most of their requests.

The mean of a second with few requests, or with a long tail, is that of its slowest ones. So the medians of seconds are
compared, and the requests of the first seconds with all others by the rank-sum test (Wilcoxon, Biometrics Bulletin 1,
1945; Mann and Whitney, Ann. Math. Stat. 18, 1947).
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from plimsoll._engine import Histogram
from plimsoll.stats.distributions.normal import normal_cdf

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_SECONDS = 4
"""Two slow ones, and two to compare with."""
SUDDEN = 2.0
"""Median of the requests in the first seconds / median of all others."""
NOISY = 0.25
"""Of the later seconds, so many may be as slow as the first ones: a stall is no warm-up, and does not hide one."""
CHANCE = 1e-4
"""p of the rank-sum test. Requests of one second are not independent, so it is much less than 0.05."""


def sudden_start(seconds: Sequence[Histogram | None], most: int) -> tuple[int, float]:
    """How many seconds at the start are slow, fewer than `most`, and how many times as slow as the rest in the median;
    (0, 1.0) for none. A second without requests at the start is slow, too."""
    medians = [each.value_at(0.5) if each is not None and each.count else None for each in seconds]
    known = [value for value in medians[len(medians) // 2 :] if value is not None]
    if len(medians) < LEAST_SECONDS or not known:
        return 0, 1.0
    known.sort()
    limit = max(SUDDEN * statistics.median(known), known[int((len(known) - 1) * (1 - NOISY))])
    slow = 0
    while slow < len(medians) and ((value := medians[slow]) is None or value > limit):
        slow += 1
    head, rest = (
        Histogram.sum([each for each in part if each is not None]) for part in (seconds[:slow], seconds[slow:])
    )
    if not 0 < slow < min(most, len(medians) // 2 + 1) or not head.count or not rest.count:
        return 0, 1.0
    excess = head.value_at(0.5) / max(1, rest.value_at(0.5))
    return (slow, excess) if excess > SUDDEN and slower_p(head, rest) < CHANCE else (0, 1.0)


def slower_p(those: Histogram, others: Histogram) -> float:
    """p of times that are no longer than the others, by ranks; the normal approximation, corrected for ties."""
    counts: dict[int, list[int]] = {}
    for place, histogram in enumerate((those, others)):
        for value, count in histogram.buckets():
            counts.setdefault(value, [0, 0])[place] += count
    n, m = those.count, others.count
    above, ties, below = 0.0, 0.0, 0
    for _, (own, other) in sorted(counts.items()):
        above += own * (below + other / 2)
        below += other
        ties += float(own + other) ** 3 - (own + other)
    whole = n + m
    variance = n * m / 12 * (whole + 1 - ties / (whole * (whole - 1)))
    return normal_cdf(-(above - n * m / 2) / math.sqrt(variance)) if variance > 0 else 1.0

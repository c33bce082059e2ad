"""Shares of failed requests: compared by their difference, because the ratio of two shares near 0 is meaningless."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.compare.pairs import ALPHA, LEAST, paired
from plimsoll.stats.compare.prediction import predicted
from plimsoll.stats.proportions import newcombe, none_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.compare.pairs import Verdict


@dataclass(frozen=True, slots=True)
class FailureCount:
    """In one run."""

    failures: int
    requests: int
    """Above 0."""

    @property
    def share(self) -> float:
        return self.failures / self.requests


@dataclass(frozen=True, slots=True)
class ShareDifference:
    """Of two shares, b − a, with its interval."""

    value: float
    low: float
    high: float
    p: float | None = None
    """Of no difference; None if the spread between runs is unknown."""
    p_flip: float | None = None
    word: Verdict | None = None
    """None with fewer than three pairs."""
    beyond: bool = False
    """The whole interval is beyond the tolerance."""


def difference(
    pairs: Sequence[tuple[FailureCount, FailureCount]], tolerance: float, alpha: float = ALPHA
) -> ShareDifference:
    """b − a over pairs of runs (a, b), at least one.

    Three pairs or more: the t interval over the pairs' differences, with at least the spread of independent requests,
    so that equal counts do not count as certainty. Fewer: Newcombe's interval (Stat. Med. 17, 1998, method 10) of all
    requests together, which ignores the spread between runs. No failure on either side: from −(1 − α^(1/n)) to the same
    of b: shares above these have a chance of at most α to show no failure.
    """
    a, b = (_sum(side) for side in zip(*pairs, strict=True))
    if not a.failures and not b.failures:
        low, high = -none_of(a.requests), none_of(b.requests)
        is_within = max(-low, high) <= tolerance
        word: Verdict | None = None
        if len(pairs) >= LEAST:
            word = "equivalent" if is_within else "not distinguishable"
        return ShareDifference(0.0, low, high, 1.0 if word else None, None, word)
    if len(pairs) < LEAST:
        low, high = newcombe((a.failures, a.requests), (b.failures, b.requests))
        return ShareDifference(b.share - a.share, low, high, beyond=low >= tolerance or high <= -tolerance)
    found = paired([y.share - x.share for x, y in pairs], floor=_floor(pairs, a, b), alpha=alpha)
    assert found is not None
    low, high = found.interval
    word, beyond = found.verdict(tolerance)
    return ShareDifference(found.centre, max(-1.0, low), min(1.0, high), found.p, found.p_flip, word, beyond)


def beyond_earlier(
    earlier: Sequence[FailureCount], run: FailureCount, tolerance: float, alpha: float = ALPHA
) -> ShareDifference:
    """A run's share less the mean of earlier ones, at least five, with the interval of a prediction: by their spread,
    and at least that of independent requests."""
    before = _sum(earlier)
    share = (before.failures + run.failures + 0.5) / (before.requests + run.requests + 1)
    floor = math.sqrt(share * (1 - share) / run.requests)
    found = predicted([each.share for each in earlier], run.share, floor=floor, alpha=alpha)
    low, high = found.interval
    word, beyond = found.verdict(tolerance)
    return ShareDifference(found.centre, max(-1.0, low), min(1.0, high), found.p, None, word, beyond)


def _sum(side: Sequence[FailureCount]) -> FailureCount:
    return FailureCount(sum(each.failures for each in side), sum(each.requests for each in side))


def _floor(pairs: Sequence[tuple[FailureCount, FailureCount]], a: FailureCount, b: FailureCount) -> float:
    """Standard deviation of a pair's difference if requests fail independently. Half a failure is added, because a side
    without any may still have a failure rate above 0."""
    shares = [(side.failures + 0.5) / (side.requests + 1) for side in (a, b)]
    variances = [
        sum(share * (1 - share) / each.requests for share, each in zip(shares, pair, strict=True)) for pair in pairs
    ]
    return math.sqrt(sum(variances) / len(variances))

"""Combines repeated measurements."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TypeVar

from plimsoll.stats.distributions.student import t_quantile

Measurement = TypeVar("Measurement")
"""A dataclass of numbers."""


def median(rounds: Sequence[Measurement]) -> Measurement:
    """The median of each figure separately."""
    return _combined(rounds, statistics.median)


def mean(turns: Sequence[Measurement]) -> Measurement:
    """The mean of each figure separately."""
    return _combined(turns, statistics.fmean)


def _combined(all_: Sequence[Measurement], combine: Callable[[list[float]], float]) -> Measurement:
    kind = type(all_[0])
    return kind(*(combine([getattr(each, field.name) for each in all_]) for field in fields(kind)))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Mean:
    """With Student's 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> "Mean":
        """Of one figure the interval is without ends."""
        mean = statistics.fmean(figures)
        if len(figures) < 2:
            return cls(mean, -math.inf, math.inf)
        reach = t_quantile(len(figures) - 1, 0.975) * statistics.stdev(figures) / math.sqrt(len(figures))
        return cls(mean, mean - reach, mean + reach)


@dataclass(frozen=True)
class Ratio:
    """How many times as much one costs as another, with the 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, pairs: Iterable[tuple[float, float]]) -> "Ratio":
        """The geometric mean of first ÷ second, with Student's interval of the mean of its logarithms.

        Of one pair the interval is without an end."""
        logs = Mean.of([math.log(one / other) for one, other in pairs])
        return cls(math.exp(logs.value), math.exp(logs.low), math.exp(logs.high))

    def __str__(self) -> str:
        return f"×{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

"""The times of many intervals, each by itself: what `Latency` says of each, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import NDArray

    from plimsoll._engine import Histogram
    from plimsoll.record import Interval

Column = list[float | None]
"""ms; None for an interval in which nothing was timed."""


@dataclass(frozen=True, slots=True)
class LatencyColumns:
    """A value for each interval, and how much of it the generator may have added."""

    mean: Column
    quantiles: list[Column]
    """By the quantiles that were asked for; each below 1."""
    mean_share: Column
    quantile_shares: list[Column]
    max_share: Column

    @classmethod
    def of_response(cls, intervals: Sequence[Interval], quantiles: Sequence[float]) -> Self:
        return cls._of(
            intervals,
            [each.response for each in intervals],
            [each.response_on_time for each in intervals],
            quantiles,
            sums=[each.response_sum for each in intervals],
            sums_on_time=[each.on_time_sum for each in intervals],
            extremes=[(each.response_min, each.response_max) for each in intervals],
        )

    @classmethod
    def of_service(cls, intervals: Sequence[Interval], quantiles: Sequence[float]) -> Self:
        sums = [each.service_sum for each in intervals]
        largest = [min(each.service.max * 1000, each.response_max) for each in intervals]
        return cls._of(
            intervals,
            histograms := [each.service for each in intervals],
            histograms,
            quantiles,
            sums=sums,
            sums_on_time=sums,
            extremes=[
                (min(each.service.min * 1000, most), most) for each, most in zip(intervals, largest, strict=True)
            ],
        )

    @classmethod
    def _of(
        cls,
        intervals: Sequence[Interval],
        histograms: list[Histogram],
        on_time: list[Histogram],
        quantiles: Sequence[float],
        *,
        sums: Sequence[int],
        sums_on_time: Sequence[float],
        extremes: Sequence[tuple[int, int]],
    ) -> Self:
        counts = [each.count if interval.timed else 0 for interval, each in zip(intervals, histograms, strict=True)]
        micros = _values(histograms, quantiles)
        shares = np.zeros(micros.shape) if on_time is histograms else _excess(micros, _values(on_time, quantiles))
        least, most = np.array(extremes, dtype=np.int64).reshape(-1, 2).T
        # The last row is the maximum, which is known exactly.
        times = np.clip(micros[:-1] * 1000, least, most) / 1e6
        excess = [max(0.0, total - known) for total, known in zip(sums, sums_on_time, strict=True)]
        return cls(
            mean=_means(sums, counts),
            quantiles=[_column(each, counts) for each in times],
            mean_share=_means(excess, counts),
            quantile_shares=[_column(each, counts) for each in shares[:-1]],
            max_share=_column(shares[-1], counts),
        )


def _values(histograms: Sequence[Histogram], quantiles: Sequence[float]) -> NDArray[np.int64]:
    """µs, a row for each quantile and one for the maximum."""
    asked = [*quantiles, 1.0]
    found = np.array([each.values_at(asked) for each in histograms], dtype=np.int64)
    return found.reshape(-1, len(asked)).T


def _excess(micros: NDArray[np.int64], on_time: NDArray[np.int64]) -> NDArray[np.float64]:
    """ms"""
    excess: NDArray[np.float64] = np.maximum(micros - on_time, 0) / 1000
    return excess


def _means(sums: Sequence[float], counts: Sequence[int]) -> Column:
    return [total / count / 1e6 if count else None for total, count in zip(sums, counts, strict=True)]


def _column(values: NDArray[np.float64], counts: Sequence[int]) -> Column:
    found: Column = values.tolist()
    return found if all(counts) else [value if count else None for value, count in zip(found, counts, strict=True)]

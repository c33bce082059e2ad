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
    def of(cls, intervals: Sequence[Interval], quantiles: Sequence[float]) -> tuple[Self, Self]:
        """Of the response times, and of the service times. Each histogram is read once."""
        response, service = (
            _values([getattr(each, name) for each in intervals], quantiles) for name in ("response", "service")
        )
        waited = [place for place, each in enumerate(intervals) if each.on_time is not None]
        on_time = service.copy()
        on_time[:, waited] = _values([intervals[place].response_on_time for place in waited], quantiles)
        extremes = [(each.response_min, each.response_max) for each in intervals]
        least, most = np.array(extremes, dtype=np.int64).reshape(-1, 2).T
        largest = np.minimum(service[-1] * 1000, most)
        service_sums = [each.service_sum for each in intervals]
        return (
            cls._of(
                [each.response.count if each.timed else 0 for each in intervals],
                np.clip(response[1:-1] * 1000, least, most) / 1e6,
                _excess(response[1:], on_time[1:]),
                [each.response_sum for each in intervals],
                [each.on_time_sum for each in intervals],
            ),
            cls._of(
                [each.service.count if each.timed else 0 for each in intervals],
                np.clip(service[1:-1] * 1000, np.minimum(service[0] * 1000, largest), largest) / 1e6,
                np.zeros(service[1:].shape),
                service_sums,
                service_sums,
            ),
        )

    @classmethod
    def _of(
        cls,
        counts: Sequence[int],
        times: NDArray[np.float64],
        shares: NDArray[np.float64],
        sums: Sequence[int],
        sums_on_time: Sequence[float],
    ) -> Self:
        """times: in ms, a row for each quantile. shares: the same, and one for the maximum."""
        excess = [max(0.0, total - known) for total, known in zip(sums, sums_on_time, strict=True)]
        return cls(
            mean=_means(sums, counts),
            quantiles=[_column(each, counts) for each in times],
            mean_share=_means(excess, counts),
            quantile_shares=[_column(each, counts) for each in shares[:-1]],
            max_share=_column(shares[-1], counts),
        )


def _values(histograms: Sequence[Histogram], quantiles: Sequence[float]) -> NDArray[np.int64]:
    """µs: a row for the minimum, for each quantile, and for the maximum."""
    asked = [0.0, *quantiles, 1.0]
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

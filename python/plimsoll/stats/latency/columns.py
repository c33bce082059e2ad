"""The times of many intervals, each by itself: what `Latency` says of each, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plimsoll._engine import Histogram

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import NDArray

    from plimsoll.stats.columns import IntervalColumns

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
    def of(cls, intervals: IntervalColumns, quantiles: Sequence[float]) -> tuple[Self, Self]:
        """Of the response times, and of the service times. Each histogram is read once. quantiles: ascending."""
        response, service = (_values(each, quantiles) for each in (intervals.response, intervals.service))
        waited = [place for place, each in enumerate(intervals.on_time) if each is not None]
        on_time, numbers = service, intervals.numbers
        sums, service_sums = numbers["response_sum"], numbers["service_sum"]
        sums_on_time: Sequence[float] = service_sums
        if waited:
            on_time = service.copy()
            on_time[:, waited] = _values(intervals.response_on_time(waited), quantiles)
            both = zip(intervals.on_time, service_sums, strict=True)
            sums_on_time = [total if each is None else each.mean * each.count * 1000 for each, total in both]
        least, most = (np.array(numbers[f"response_{name}"], dtype=np.int64) for name in ("min", "max"))
        largest = np.minimum(service[-1] * 1000, most)
        counts = [
            [each.count if timed else 0 for each, timed in zip(column, intervals.is_timed, strict=True)]
            for column in (intervals.response, intervals.service)
        ]
        return (
            cls._of(
                counts[0],
                np.clip(response[1:-1] * 1000, least, most) / 1e6,
                np.maximum(response[1:] - on_time[1:], 0) / 1000,
                sums,
                sums_on_time,
            ),
            cls._of(
                counts[1],
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
            quantiles=[where_timed(each, counts) for each in times],
            mean_share=_means(excess, counts),
            quantile_shares=[where_timed(each, counts) for each in shares[:-1]],
            max_share=where_timed(shares[-1], counts),
        )


def _values(histograms: Sequence[Histogram], quantiles: Sequence[float]) -> NDArray[np.int64]:
    """µs: a row for the minimum, for each quantile, and for the maximum."""
    asked = [0.0, *quantiles, 1.0]
    return np.frombuffer(Histogram.table(histograms, asked), "<i8").reshape(len(asked), -1)


def _means(sums: Sequence[float], counts: Sequence[int]) -> Column:
    return [total / count / 1e6 if count else None for total, count in zip(sums, counts, strict=True)]


def where_timed(values: NDArray[np.float64], counts: Sequence[int]) -> Column:
    """None where nothing was timed."""
    found: Column = values.tolist()
    return found if all(counts) else [value if count else None for value, count in zip(found, counts, strict=True)]

"""A histogram of a monitoring system, which only grows: with fixed buckets, or with exponential ones."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from plimsoll._engine import Histogram
from plimsoll.outputs.exponential import exponential_buckets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.outputs.exponential import ExponentialBuckets

Labels = tuple[tuple[str, str], ...]

BOUNDS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper ends of the buckets. A time counts in the bucket of its histogram value, which is exact to 0.1 %."""
BOUND_TEXTS = (*map(repr, BOUNDS_S), "+Inf")
"""Values of the label `le`, as OpenMetrics demands them: 1.0 and not 1."""
FINEST_NATIVE_SCALE = 8
"""The finest of Prometheus: buckets of 0.27 %."""
_BOUNDS_US = [round(bound * 1e6) for bound in BOUNDS_S]


class Exemplar(NamedTuple):
    """A request of a bucket, by its trace."""

    trace: str
    """32 hexadecimal digits."""
    value_s: float
    time: float
    """Unix time of its response."""


class NativeHistogram(NamedTuple):
    buckets: ExponentialBuckets
    values: int
    sum_s: float


class MetricSample(NamedTuple):
    """One number of a metric, or one native histogram."""

    suffix: str
    """_bucket, _sum or _count of a histogram with fixed buckets; else ""."""
    labels: Labels
    value: float
    exemplar: Exemplar | None = None
    native: NativeHistogram | None = None


class MetricHistogram:
    __slots__ = ("_count", "_counts", "_exemplars", "_has_classic", "_native", "_sum_s")

    def __init__(self, *, has_classic: bool, has_native: bool) -> None:
        """has_classic: it has fixed buckets. has_native: it has exponential ones, as native histograms of Prometheus
        have them. These take 64 KiB of memory."""
        self._has_classic = has_classic
        self._counts = [0] * len(BOUNDS_S)
        """Number of values up to each bound."""
        self._count = 0
        self._sum_s = 0.0
        self._native = Histogram() if has_native else None
        """Times in µs."""
        self._exemplars: dict[int, Exemplar] = {}
        """The latest of each bucket, by its index."""

    def add(self, times: Histogram, sum_s: float) -> None:
        """times: µs."""
        if not times.count:
            return
        count = times.count
        if self._native is not None:
            self._native.add(times)
        if self._has_classic:
            above_bounds = times.counts_above(_BOUNDS_US)
            self._counts = [known + count - above for known, above in zip(self._counts, above_bounds, strict=True)]
        self._count += count
        self._sum_s += sum_s

    def add_exemplar(self, exemplar: Exemplar) -> None:
        self._exemplars[bisect_left(BOUNDS_S, exemplar.value_s)] = exemplar

    def samples(self, labels: Labels, *, is_native: bool) -> Iterator[MetricSample]:
        """is_native: one sample with exponential buckets, if it has them."""
        if is_native and self._native is not None:
            if self._count:
                buckets = exponential_buckets(self._native, FINEST_NATIVE_SCALE)
                latest = max(self._exemplars.values(), key=lambda exemplar: exemplar.time, default=None)
                yield MetricSample("", labels, 0.0, latest, NativeHistogram(buckets, self._count, self._sum_s))
            return
        for index, (text, count) in enumerate(zip(BOUND_TEXTS, (*self._counts, self._count), strict=True)):
            yield MetricSample("_bucket", (*labels, ("le", text)), count, self._exemplars.get(index))
        yield MetricSample("_sum", labels, self._sum_s)
        yield MetricSample("_count", labels, self._count)

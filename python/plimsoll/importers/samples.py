"""Converts single requests from raw result files to histograms and the course of a run."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from plimsoll._engine import Histogram
from plimsoll.importers.single import study_of_run
from plimsoll.record import STREAM_ROWS
from plimsoll.stats.study import TOTAL, Course, FailureKind, Measured, Precision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from plimsoll.importers.options import ImportOptions
    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import SizeOf, Study

MOST_ROWS = 50_000_000
"""Maximum requests of one file."""
MOST_ENDPOINTS = 10_000
MOST_SECONDS = 7 * 86_400
"""Maximum time between the first request and the last: more means a wrong time."""
MOST_KINDS = 1_000
BUCKET = 1 / 1024
"""Maximum width of our histograms' buckets as a fraction of their value."""
_UNKNOWN = array("d", [math.nan])
_CHART_CELLS = 2_000_000
"""Maximum endpoints times seconds for which the course is kept."""


@dataclass(slots=True)
class _Raw:
    """The requests of one endpoint, at the same index in all arrays."""

    ends: array[float] = field(default_factory=lambda: array("d"))
    """Seconds."""
    times: array[float] = field(default_factory=lambda: array("d"))
    """ms; NaN for a request without a time."""
    failed: bytearray = field(default_factory=bytearray)
    sizes: array[float] = field(default_factory=lambda: array("d"))
    """Bytes; NaN if unknown."""
    kinds: Counter[tuple[str, str, int | None]] = field(default_factory=Counter)


class Samples:
    """Collects requests in any order."""

    def __init__(self, source: ResultFile) -> None:
        self._source = source
        self._endpoints: dict[tuple[str, str], _Raw] = {}
        self._count = 0
        self._first = math.inf
        self._last = -math.inf

    def __len__(self) -> int:
        return self._count

    def add(
        self,
        line: int | None,
        key: tuple[str, str],
        end: float,
        ms: float | None,
        *,
        untimed: int = 0,
        failed: bool = False,
        kind: str = "",
        status: int | None = None,
        size: float | None = None,
    ) -> None:
        """end: seconds, of any clock. untimed: how many more without a time ended then. kind: name of the failure.
        Raises UsageError for too many, or invalid values."""
        if not math.isfinite(end) or (ms is not None and not 0 <= ms < 1e12):
            raise self._source.error(line, f"a request of {ms} ms that ended at {end} s cannot be")
        raw = self._endpoints.get(key)
        if raw is None:
            if len(self._endpoints) == MOST_ENDPOINTS:
                raise self._source.error(line, f"more than {MOST_ENDPOINTS} different names: names must not hold ids")
            raw = self._endpoints[key] = _Raw()
        self._count += 1 + untimed
        if self._count > MOST_ROWS:
            raise self._source.error(line, f"more than {MOST_ROWS} requests, the most that is read of one file")
        raw.ends.append(end)
        raw.times.append(math.nan if ms is None else ms)
        raw.failed.append(failed)
        raw.sizes.append(math.nan if size is None else size)
        if untimed:
            raw.ends.extend([end] * untimed)
            raw.times.extend(_UNKNOWN * untimed)
            raw.failed.extend(bytes(untimed))
            raw.sizes.extend(_UNKNOWN * untimed)
        if failed:
            what = ("http" if status else "other", kind or (f"HTTP {status}" if status else "failed"), status)
            if len(raw.kinds) < MOST_KINDS or what in raw.kinds:
                raw.kinds[what] += 1
        self._first = min(self._first, end - (ms or 0.0) / 1000)
        self._last = max(self._last, end)

    def study(
        self, options: ImportOptions, precision: Precision, *, about: Mapping[str, str] | None = None, **found: Any
    ) -> Study:
        """One run of all requests. found: more data of the file, for `study_of_run`. Raises UsageError without
        requests."""
        if all(method in STREAM_ROWS for method, _ in self._endpoints):
            raise self._source.error(None, "holds no requests")
        span = self._last - self._first
        if span > MOST_SECONDS:
            raise self._source.error(None, f"its requests lie {span / 86_400:.0f} days apart: a time in it is wrong")
        seconds = options.duration or span or None
        keep_course = len(self._endpoints) * (span + 1) <= _CHART_CELLS
        endpoints = [
            self._measured(key, raw, seconds, keep_course)
            for key, raw in sorted(self._endpoints.items(), key=lambda item: (item[0][1], item[0][0]))
        ]
        together = _Raw()
        for (method, _), raw in self._endpoints.items():
            if method in STREAM_ROWS:
                continue
            together.ends += raw.ends
            together.times += raw.times
            together.failed += raw.failed
            together.sizes += raw.sizes
            together.kinds += raw.kinds
        return study_of_run(
            self._source,
            options,
            seconds=seconds,
            endpoints=tuple(endpoints),
            total=self._measured(TOTAL, together, seconds, keep_course),
            precision=precision,
            about=about,
            **found,
        )

    def _measured(self, key: tuple[str, str], raw: _Raw, seconds: float | None, keep_course: bool) -> Measured:
        times = np.frombuffer(raw.times, dtype=np.float64)
        failed = np.frombuffer(raw.failed, dtype=np.uint8).astype(bool)
        sizes = np.frombuffer(raw.sizes, dtype=np.float64)
        timed = ~np.isnan(times)
        return Measured(
            *key,
            requests=len(times),
            failures=int(failed.sum()),
            rate=len(times) / seconds if seconds else None,
            mean=_mean(times[timed]),
            min=float(times[timed].min()) if timed.any() else None,
            max=float(times[timed].max()) if timed.any() else None,
            size=_mean(sizes[~np.isnan(sizes)]),
            kinds=tuple(FailureKind(*kind[:2], count, kind[2]) for kind, count in raw.kinds.most_common()),
            mean_success=_mean(times[timed & ~failed]),
            mean_failure=_mean(times[timed & failed]),
            histogram=histogram(times[timed]) if timed.any() else None,
            course=self._course(raw, times, failed, sizes) if keep_course else None,
        )

    def _course(
        self, raw: _Raw, times: NDArray[np.float64], failed: NDArray[np.bool_], sizes: NDArray[np.float64]
    ) -> Course:
        """A request belongs to the second of its end."""
        at = np.floor(np.frombuffer(raw.ends, dtype=np.float64) - self._first).astype(np.int64)
        length = int(self._last - self._first) + 1
        order = np.argsort(at, kind="stable")
        edges = np.searchsorted(at[order], np.arange(length + 1))
        means, maxima, mean_sizes = (np.full(length, np.nan) for _ in range(3))
        histograms: list[Histogram | None] = [None] * length
        for second in np.flatnonzero(np.diff(edges)):
            chosen = order[edges[second] : edges[second + 1]]
            known = times[chosen][~np.isnan(times[chosen])]
            if len(known):
                means[second], maxima[second] = known.mean(), known.max()
                histograms[second] = histogram(known).packed()
            of_bodies = sizes[chosen][~np.isnan(sizes[chosen])]
            if len(of_bodies):
                mean_sizes[second] = of_bodies.mean()
        return Course(
            requests=np.bincount(at, minlength=length).astype(np.int64),
            failures=np.bincount(at[failed], minlength=length).astype(np.int64),
            means=means,
            maxima=maxima,
            sizes=mean_sizes,
            histograms=histograms,
        )


def sampled(
    tool: str, floor: float, clock: Literal["due", "sent", "unknown"] = "sent", size_of: SizeOf = "bodies"
) -> Precision:
    """Of times listed one by one, which are in histograms here. floor: ms, the resolution of the tool."""
    return Precision(tool, 3, floor, clock, times_of="all", mergeable=True, size_of=size_of, relative=BUCKET)


def histogram(milliseconds: NDArray[np.float64]) -> Histogram:
    """Of times in ms; below 1 µs counts as 1 µs."""
    into = Histogram()
    values, counts = np.unique(np.maximum(np.rint(milliseconds * 1000), 1).astype(np.int64), return_counts=True)
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        into.record(value, count)
    return into


def _mean(values: NDArray[np.float64]) -> float | None:
    return float(values.mean()) if len(values) else None

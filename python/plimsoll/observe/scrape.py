"""Metrics of a service at /metrics, in the text format of Prometheus or OpenMetrics."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from plimsoll.observe import exposition
from plimsoll.observe.fetch import Fetcher
from plimsoll.observe.sampler import MOST_NAME, MOST_SERIES, Probe, ProbeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

UNASKED = ("go_*", "python_gc_*", "python_info", "promhttp_*", "scrape_*")
"""Metrics of the exporters' own runtimes: observed only if a pattern matches them."""
_MEAN = " mean"
MOST_WANTED = 4 * MOST_SERIES
"""Lines that become values; a histogram has two."""
MOST_UNWANTED = 50_000
"""Lines that are known to become none, and lines of one page that are looked at because they are not known."""


class _Series(NamedTuple):
    """How a line is processed."""

    kind: str
    """gauge, counter; sum and count, for a mean."""
    name: str
    unit: str


class Scrape(Probe):
    """A page of metrics, once a second.

    Gauges are unchanged, counters are per second. For a histogram or summary: observations per second, and their mean
    since the sample before. Buckets are left out. The first sample has only gauges.
    """

    def __init__(self, source: str, url: str, patterns: Sequence[str] = ()) -> None:
        """patterns: with * and ?, of names or of names with labels as in the text; none: everything except `UNASKED`.
        Raises UsageError."""
        self.source = source
        self._fetcher = Fetcher(url)
        self._path = self._fetcher.path if self._fetcher.path not in ("", "/") else "/metrics"
        self._patterns = tuple(patterns)
        self._wanted: dict[str, _Series] = {}
        self._unwanted: set[int] = set()
        """Hashes: the lines may be long."""
        self._units: dict[str, str] = {}
        self._last: tuple[float, dict[str, float]] | None = None

    def read(self, now: float) -> Mapping[str, float]:
        text = self._fetcher.get(self._path, {"Accept": exposition.ACCEPT})
        figures: dict[str, float] = {}
        counted: dict[str, float] = {}
        types: dict[str, str] | None = None
        self.left_out, looked = exposition.too_long(text), 0
        has_metrics = self.left_out > 0
        for line, value in exposition.samples(text):
            has_metrics = True
            series = self._wanted.get(line)
            if series is None:
                if hash(line) in self._unwanted:
                    continue
                types = exposition.types(text) if types is None else types
                looked += 1
                series = self._added(line, types, may_look=looked <= MOST_UNWANTED)
            if series is None:
                continue
            if series.kind == "gauge":
                figures[series.name] = value
            else:
                counted[line] = value
        if not has_metrics:
            raise ProbeError("its answer has no metrics: is this the path of /metrics?")
        if self._last is not None and now > self._last[0]:
            figures |= self._rates(counted, self._last[1], now - self._last[0])
        self._last = now, counted
        return {name: value for name, value in figures.items() if value == value}

    def unit(self, name: str) -> str:
        return self._units[name]

    def close(self) -> None:
        self._fetcher.close()

    def _rates(self, counted: Mapping[str, float], before: Mapping[str, float], seconds: float) -> dict[str, float]:
        figures: dict[str, float] = {}
        sums: dict[str, float] = {}
        counts: dict[str, float] = {}
        for line, value in counted.items():
            series = self._wanted[line]
            grown = value - before.get(line, float("nan"))
            # A counter that decreased was reset to 0; its missed events are unknown.
            if not grown >= 0:
                continue
            if series.kind == "sum":
                sums[series.name] = grown
                continue
            figures[series.name] = grown / seconds
            if series.kind == "count" and grown:
                counts[series.name + _MEAN] = grown
        return figures | {mean: sums[mean] / count for mean, count in counts.items() if mean in sums}

    def _added(self, line: str, types: Mapping[str, str], *, may_look: bool) -> _Series | None:
        """None if it is not observed, or one too many."""
        if len(line) > MOST_NAME or not may_look:
            self.left_out += 1
            return None
        series = self._series(line, types)
        if series is None:
            if len(self._unwanted) < MOST_UNWANTED:
                self._unwanted.add(hash(line))
            return None
        if len(self._wanted) >= MOST_WANTED:
            self.left_out += 1
            return None
        self._wanted[line] = series
        self._units[series.name] = series.unit
        return series

    def _series(self, line: str, types: Mapping[str, str]) -> _Series | None:
        """None if it is not observed."""
        name = exposition.name_of(line)
        if not self._is_wanted(name, line):
            return None
        labels = line[len(name) :].strip()
        family, _, last = name.rpartition("_")
        if types.get(family) in ("histogram", "summary", "gaugehistogram"):
            unit = exposition.unit_of(family)
            match last:
                case "sum":
                    return _Series("sum", f"{family}{labels}{_MEAN}", unit)
                case "count":
                    return _Series("count", f"{family}{labels}", "/s")
            return None
        kind = types.get(name) or types.get(family, "untyped")
        if last in ("created", "info") or kind in ("info", "histogram"):
            return None
        if kind == "counter" or (kind in ("untyped", "unknown") and last == "total"):
            return _Series("counter", f"{name}{labels}", f"{exposition.unit_of(name)}/s")
        return _Series("gauge", f"{name}{labels}", exposition.unit_of(name))

    def _is_wanted(self, name: str, line: str) -> bool:
        if self._patterns:
            return any(fnmatchcase(name, each) or fnmatchcase(line, each) for each in self._patterns)
        return not any(fnmatchcase(name, each) for each in UNASKED)

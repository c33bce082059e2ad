"""Metrics that a service sends: from points of its instruments to figures per second."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_POINTS = 2000
"""Series that are followed."""
_UNITS = {"s": "s", "ms": "ms", "us": "µs", "By": "bytes", "1": "", "%": "%"}
"""Of UCUM, as OpenTelemetry has them; those in braces are words."""


class MetricPoint(NamedTuple):
    """The state of an instrument with some attributes at one time."""

    name: str
    """With its attributes."""
    unit: str
    """As the service says it."""
    at: int
    """Unix time, ns."""
    value: float
    """Of a histogram: its sum."""
    kind: str
    """gauge, counter or histogram."""
    observations: int = 0
    """Of a histogram."""
    is_delta: bool = False
    """Since the point before; else since the service began."""


class Instruments:
    """Gauges as they are; counters, and the observations of histograms, per second between two points; their mean."""

    def __init__(self) -> None:
        self._last: dict[str, MetricPoint] = {}
        self._new: dict[str, float] = {}
        self._units: dict[str, str] = {}
        self.left_out = 0
        """Points of series beyond the limit."""

    def add(self, point: MetricPoint) -> None:
        before = self._last.get(point.name)
        if before is None and len(self._last) >= MOST_POINTS:
            self.left_out += 1
            return
        self._last[point.name] = point
        unit = _UNITS.get(point.unit, "" if point.unit.startswith("{") else point.unit)
        if point.kind == "gauge":
            self._set(point.name, unit, point.value)
        elif before is not None and point.at > before.at:
            self._rates(point, before, unit)

    def take(self) -> Mapping[str, float]:
        """What is new since the last call."""
        new, self._new = self._new, {}
        return new

    def unit(self, name: str) -> str:
        return self._units[name]

    def _rates(self, point: MetricPoint, before: MetricPoint, unit: str) -> None:
        seconds = (point.at - before.at) / 1e9
        value = point.value if point.is_delta else point.value - before.value
        count = point.observations - (0 if point.is_delta else before.observations)
        if point.kind == "counter" and value >= 0:
            self._set(point.name, f"{unit}/s", value / seconds)
        elif point.kind == "histogram" and count >= 0:
            self._set(point.name, "/s", count / seconds)
            if count:
                self._set(f"{point.name} mean", unit, value / count)

    def _set(self, name: str, unit: str, value: float) -> None:
        self._new[name] = value
        self._units[name] = unit

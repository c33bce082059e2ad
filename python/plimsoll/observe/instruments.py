"""Metrics that a service sends: converts points of its instruments to values per second."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from plimsoll.observe.sampler import MOST_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_POINTS = 2000
"""Maximum number of series."""
_UNITS = {"s": "s", "ms": "ms", "us": "µs", "By": "bytes", "1": "", "%": "%"}
"""UCUM units as in OpenTelemetry; those in braces are words."""


class MetricPoint(NamedTuple):
    """The value of an instrument with some attributes at one time."""

    name: str
    """Including its attributes."""
    unit: str
    """As sent by the service."""
    at: int
    """Unix time, ns."""
    value: float
    """For a histogram its sum."""
    kind: str
    """gauge, counter or histogram."""
    observations: int = 0
    """Only of a histogram."""
    is_delta: bool = False
    """Since the previous point; else since the service started."""


class Instruments:
    """Gauges unchanged; counters and observations of histograms per second between two points; means of histograms."""

    def __init__(self) -> None:
        self._last: dict[str, MetricPoint] = {}
        self._new: dict[str, float] = {}
        self._units: dict[str, str] = {}
        self.left_out = 0
        """Points of series above the limit, or with too long names."""

    def add(self, point: MetricPoint) -> None:
        before = self._last.get(point.name)
        if before is None and (len(self._last) >= MOST_POINTS or len(point.name) > MOST_NAME):
            self.left_out += 1
            return
        self._last[point.name] = point
        unit = _UNITS.get(point.unit, "" if point.unit.startswith("{") else point.unit)
        if point.kind == "gauge":
            self._set(point.name, unit, point.value)
        elif before is not None and point.at > before.at:
            self._rates(point, before, unit)

    def take(self) -> Mapping[str, float]:
        """The new values since the last call."""
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

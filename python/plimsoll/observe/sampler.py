"""Asks probes at even distances, and keeps their figures as series.

Nothing happens by itself: somebody calls `sample` when `wait` has passed. So there is no thread here, and tests set the
clock.
"""

from __future__ import annotations

import time
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll.stats.study import Series

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

EVERY_S = 1.0
"""Between samples."""
REST_S = 5.0
"""A probe that failed is not asked for so long: one that does not answer must not hold up the others each time."""
MOST_SERIES = 500
"""Of one probe; an hour of them takes 30 MB."""


class ProbeError(Exception):
    """What is observed does not answer. The message says which and why."""


class Probe:
    """Something that has figures at any time."""

    source: str
    """The value for `Series.source`."""

    def read(self, now: float) -> Mapping[str, float]:
        """The figures at this time, by name, without those that are unknown. now: seconds of the sampler's clock, which
        are later from call to call. Raises ProbeError."""
        raise NotImplementedError

    def unit(self, name: str) -> str:
        """Of a figure that was read."""
        raise NotImplementedError

    def facts(self) -> Mapping[str, Any]:
        """JSON: what else is known of it when the run is over."""
        return {}

    def notes(self) -> Sequence[str]:
        """What else must be said of it then."""
        return ()

    def close(self) -> None:
        """It will not be asked again. May be repeated."""


@dataclass(slots=True)
class _Readings:
    at: array[float] = field(default_factory=lambda: array("d"))
    """Seconds of the sampler's clock, halfway through each reading."""
    values: array[float] = field(default_factory=lambda: array("d"))


class _Asked:
    """A probe and all that it said."""

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        self.readings: dict[str, _Readings] = {}
        self.answers = 0
        self.failures = 0
        self.left_out: set[str] = set()
        self.rests_until = float("-inf")
        self.reason = ""

    def ask(self, clock: Callable[[], float]) -> None:
        before = clock()
        if before < self.rests_until:
            self.failures += 1
            return
        try:
            figures = self.probe.read(before)
        except ProbeError as error:
            self.failures += 1
            self.reason = str(error)
            self.rests_until = clock() + REST_S
            return
        self.answers += 1
        at = (before + clock()) / 2
        for name, value in figures.items():
            readings = self.readings.get(name)
            if readings is None:
                if len(self.readings) >= MOST_SERIES:
                    self.left_out.add(name)
                    continue
                readings = self.readings[name] = _Readings()
            readings.at.append(at)
            readings.values.append(value)

    def notes(self) -> list[str]:
        found = []
        if self.failures:
            asked = self.answers + self.failures
            missing = "was not observed" if not self.answers else f"lacks {self.failures} of {asked} samples"
            found.append(f"{self.probe.source} {missing}: {self.reason}")
        if self.left_out:
            there_are = MOST_SERIES + len(self.left_out)
            found.append(f"{self.probe.source}: only the first {MOST_SERIES} of {there_are} series are kept")
        return [*found, *self.probe.notes()]


class Sampler:
    """All figures of some probes, once a second from now on."""

    def __init__(
        self, probes: Sequence[Probe], *, every: float = EVERY_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """every: seconds, > 0. clock: in seconds, never going back."""
        self._asked = [_Asked(each) for each in probes]
        self._every = every
        self._clock = clock
        self._due = clock()

    def wait(self) -> float:
        """Seconds until the next sample is due."""
        return max(0.0, self._due - self._clock())

    def sample(self) -> None:
        """Ask every probe, if it is time."""
        now = self._clock()
        if now < self._due:
            return
        # On the grid, and without making up for what was missed.
        self._due += self._every * (1 + (now - self._due) // self._every)
        for each in self._asked:
            each.ask(self._clock)

    @property
    def notes(self) -> list[str]:
        """What is missing, and why."""
        return [note for each in self._asked for note in each.notes()]

    def series(self, start: float, end: float) -> tuple[Series, ...]:
        """What was read from start to end, in seconds since start. Both are of the sampler's clock. A figure that was
        never read has no series."""
        found = []
        for asked in self._asked:
            for name, readings in asked.readings.items():
                # A copy: numpy would else lock the arrays, and they may still grow.
                at, values = np.array(readings.at), np.array(readings.values)
                within = (at >= start) & (at <= end)
                if within.any():
                    unit = asked.probe.unit(name)
                    found.append(Series(asked.probe.source, name, unit, at[within] - start, values[within]))
        return tuple(found)

    def facts(self) -> dict[str, Mapping[str, Any]]:
        """JSON: what else the probes know, by their sources."""
        found = ((each.probe.source, each.probe.facts()) for each in self._asked)
        return {source: facts for source, facts in found if facts}

    def close(self) -> None:
        for each in self._asked:
            each.probe.close()

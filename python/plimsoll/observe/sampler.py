"""Asks probes at even distances, and keeps what they say as series.

Nothing happens by itself: the code that waits for a run calls `sample` when `wait` has passed. So there is no thread,
and tests set the clock.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from plimsoll.stats.study import Series

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

EVERY = 1.0
"""Seconds between samples."""


class ProbeError(Exception):
    """What was observed is gone, or does not answer. The message says which and why."""


class Probe(Protocol):
    """Something that has figures at any time."""

    source: str
    """The value for `Series.source`."""
    units: Mapping[str, str]
    """The unit of each possible figure."""

    def read(self, now: float) -> Mapping[str, float]:
        """The figures at this time, without those that are unknown. now: seconds of the sampler's clock, which
        are later from call to call. Raises ProbeError, and is not asked again then."""

    def close(self) -> None:
        """It will not be asked again. May be repeated."""


class SampledValues(NamedTuple):
    at: float
    """Seconds of the sampler's clock, halfway through the reading."""
    value: float


class Sampler:
    """All figures of some probes, once a second from now on."""

    def __init__(
        self, probes: Sequence[Probe], *, every: float = EVERY, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """every: seconds, > 0. clock: in seconds, never going back."""
        self._probes = list(probes)
        self._all = tuple(probes)
        self._every = every
        self._clock = clock
        self._due = clock()
        self._readings: dict[tuple[int, str], list[SampledValues]] = {}
        self.notes: list[str] = []
        """Why a probe was given up, as far as any was."""

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
        for index, probe in enumerate(self._all):
            if probe in self._probes:
                self._ask(index, probe)

    def series(self, start: float, end: float) -> tuple[Series, ...]:
        """What was read from start to end, in seconds since start. Both are of the sampler's clock. A figure that was
        never read has no series."""
        found = []
        for (index, name), readings in self._readings.items():
            within = [each for each in readings if start <= each.at <= end]
            if not within:
                continue
            probe = self._all[index]
            seconds = np.array([each.at - start for each in within])
            values = np.array([each.value for each in within])
            found.append(Series(probe.source, name, probe.units[name], seconds, values))
        return tuple(found)

    def close(self) -> None:
        for probe in self._all:
            probe.close()

    def _ask(self, index: int, probe: Probe) -> None:
        before = self._clock()
        try:
            figures = probe.read(before)
        except ProbeError as error:
            self.notes.append(str(error))
            self._probes.remove(probe)
            probe.close()
            return
        at = (before + self._clock()) / 2
        for name, value in figures.items():
            self._readings.setdefault((index, name), []).append(SampledValues(at, float(value)))

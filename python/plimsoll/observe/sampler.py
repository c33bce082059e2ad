"""Reads probes at equal intervals, and keeps their values as series.

The caller calls `sample` after `wait`. So there is no thread here, and tests control the clock.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.observe.thinned_series import ThinnedSeries
from plimsoll.stats.study import Series

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plimsoll.record.observed import ObservedSource

EVERY_S = 1.0
"""Sampling interval."""
REST_S = 5.0
"""Pause of a failed probe, so that one without response does not delay the others each time."""
MOST_SERIES = 500
"""Per probe; they take 10 MB at most."""
MOST_NAME = 1000
"""Characters of a name. Reports and the store have it whole, so a longer one is left out."""


class ProbeError(Exception):
    """The observed object does not respond. The message names it and the reason."""


class Probe:
    """A source of values that can be read at any time."""

    source: str
    """The value for `Series.source`."""
    left_out: int = 0
    """Values that the last reading found and did not return, because they are too many or have too long names."""

    def read(self, now: float) -> Mapping[str, float]:
        """The current values by name, without unknown ones. now: seconds of the sampler's clock, which increase from
        call to call. Raises ProbeError."""
        raise NotImplementedError

    def unit(self, name: str) -> str:
        """Of a value."""
        raise NotImplementedError

    def facts(self) -> ObservedSource | None:
        """More data about it after the run, if there is some."""
        return None

    def notes(self) -> Sequence[str]:
        """Caveats about it after the run."""
        return ()

    def close(self) -> None:
        """Stop using it. Can be called repeatedly."""


class _Asked:
    """A probe and all its values."""

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        self.readings: dict[str, ThinnedSeries] = {}
        """By name; their times are seconds of the sampler's clock, at the middle of each reading."""
        self.answers = 0
        self.failures = 0
        self.left_out = 0
        """The most values of one reading that were not kept. Their names may be new ones each time."""
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
        self._keep((before + clock()) / 2, figures)

    def _keep(self, at: float, figures: Mapping[str, float]) -> None:
        left_out = 0
        for name, value in figures.items():
            readings = self.readings.get(name)
            if readings is None:
                if len(self.readings) >= MOST_SERIES or len(name) > MOST_NAME:
                    left_out += 1
                    continue
                readings = self.readings[name] = ThinnedSeries()
            readings.add(at, value)
        self.left_out = max(self.left_out, left_out + self.probe.left_out)

    def notes(self) -> list[str]:
        found = []
        if self.failures:
            asked = self.answers + self.failures
            missing = "was not observed" if not self.answers else f"lacks {self.failures} of {asked} samples"
            found.append(f"{self.probe.source} {missing}: {self.reason}")
        if self.left_out:
            there_are = len(self.readings) + self.left_out
            found.append(
                f"{self.probe.source}: only the first {len(self.readings)} of {there_are} series or more are kept"
            )
        return [*found, *self.probe.notes()]


class Sampler:
    """All values of some probes, once a second from now on."""

    def __init__(
        self, probes: Sequence[Probe], *, every: float = EVERY_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """every: seconds, > 0. clock: seconds, monotonic."""
        self._asked = [_Asked(each) for each in probes]
        self._every = every
        self._clock = clock
        self._due = clock()

    def wait(self) -> float:
        """Seconds until the next sample is due."""
        return max(0.0, self._due - self._clock())

    def sample(self) -> None:
        """Read every probe, if a sample is due."""
        now = self._clock()
        if now < self._due:
            return
        # On the grid; missed samples are skipped.
        self._due += self._every * (1 + (now - self._due) // self._every)
        for each in self._asked:
            each.ask(self._clock)

    @property
    def notes(self) -> list[str]:
        """What is missing, and why."""
        return [note for each in self._asked for note in each.notes()]

    def series(self, start: float, end: float) -> tuple[Series, ...]:
        """The values from start to end, in seconds since start. Both are of the sampler's clock. A name without values
        has no series."""
        found = []
        for asked in self._asked:
            for name, readings in asked.readings.items():
                at, values = map(np.array, readings.points())
                within = (at >= start) & (at <= end)
                if within.any():
                    unit = asked.probe.unit(name)
                    found.append(Series(asked.probe.source, name, unit, at[within] - start, values[within]))
        return tuple(found)

    def facts(self) -> dict[str, ObservedSource]:
        """More data of the probes, by their sources."""
        found = ((each.probe.source, each.probe.facts()) for each in self._asked)
        return {source: facts for source, facts in found if facts is not None}

    def close(self) -> None:
        for each in self._asked:
            each.probe.close()

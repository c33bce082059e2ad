"""Which loads to try: doubled until the objective breaks, halved, and confirmed by runs around the place.

Each next load follows from all runs so far, not from the last one: a run that was unlucky is outvoted by those that
follow it, and the search goes back to where it was misled.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from plimsoll.stats.capacity.boundary import boundary, split

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.stats.capacity.probe import CapacityProbe, ProbePhase
    from plimsoll.stats.study import LoadUnit

ATTEMPTS = 3
"""Runs at a load until one counts. A generator that was disturbed once was perhaps disturbed by others."""
MOST_ROUNDS = 3
"""Times that the boundary is approached and confirmed."""
MOST_STEPS = 60
"""Runs of one approach. Doubling and halving over the whole range take fewer."""
MOST_MISSED = 2
"""Confirming loads at which the generator may be the limit before the search ends."""


@dataclass(frozen=True, slots=True)
class Settings:
    unit: LoadUnit
    start: float
    """The load that is tried first, > 0."""
    most: float
    """No load above it is tried, >= start."""
    seconds: float
    """Measured in each run, > 0."""
    width: float = 0.05
    """Relative width of the bracket at which halving ends, 0…1."""
    confirm: int = 12
    """The number of confirming runs."""
    spread: float = 0.1
    """How far below and above the bracket these reach, 0…1."""
    seed: int = 0
    """Seed of the order of the confirming runs."""

    @property
    def least(self) -> float:
        """No load below it is tried."""
        return 1.0 if self.unit == "users" else min(self.start, 1.0) / 64


class Measure(Protocol):
    def __call__(self, load: float, phase: ProbePhase) -> CapacityProbe: ...


def search(settings: Settings, measure: Measure, say: Callable[[str], None] = lambda _: None) -> list[CapacityProbe]:
    """All runs that were made, in their order. Ends early when the generator, not the target, is the limit.

    The loads follow from the settings and from what the earlier runs measured, so that a search whose first runs are
    read back from a store goes on where it was.
    """
    course = _Course(settings, measure)
    try:
        for _ in range(MOST_ROUNDS):
            bracket = course.approach()
            if bracket is None:
                break
            say(f"between {' and '.join(map(course.shown, bracket))}; confirming with {settings.confirm} runs")
            if course.confirm(*bracket):
                break
    except _GeneratorLimitError:
        pass
    return course.probes


class _GeneratorLimitError(Exception):
    """No run at some load counted."""


class _Course:
    """A search under way."""

    def __init__(self, settings: Settings, measure: Measure) -> None:
        self.settings = settings
        self.probes: list[CapacityProbe] = []
        self._measure = measure
        self._random = random.Random(settings.seed)

    def approach(self) -> tuple[float, float] | None:
        """Loads close together, of which the lower one meets the objective and the higher one does not, as most runs
        say. None when there are none between the least and the highest load."""
        if not self.probes:
            self.run(self.settings.start, "double")
        for _ in range(MOST_STEPS):
            low, high = split(self._counted())
            if low is not None and high is not None:
                if self._is_narrow(low, high):
                    return low, high
                self.run(math.sqrt(low * high), "halve")
                continue
            at = low or high or 0.0
            load = self._rounded(min(at * 2, self.settings.most) if high is None else max(at / 2, self.settings.least))
            if load == at:
                return None
            self.run(load, "double")
        return None

    def confirm(self, low: float, high: float) -> bool:
        """Whether the interval of the boundary lies within the loads that were confirmed."""
        reach, count = 1 + self.settings.spread, self.settings.confirm
        bottom, top = max(low / reach, self.settings.least), min(high * reach, self.settings.most)
        loads = [bottom * (top / bottom) ** (place / (count - 1)) for place in range(count)]
        self._random.shuffle(loads)
        missed = 0
        for load in loads:
            try:
                self.run(load, "confirm")
            except _GeneratorLimitError:
                missed += 1
                if missed == MOST_MISSED:
                    raise
        found = boundary(self._counted())
        return (
            found is not None
            and found.low is not None
            and found.high is not None
            and bottom <= found.low * reach
            and found.high <= top * reach
            and all(bottom <= each <= top for each in split(self._counted()) if each is not None)
        )

    def run(self, load: float, phase: ProbePhase) -> None:
        """Until a run counts. Raises _GeneratorLimitError after `ATTEMPTS`."""
        load = self._rounded(load)
        for _ in range(ATTEMPTS):
            self.probes.append(self._measure(load, phase))
            if not self.probes[-1].invalid:
                return
        raise _GeneratorLimitError

    def shown(self, load: float) -> str:
        return f"{load:.4g}{' users' if self.settings.unit == 'users' else '/s'}"

    def _counted(self) -> list[tuple[float, bool]]:
        return [(each.load, each.passed) for each in self.probes if not each.invalid]

    def _is_narrow(self, low: float, high: float) -> bool:
        return 1 - low / high <= self.settings.width or self._rounded(math.sqrt(low * high)) in (low, high)

    def _rounded(self, load: float) -> float:
        """Four digits of a rate: a load that people can type again."""
        if self.settings.unit == "users":
            return float(max(1, round(load)))
        return round(load, 3 - math.floor(math.log10(load)))

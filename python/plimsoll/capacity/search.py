"""Chooses loads: doubles until the objective breaks, halves, and confirms with runs around the boundary.

Each next load follows from all runs so far, not only from the last one: later runs outvote an unlucky one, and the
search returns to the point where it was misled.
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
"""Runs at a load until one is valid. A generator that was disturbed once may be disturbed again."""
MOST_ROUNDS = 3
"""Maximum number of approaches to the boundary, each followed by confirmation."""
MOST_STEPS = 60
"""Maximum runs of one approach. Doubling and halving over the whole range take fewer."""
MOST_MISSED = 2
"""Confirming loads that the generator may limit before the search ends."""


@dataclass(frozen=True, slots=True)
class Settings:
    unit: LoadUnit
    start: float
    """The first load, > 0."""
    most: float
    """The highest load, >= start."""
    seconds: float
    """Measured length of each run, > 0."""
    width: float = 0.05
    """Relative width of the bracket at which halving ends, 0…1."""
    confirm: int = 12
    """The number of confirming runs."""
    spread: float = 0.1
    """How far they extend below and above the bracket, 0…1."""
    seed: int = 0
    """Seed for the order of the confirming runs."""

    @property
    def least(self) -> float:
        """The lowest load."""
        return 1.0 if self.unit == "users" else min(self.start, 1.0) / 64


class Measure(Protocol):
    def __call__(self, load: float, phase: ProbePhase) -> CapacityProbe: ...


def search(settings: Settings, measure: Measure, say: Callable[[str], None] = lambda _: None) -> list[CapacityProbe]:
    """All runs in their order. Ends early if the generator, not the target, is the limit.

    The loads follow from the settings and the earlier results, so a search whose first runs come from a store continues
    where it was.
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
    """All runs at a load were invalid."""


class _Course:
    """A search in progress."""

    def __init__(self, settings: Settings, measure: Measure) -> None:
        self.settings = settings
        self.probes: list[CapacityProbe] = []
        self._measure = measure
        self._random = random.Random(settings.seed)

    def approach(self) -> tuple[float, float] | None:
        """Two loads close together: by majority of the runs, the lower one meets the objective and the higher one does
        not. None if there are none between the lowest and the highest load."""
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
        """Whether the interval of the boundary lies within the confirmed loads."""
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
        """Repeat until a run is valid. Raises _GeneratorLimitError after `ATTEMPTS`."""
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
        """Four digits of a rate, easy to type again."""
        if self.settings.unit == "users":
            return float(max(1, round(load)))
        return round(load, 3 - math.floor(math.log10(load)))

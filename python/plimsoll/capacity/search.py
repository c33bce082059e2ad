"""Which loads to try: doubled until the objective breaks, halved by MLRsearch (of FD.io; a draft of the IETF's
Benchmarking Methodology group), and then confirmed by runs around the bracket, in random order.

MLRsearch counts a load as a bound only when most of the seconds spent there agree, so that one unlucky run does not
send the search the wrong way. It sees requests and losses. As losses it gets the strain of the run: the share that was
used of what the objective allows.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from MLRsearch import (  # type: ignore[import-untyped]
    AbstractMeasurer,
    Config,
    MeasurementResult,
    MultipleLossRatioSearch,
    SearchGoal,
)

from plimsoll.stats.capacity.estimate import Crossing, bracket, cross

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.stats.capacity.estimate import CapacityProbe, ProbePhase
    from plimsoll.stats.study import LoadUnit

ATTEMPTS = 3
"""Runs at a load until one is valid. A generator that was disturbed once was perhaps disturbed by others."""
MOST_SHIFTS = 2
"""Times that the confirming runs are moved when nearly all of them lie on one side."""
ONE_SIDED = 0.8
_GOAL = 0.01
_COUNT = 1_000_000
"""The number of requests that MLRsearch gets, large enough to express a share without rounding."""


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
    """All runs that were made, in their order. Ends early when the generator, not the target, is the limit."""
    course = _Course(settings, measure)
    if not course.double():
        return course.probes
    low, high = course.bracket()
    say(f"between {course.shown(low)} and {course.shown(high)}; halving")
    course.bisect(low, high)
    low, high = course.bracket()
    for _ in range(1 + MOST_SHIFTS):
        say(f"between {course.shown(low)} and {course.shown(high)}; confirming with {settings.confirm} runs")
        latest = course.confirm(low, high)
        shift = course.shift(latest)
        if shift is None or course.at_end(low * shift, high * shift):
            break
        low, high = low * shift, high * shift
    return course.probes


class _GeneratorLimitError(Exception):
    """No run at some load was valid."""


class _Course:
    """A search under way."""

    def __init__(self, settings: Settings, measure: Measure) -> None:
        self.settings = settings
        self.probes: list[CapacityProbe] = []
        self._measure = measure
        self._random = random.Random(settings.seed)

    def double(self) -> bool:
        """Whether there is a load that meets the objective and one that does not."""
        load = self.settings.start
        try:
            first = self.run(load, "double")
            step = 2.0 if first.passed else 0.5
            latest = first
            while latest.passed == first.passed:
                load = min(max(load * step, self.settings.least), self.settings.most)
                if self._rounded(load) == latest.load:
                    return False
                latest = self.run(load, "double")
        except _GeneratorLimitError:
            return False
        return True

    def bisect(self, low: float, high: float) -> None:
        width = max(self.settings.width, 1 / high if self.settings.unit == "users" else 0.0)
        if 1 - low / high <= width:
            return
        goal = SearchGoal(
            loss_ratio=_GOAL, exceed_ratio=0.5, relative_width=min(width, 0.99), expansion_coefficient=2,
            initial_trial_duration=self.settings.seconds, final_trial_duration=self.settings.seconds,
            duration_sum=3 * self.settings.seconds, preceding_targets=1, fail_fast=False,
        )  # fmt: skip
        config = Config()
        config.goals = (goal,)
        # In this order: the library checks each against the other as it now stands. Half of what has held once: when
        # that was luck, the search has somewhere to go.
        config.min_load, config.max_load = max(self.settings.least, low / 2), high
        config.search_duration_max, config.warmup_duration = 1e9, 0.0
        try:
            MultipleLossRatioSearch(config=config).search(_Measurer(self), debug=lambda _: None)
        except _GeneratorLimitError:
            return

    def confirm(self, low: float, high: float) -> list[CapacityProbe]:
        bottom, top = low * (1 - self.settings.spread), min(high * (1 + self.settings.spread), self.settings.most)
        count = self.settings.confirm
        loads = [bottom * (top / bottom) ** (place / max(1, count - 1)) for place in range(count)]
        self._random.shuffle(loads)
        latest = []
        for load in loads:
            try:
                latest.append(self.run(load, "confirm"))
            except _GeneratorLimitError:
                continue
        return latest

    def shift(self, latest: list[CapacityProbe]) -> float | None:
        """By which factor the confirming runs lie off; None if they lie around what is looked for."""
        if not latest:
            return None
        confirming = [each for each in self.probes if each.phase == "confirm" and not each.invalid]
        criteria = {strain.criterion for each in latest for strain in each.strains}
        if any(isinstance(cross(confirming, each), Crossing) for each in criteria):
            return None
        share = sum(each.passed for each in latest) / len(latest)
        reach = (1 + self.settings.spread) ** 2
        return reach if share >= ONE_SIDED else 1 / reach if share <= 1 - ONE_SIDED else None

    def at_end(self, low: float, high: float) -> bool:
        return high > self.settings.most or low < self.settings.least

    def bracket(self) -> tuple[float, float]:
        low, high = bracket([each for each in self.probes if not each.invalid])
        assert high is not None, "some load broke the objective"
        return low or max(self.settings.least, high / 2), high

    def run(self, load: float, phase: ProbePhase) -> CapacityProbe:
        """The first valid one of a few."""
        load = self._rounded(load)
        for _ in range(ATTEMPTS):
            probe = self._measure(load, phase)
            self.probes.append(probe)
            if not probe.invalid:
                return probe
        raise _GeneratorLimitError

    def shown(self, load: float) -> str:
        return f"{load:.4g}{' users' if self.settings.unit == 'users' else '/s'}"

    def _rounded(self, load: float) -> float:
        """Four digits of a rate: a load that people can type again."""
        if self.settings.unit == "users":
            return float(max(1, round(load)))
        return round(load, 3 - math.floor(math.log10(load)))


class _Measurer(AbstractMeasurer):  # type: ignore[misc]
    """What MLRsearch asks for its runs."""

    def __init__(self, course: _Course) -> None:
        self._course = course

    def measure(self, intended_duration: float, intended_load: float) -> MeasurementResult:
        probe = self._course.run(intended_load, "bisect")
        lost = min(_COUNT, round(_GOAL * _COUNT * probe.strain))
        allowed = round(_GOAL * _COUNT)
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=_COUNT,
            loss_count=min(lost, allowed) if probe.passed else max(lost, allowed + 1),
        )

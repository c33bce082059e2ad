"""How long an experiment takes, and whether it can answer its question. Pure.

Before anything was run, times follow from the settings; afterwards from the cells that were measured.
"""

from __future__ import annotations

import math
import shlex
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.say.names import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.experiment.cell_values import ExperimentCell
    from plimsoll.experiment.spec import Experiment
    from plimsoll.stats.study import Noise

STARTED = 4.0
"""Seconds that a cell is taken to need beside its run, before any was measured, when its target has to be started;"""
RUNNING = 2.0
"""and when it is there already: the generator's own start and end."""
SPREAD = 0.05
"""Standard deviation of ln(ratio) between pairs that is assumed without an A/A history; short runs, quiet machine."""
LEAST_T = 3
"""Pairs below which there is no t interval."""
LEAST_AA = 4
"""Pairs below which a spread is not estimated."""
LEAST_FLIP = 6
"""Pairs below which flipping signs cannot reach p = .05: 2 / 2⁶ = .031."""


@dataclass(slots=True)
class CellDurations:
    """How long cells take."""

    spec: Experiment
    _beyond: dict[str, list[float]] = field(default_factory=dict)
    """Seconds beyond the run itself, by variant."""

    def measured(self, cell: ExperimentCell, seconds: float) -> None:
        """So long it took from its preparation to the end of its target."""
        self._beyond.setdefault(cell.variant, []).append(max(0.0, seconds - self._run(cell)))

    def of(self, cell: ExperimentCell) -> float:
        """Seconds that it is expected to take."""
        own = self._beyond.get(cell.variant)
        others = [each for beyond in self._beyond.values() for each in beyond]
        if own or others:
            return self._run(cell) + statistics.median(own or others)
        started = self.spec.variant(cell.variant).target.is_started
        return self._run(cell) + self.spec.cool_down + (STARTED if started else RUNNING)

    def of_all(self, cells: Iterable[ExperimentCell]) -> float:
        return sum(self.of(cell) for cell in cells)

    def _run(self, cell: ExperimentCell) -> float:
        scenario = self.spec.scenario(cell.operation)
        return math.ceil(scenario.warmup) + (scenario.run_time or 0.0)


def repeats_that_fit(spec: Experiment, seconds: float, budget: float) -> int:
    """seconds: what the repeats of the spec take. 0 when not even one fits."""
    return min(spec.repeats, int(budget / (seconds / spec.repeats)))


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why so few repeats may not answer the question."""

    text: str
    repeats: int
    """The number of repeats that suffices."""


def doubts(spec: Experiment, spread: Spread, needed: int) -> list[Doubt]:
    """What must be said before it starts. needed: pairs that distinguish `compare.smallest` from
    none at this spread."""
    if len(spec.variants) < 2:
        return []
    if spec.is_aa:
        text = f"{spec.repeats} repeats tell little of how far runs lie apart"
        return [Doubt(text, LEAST_AA)] if spec.repeats < LEAST_AA else []
    found: list[Doubt] = []
    smallest = f"{spec.compare.smallest * 100:g} %"
    if spec.repeats == 1:
        text = "one run each: how far runs of the same variant lie apart stays unknown, so no difference can be certain"
        found.append(Doubt(text, LEAST_T))
    elif spec.repeats < LEAST_T:
        found.append(Doubt(f"{spec.repeats} repeats: an interval needs at least {LEAST_T}", LEAST_T))
    if LEAST_T <= spec.repeats < LEAST_FLIP:
        text = f"with fewer than {LEAST_FLIP} repeats the exact test (flipping signs) cannot reach p = 0.05"
        found.append(Doubt(text, LEAST_FLIP))
    if spec.repeats < needed:
        text = f"to tell a difference of {smallest} from none, {needed} repeats are needed at {spread.text}"
        found.append(Doubt(text, needed))
    return found


@dataclass(frozen=True, slots=True)
class Spread:
    """How far the runs of a pair lie apart when nothing differs."""

    value: float
    """Standard deviation of ln(ratio)."""
    text: str
    """The source of the spread, in words."""


def spread_of(spec: Experiment, noise: Sequence[Noise]) -> Spread:
    """The largest spread of the metrics of the question in A/A experiments, because a verdict is needed for all of
    them. Without A/A experiments an assumption."""
    wanted = spec.compare.primary or spec.compare.metrics
    known = [
        each for each in noise for metric in wanted if each.metric == metric.text and metric.is_about(each.endpoint)
    ]
    if not known:
        measures = f"`--aa {shlex.quote(spec.variants[0].name)}` measures it"
        return Spread(SPREAD, f"an assumed spread of {SPREAD * 100:g} % between runs ({measures})")
    widest = max(known, key=lambda each: each.variance)
    value = math.sqrt(widest.variance)
    where = listed([widest.metric, *([" ".join(widest.endpoint).strip()] if any(widest.endpoint) else [])], "of")
    return Spread(value, f"the spread of {value * 100:.2g} % that A/A runs showed for {where}")

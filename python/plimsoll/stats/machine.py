"""The machine of a target: whether all its cores are busy, and which part of them the target uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from plimsoll.record.cells import CellKey
    from plimsoll.stats.study import Study, Trial

MACHINE = "this machine"
"""As a source: all of its cores, for all processes."""
FULL = 0.9
"""Of the usable cores, in the median second: above it requests wait several times as long for a core as they use it."""
SMALL_PART = 0.25
"""Of the busy cores of a full machine: a target that uses less than this is not what fills it."""


@dataclass(frozen=True, slots=True)
class StarvedTarget:
    """What a target uses of a machine that the load generator or other programs fill. In cores."""

    busy_cores: float
    cores: float
    target_cores: float
    """Of all observed sources."""


def starved(trials: Sequence[Trial]) -> StarvedTarget | None:
    """Of the runs of a cell; None unless their machine is full and the target uses a small part of it."""
    busy = mean_of(trials, MACHINE, "cpu", np.median)
    cores = min((trial.cores[MACHINE] for trial in trials if MACHINE in trial.cores), default=0.0)
    if busy is None or not cores or busy < FULL * cores:
        return None
    used = sum(value for _, value in cores_of_sources(trials))
    return StarvedTarget(busy, cores, used) if is_small_part(used, busy) else None


def starved_cells(study: Study) -> dict[CellKey, StarvedTarget]:
    """The cells with such runs; invalid runs do not count."""
    cells: dict[CellKey, list[Trial]] = {}
    for trial in study.trials:
        if trial.observed and not trial.invalid:
            cells.setdefault(trial.cell, []).append(trial)
    found = ((cell, starved(trials)) for cell, trials in cells.items())
    return {cell: target for cell, target in found if target is not None}


def is_small_part(target_cores: float, busy_cores: float) -> bool:
    """False for a target of which nothing was observed."""
    return 0 < target_cores < SMALL_PART * busy_cores


def cores_of_sources(trials: Sequence[Trial]) -> list[tuple[str, float]]:
    """Busy cores of each observed source but the machine, most first."""
    sources = dict.fromkeys(series.source for trial in trials for series in trial.observed if series.name == "cpu")
    found = ((source, mean_of(trials, source, "cpu", np.median)) for source in sources if source != MACHINE)
    return sorted(((source, value) for source, value in found if value is not None), key=lambda use: -use[1])


def mean_of(trials: Sequence[Trial], source: str, name: str, sums: Callable[..., np.float64]) -> float | None:
    """Of a series over the runs; None if no run has it."""
    values = list(values_of(trials, source, name, sums))
    return sum(values) / len(values) if values else None


def values_of(trials: Sequence[Trial], source: str, name: str, sums: Callable[..., np.float64]) -> Iterator[float]:
    """Of a series after the warm-up, of each run in which it was observed then. sums: a median, a mean."""
    for trial in trials:
        parts = [
            series.values[(series.seconds >= trial.warmup) & np.isfinite(series.values)]
            for series in trial.observed
            if (series.source, series.name) == (source, name)
        ]
        if parts and len(parts[0]):
            yield float(sums(parts[0]))

"""CPU and WAITS: full resources of the target, and queues in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from plimsoll.record.cells import CellKey
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import valid
from plimsoll.stats.findings.subject import Subject, subject
from plimsoll.stats.machine import FULL, MACHINE, cores_of_sources, is_small_part, mean_of, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from plimsoll.stats.findings.finding import FindingWeight
    from plimsoll.stats.study import Level, Series, Study, Trial

SERIAL_MOST = 1.05
"""Cores per process: the maximum reading for a process that runs one thread at a time, with sampling jitter."""
LEAST_WAITING = 1.0
"""On average: less is chance."""
GROWS = 3.0
"""Times as many as at the lowest level."""
_WAITING = re.compile(r"(?<![a-z])(wait(ing|ers)?|pending|queue[ds]?|queue_(length|size|depth)|backlog)(?![a-z])", re.I)
_NOT_A_NUMBER_OF = re.compile(r"second|_ms\b|time|total|limit|max|capacity", re.I)


class _Seen(NamedTuple):
    """A value in the runs of one cell."""

    level: Level | None
    trials: Sequence[Trial]
    value: float


@dataclass(frozen=True, slots=True)
class FullMachine(Finding):
    """A machine whose cores are all busy."""

    id = "CPU"
    subject: Subject
    busy_cores: float
    cores: float
    level: Level | None
    """From which on it is so, if there are several."""
    before: tuple[float, Level] | None
    """Busy cores at the lowest level, if that is another one."""
    shares: tuple[tuple[str, float], ...]
    """Cores by observed source, most first."""
    rest: float
    """Cores of all else."""
    is_starved: bool
    """Whether the observed sources use only a small part: the load generator or other programs fill the machine."""


@dataclass(frozen=True, slots=True)
class FullCpu(Finding):
    """A target that uses all of its cores, or one thread that is always busy."""

    id = "CPU"
    subject: Subject
    busy_cores: float
    cores: float
    level: Level | None
    """As of `FullMachine`."""
    before: tuple[float, Level] | None
    source: str
    processes: int | None
    """Number of the target's processes, if they are the limit: each runs one thread at a time."""


@dataclass(frozen=True, slots=True)
class Queue(Finding):
    """Something of the target that counts what waits."""

    id = "WAITS"
    subject: Subject
    mean: float
    most: float
    lowest_level: float | None
    """Mean at the lowest of several levels."""
    level: Level | None
    first_level: Level | None
    """The lowest one."""
    series: tuple[str, str]
    """Source and name of the count."""


def full(study: Study) -> Iterable[Finding]:
    for variant, operation in product(study.variants, study.operations):
        cells = _cells(study, variant, operation)
        for source in _sources(cells, "cpu"):
            uses = list(_seen(cells, source, "cpu", np.median))
            limits = [_limit(use, source) for use in uses]
            for use, (limit, serial) in zip(uses, limits, strict=True):
                if limit and use.value >= FULL * limit:
                    yield _full(study, source, use, limit, serial=serial, first=uses[0])
                    break


def _limit(use: _Seen, source: str) -> tuple[float, int]:
    """Cores, 0 if unknown; and the number of processes if they are the limit, 0 if the cores are."""
    cores = min((trial.cores[source] for trial in use.trials if source in trial.cores), default=0.0)
    counts = list(values_of(use.trials, source, "processes", np.median))
    processes = round(max(counts)) if counts else 0
    if processes and (not cores or processes < cores) and use.value <= SERIAL_MOST * processes:
        return float(processes), processes
    # Cores shared with all other processes: the finding about the machine covers them.
    shared = source != MACHINE and any(MACHINE in trial.cores and trial.cores[MACHINE] <= cores for trial in use.trials)
    return (0.0 if shared else cores), 0


def _full(study: Study, source: str, use: _Seen, limit: float, *, serial: int, first: _Seen) -> Finding:
    trial = use.trials[0]
    level = use.level if len(study.levels) > 1 else None
    before = (first.value, first.level) if level is not None and first is not use and first.level is not None else None
    about = subject(study, trial.variant, trial.operation)
    if source != MACHINE:
        return FullCpu(
            about, use.value, limit, level, before, source, serial or None, where=_where(trial), weight="insight"
        )
    shares = tuple(cores_of_sources(use.trials))
    used = sum(value for _, value in shares)
    rest, is_starved = use.value - used, is_small_part(used, use.value)
    weight: FindingWeight = "warning" if is_starved else "insight"
    return FullMachine(
        about, use.value, limit, level, before, shares, rest, is_starved, where=_where(trial), weight=weight
    )


def waits(study: Study) -> Iterable[Finding]:
    for variant, operation in product(study.variants, study.operations):
        cells = _cells(study, variant, operation)
        queues = {
            (series.source, series.name): None
            for trials in cells for trial in trials for series in trial.observed if _counts_waiting(series)
        }  # fmt: skip
        for source, name in queues:
            seen = list(_seen(cells, source, name, np.mean))
            most = max(seen, key=lambda each: each.value)
            first = seen[0] if len(seen) > 1 else None
            if most.value >= LEAST_WAITING and (first is None or most.value >= GROWS * first.value):
                yield _waits(study, source, name, most, first)


def _counts_waiting(series: Series) -> bool:
    plain = re.sub(r"\{.*", "", series.name)
    return not series.unit and bool(_WAITING.search(plain)) and not _NOT_A_NUMBER_OF.search(plain)


def _waits(study: Study, source: str, name: str, most: _Seen, first: _Seen | None) -> Finding:
    trial = most.trials[0]
    return Queue(
        subject(study, trial.variant, trial.operation),
        mean=most.value,
        most=max(values_of(most.trials, source, name, np.max)),
        lowest_level=first.value if first is not None else None,
        level=most.level if len(study.levels) > 1 else None,
        first_level=first.level if first is not None else None,
        series=(source, name),
        where=_where(trial),
        weight="insight",
    )


def _cells(study: Study, variant: str, operation: str) -> list[list[Trial]]:
    """The lowest level first."""
    levels = sorted(study.levels, key=lambda level: level.value if level is not None else 0.0)
    found = (valid(study, CellKey(variant, level, operation)) for level in levels)
    return [trials for trials in found if trials]


def _sources(cells: Sequence[Sequence[Trial]], name: str) -> list[str]:
    """The sources with this value, in the order of observation."""
    found = (series.source for trials in cells for trial in trials for series in trial.observed if series.name == name)
    return list(dict.fromkeys(found))


def _seen(cells: Sequence[Sequence[Trial]], source: str, name: str, sums: Callable[..., np.float64]) -> Iterator[_Seen]:
    """Cell by cell: the mean over its runs."""
    for trials in cells:
        if (value := mean_of(trials, source, name, sums)) is not None:
            yield _Seen(trials[0].level, trials, value)


def _where(trial: Trial) -> Where:
    return Where.of(trial)

"""Observations of the target, and the work that it reported, over the runs of a cell or a variant."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.study import TargetWork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.study import Series, Trial


@dataclass(frozen=True, slots=True)
class ObservedRange:
    """A summary of a series of observations."""

    source: str
    name: str
    unit: str
    first: float
    """Mean over the runs, like `last`."""
    last: float
    least: float
    """Of all runs, like `most`."""
    most: float


def observed_of(trials: Sequence[Trial]) -> list[ObservedRange]:
    """One for each source and name that has a number in some run, in the order of the runs."""
    alike: dict[tuple[str, str], list[Series]] = defaultdict(list)
    for series in (series for trial in trials for series in trial.observed):
        alike[series.source, series.name].append(series)
    ranges = []
    for (source, name), several in alike.items():
        runs = [values for series in several if (values := [float(each) for each in series.values if each == each])]
        if runs:
            first, last = (statistics.fmean(values[place] for values in runs) for place in (0, -1))
            ranges.append(
                ObservedRange(source, name, several[0].unit, first, last, min(map(min, runs)), max(map(max, runs)))
            )
    return ranges


def work_of(trials: Sequence[Trial], kind: str) -> list[TargetWork]:
    """The work of a kind, one for each source, name and view; the one with the most time comes first. Percentiles are
    those of a single run, because they do not add up."""
    alike: dict[tuple[str, str, str], list[TargetWork]] = defaultdict(list)
    for trial in trials:
        for each in trial.work:
            if each.kind == kind:
                alike[each.source, each.name, each.view].append(each)
    sums = [parts[0] if len(trials) == 1 and len(parts) == 1 else _sum(parts) for parts in alike.values()]
    return sorted(sums, key=lambda each: -each.ms)


def _sum(parts: Sequence[TargetWork]) -> TargetWork:
    first = parts[0]
    rows = [each.rows for each in parts if each.rows is not None]
    return TargetWork(
        first.kind,
        first.source,
        first.name,
        sum(each.calls for each in parts),
        sum(each.ms for each in parts),
        first.view,
        sum(each.failed for each in parts),
        rows=sum(rows) if rows else None,
    )

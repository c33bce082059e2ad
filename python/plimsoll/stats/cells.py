"""The combined runs of one variant at one level: the rows of every table that is not a comparison.

Counts are added up, times and rates are geometric means over the runs, as in a `Comparison`; extremes are those of all
runs. Invalid runs count only in a cell without a valid one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.record.cells import CellKey
from plimsoll.stats.cell import geometric_mean, median_ratio
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from plimsoll.stats.metric import Metric
    from plimsoll.stats.study import Measured, Study, Trial


@dataclass(frozen=True, slots=True, eq=False)
class EndpointCell:
    """One endpoint, or all together, in the counted runs of a cell. None: unknown in one run or all."""

    key: tuple[str, str]
    runs: tuple[Measured, ...]

    @property
    def requests(self) -> int | None:
        return _sum(run.requests for run in self.runs)

    @property
    def failures(self) -> int | None:
        return _sum(run.failures for run in self.runs)

    def rounding(self, count: str) -> float:
        """By how much "requests" or "failures" may be off, because the source rounds them."""
        return sum(run.rounding.get(count, 0.0) for run in self.runs)

    @property
    def censored(self) -> int:
        """Timed-out requests, kept at their limit."""
        return sum(run.censored for run in self.runs)

    @property
    def unanswered(self) -> int | None:
        """Requests without a response when their user was stopped."""
        return _sum(run.unanswered for run in self.runs)

    @property
    def rate(self) -> float | None:
        return geometric_mean([run.rate for run in self.runs])

    @property
    def failures_per_s(self) -> float | None:
        if not self.requests or self.failures is None or self.rate is None:
            return None
        overdue = sum(run.overdue for run in self.runs)
        completed = self.requests - overdue
        return self.rate * (self.failures - overdue) / completed if completed else 0.0

    @property
    def waited_ms(self) -> float:
        """The sum of all response times, from the mean over the runs; 0 if they are not known."""
        return (self.mean or 0.0) * (self.requests or 0)

    @property
    def mean(self) -> float | None:
        return geometric_mean([run.mean for run in self.runs])

    @property
    def min(self) -> float | None:
        return min(_known(run.min for run in self.runs), default=None)

    @property
    def max(self) -> float | None:
        return max(_known(run.max for run in self.runs), default=None)

    @property
    def size(self) -> float | None:
        """Mean bytes of a decoded body."""
        sizes = _known(run.size for run in self.runs)
        return sum(sizes) / len(sizes) if sizes else None

    def quantile(self, q: float) -> float | None:
        """ms"""
        return geometric_mean([run.quantile(q) for run in self.runs])

    def is_at_least(self, q: float) -> bool:
        """Whether the value at this quantile may have been greater: in a run it lies among requests that were given up
        on."""
        return any(run.is_at_least(q) for run in self.runs)

    @property
    def is_mean_at_least(self) -> bool:
        """The same of the mean and the maximum."""
        return any(run.is_mean_at_least for run in self.runs)

    def share(self, metric: Metric) -> float:
        """ms of a time that the generator may have added, on average over the runs."""
        return sum(metric.share_of(run) for run in self.runs) / len(self.runs) if self.runs else 0.0

    def value(self, metric: Metric) -> float | None:
        """As in a comparison by this metric; of a share the arithmetic mean."""
        values = [metric.of(run) for run in self.runs]
        if metric.kind != "errors":
            return geometric_mean(values)
        known = _known(values)
        return sum(known) / len(known) if known else None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CellSummary(CellKey):
    """All repeats of a cell together."""

    trials: tuple[Trial, ...]
    """All, including the invalid ones, by repeat."""
    by_key: Mapping[tuple[str, str], EndpointCell]
    """The endpoints, by name, then method."""
    total: EndpointCell | None

    @property
    def endpoints(self) -> tuple[EndpointCell, ...]:
        return tuple(self.by_key.values())

    @property
    def valid(self) -> tuple[Trial, ...]:
        return tuple(trial for trial in self.trials if not trial.invalid)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why runs of it are invalid, each reason once."""
        return tuple(dict.fromkeys(reason for trial in self.trials for reason in trial.invalid))

    @property
    def offered(self) -> float | None:
        """Arrivals per second of the open model."""
        return geometric_mean([trial.offered for trial in self.trials])

    @property
    def achieved(self) -> float | None:
        """The share of these that started, in the worst counted run."""
        shares = _known(_achieved(trial) for trial in self.valid or self.trials)
        return min(shares, default=None)

    @property
    def main(self) -> EndpointCell | None:
        """All endpoints together, or the only one."""
        return self.total or (self.endpoints[0] if len(self.endpoints) == 1 else None)

    def endpoint(self, key: tuple[str, str]) -> EndpointCell | None:
        if key in (("", ""), TOTAL):
            return self.total
        return self.by_key.get(key)


def cells_of(study: Study) -> tuple[CellSummary, ...]:
    """Those with a trial, by operation, level, variant."""
    trials: dict[CellKey, list[Trial]] = {}
    for trial in study.trials:
        trials.setdefault(trial.cell, []).append(trial)
    return tuple(
        _cell(place, tuple(sorted(trials[place], key=lambda each: each.repeat)))
        for operation in study.operations
        for level in study.levels
        for variant in study.variants
        if (place := CellKey(variant, level, operation)) in trials
    )


def cell_of(study: Study, of: CellKey) -> CellSummary:
    """One of them, perhaps without a trial."""
    return _cell(of, study.cell(of))


def rate_ratio(a: CellSummary, b: CellSummary) -> float | None:
    """How many times as many requests b answers as a, all endpoints together; None in the open model, which sets the
    rate."""
    if a.level is not None and a.level.unit == "/s":
        return None
    before, after = (cell.total.rate if cell.total is not None else None for cell in (a, b))
    return after / before if before and after else None


def dominant_endpoint(cells: Iterable[CellSummary]) -> tuple[str, str]:
    """The one that users wait for most in these cells; `TOTAL` if there are not several."""
    waited: dict[tuple[str, str], float] = {}
    for cell in cells:
        for endpoint in cell.endpoints:
            waited[endpoint.key] = waited.get(endpoint.key, 0.0) + endpoint.waited_ms
    return max(waited, key=lambda key: waited[key]) if len(waited) > 1 else TOTAL


def requests_per_arrival(study: Study) -> float | None:
    """Median over the runs of a search; None if no run has a rate."""
    return median_ratio(
        [
            trial.total.rate / trial.level.value
            for trial in study.trials
            if trial.level is not None and trial.total is not None and trial.total.rate is not None
        ]
    )


def _cell(of: CellKey, trials: tuple[Trial, ...]) -> CellSummary:
    counting = [trial for trial in trials if not trial.invalid] or trials
    runs: dict[tuple[str, str], list[Measured]] = {}
    for trial in counting:
        for measured in trial.endpoints:
            runs.setdefault(measured.key, []).append(measured)
    endpoints = {key: EndpointCell(key, tuple(runs[key])) for key in sorted(runs, key=lambda key: (key[1], key[0]))}
    totals = tuple(trial.total for trial in counting if trial.total is not None)
    total = EndpointCell(TOTAL, totals) if totals else None
    return CellSummary(
        variant=of.variant, level=of.level, operation=of.operation, trials=trials, by_key=endpoints, total=total
    )


def _achieved(trial: Trial) -> float | None:
    if trial.generator is not None and trial.generator.achieved is not None:
        return trial.generator.achieved
    rate = trial.total.rate if trial.total is not None else None
    return rate / trial.offered if trial.offered and rate is not None else None


def _sum(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if None in known or not known else sum(count for count in known if count is not None)


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None and math.isfinite(value)]

"""Rungs of the load for the scaling rules: one variant with one operation, level by level."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.record.cells import CellKey
from plimsoll.stats.cell import geometric_mean
from plimsoll.stats.distributions.normal import normal_quantile
from plimsoll.stats.distributions.student import t_quantile
from plimsoll.stats.findings.rows import fastest, seconds_of, successes, valid, whole
from plimsoll.stats.machine import starved
from plimsoll.stats.proportions import garwood
from plimsoll.stats.study import PLIMSOLL, TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.stats.study import Level, LoadUnit, Measured, Study, Trial

LEAST_RUNS = 3
"""Per rung, for an interval over runs."""
RUN_SPREAD = 0.1
"""Standard deviation of ln X between runs of one level, if there is one run of each. It is not known then; on machines
that others share, runs of the same load differ by up to this much."""
CHANCE = 0.005
"""Probability, of one side, that a level is so far off by chance: it is looked for at several levels."""
CONFIDENCE = 0.975
"""Of each side: 95 % intervals."""


@dataclass(frozen=True, slots=True, eq=False)
class Rung:
    """The valid runs of one cell, and one row of each. Times in ms, rates per second."""

    level: Level
    trials: tuple[Trial, ...]
    measured: tuple[Measured, ...]
    """One of each trial."""

    @property
    def load(self) -> float:
        return self.level.value

    @property
    def rates(self) -> tuple[float, ...]:
        """Throughput of each run: requests that did not fail, per second. Empty unless every run has one."""
        return _known([_rate(trial, row, successes(row)) for trial, row in self._rows])

    @property
    def rate(self) -> float | None:
        return geometric_mean(self.rates)

    @property
    def ended_rate(self) -> float | None:
        """Requests per second, including failed ones, because users spend time in these as well."""
        return geometric_mean(_known([_rate(trial, row, _completed(row)) for trial, row in self._rows]))

    @property
    def requests(self) -> int | None:
        """Of all runs."""
        return self._sum([row.requests for row in self.measured])

    @property
    def successes(self) -> int | None:
        return self._sum([successes(row) for row in self.measured])

    @property
    def failures(self) -> int | None:
        return self._sum([row.failures for row in self.measured])

    @property
    def seconds(self) -> float | None:
        """Of all runs."""
        return math.fsum(known) if (known := _known([seconds_of(trial)[0] for trial in self.trials])) else None

    @property
    def mean(self) -> float | None:
        return geometric_mean([row.mean for row in self.measured])

    @property
    def fastest(self) -> float | None:
        """The fastest request of all runs, including the warm-up. None if a run does not have it."""
        return min(_known([fastest(trial, row) for trial, row in self._rows]), default=None)

    def quantile(self, q: float) -> float | None:
        return geometric_mean([row.quantile(q) for row in self.measured]) or None

    def interval(self, scatter: float | None = None) -> tuple[float, float] | None:
        """95 % of the throughput: over runs if there are enough; else the wider one of the counting alone, which is
        the minimum, and of a scatter known otherwise (half a width of logarithms). None if nothing determines the
        scatter."""
        if len(self.rates) >= LEAST_RUNS and min(self.rates) > 0:
            logs = [math.log(rate) for rate in self.rates]
            return _around(math.exp(math.fsum(logs) / len(logs)), half_width(logs) / math.sqrt(len(logs)))
        if self.rate is None:
            return None
        bounds = [_around(self.rate, scatter)] if scatter is not None else []
        if self.successes is not None and self.seconds:
            low, high = garwood(self.successes)
            # Given counts and rates agree except for rounding.
            per_s = self.rate / self.successes if self.successes else 1 / self.seconds
            bounds.append((low * per_s, high * per_s))
        return (min(low for low, _ in bounds), max(high for _, high in bounds)) if bounds else None

    @property
    def _rows(self) -> Iterator[tuple[Trial, Measured]]:
        return zip(self.trials, self.measured, strict=True)

    @staticmethod
    def _sum(values: list[int | None]) -> int | None:
        known = [value for value in values if value is not None]
        return sum(known) if known and len(known) == len(values) else None


@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """Rungs ascending by load, all of one unit."""

    variant: str
    operation: str
    key: tuple[str, str]
    """Of the endpoint; `TOTAL` for all of them together."""
    rungs: tuple[Rung, ...]

    @property
    def label(self) -> str:
        return f"{self.key[0]} {self.key[1]}".strip() if self.key != TOTAL else ""

    @property
    def unit(self) -> LoadUnit:
        return self.rungs[0].level.unit

    @property
    def is_starved(self) -> bool:
        """Whether a rung's target had a small part of a full machine: its throughput says nothing of the target."""
        return any(starved(rung.trials) is not None for rung in self.rungs)

    def with_rates(self) -> tuple[tuple[Rung, ...], list[float]]:
        """The rungs with known throughput, and the throughput; none if no request succeeded at any of them."""
        found = [(rung, rate) for rung in self.rungs if (rate := rung.rate) is not None]
        if not any(rate for _, rate in found):
            return (), []
        return tuple(rung for rung, _ in found), [rate for _, rate in found]


def totals(study: Study) -> Iterator[Ladder]:
    """A ladder of all endpoints together per variant and operation."""
    for variant, operation, rungs in _cells(study):
        found = [_rung(level, [(trial, whole(trial)) for trial in trials]) for level, trials in rungs]
        known = tuple(rung for rung in found if rung is not None)
        if known:
            yield Ladder(variant, operation, TOTAL, known)


def of_endpoints(study: Study) -> Iterator[Ladder]:
    """A ladder per variant, operation and endpoint; of all together if the endpoints are unknown."""
    whole_ladders = {(ladder.variant, ladder.operation): ladder for ladder in totals(study)}
    for variant, operation, rungs in _cells(study):
        rows = {trial.id: {row.key: row for row in trial.endpoints} for _, trials in rungs for trial in trials}
        keys = dict.fromkeys(row.key for _, trials in rungs for trial in trials for row in trial.endpoints)
        if not keys and (variant, operation) in whole_ladders:
            yield whole_ladders[variant, operation]
        for key in keys:
            found = [_rung(level, [(trial, rows[trial.id].get(key)) for trial in trials]) for level, trials in rungs]
            yield Ladder(variant, operation, key, tuple(rung for rung in found if rung is not None))


def run_spread(rungs: Sequence[Rung]) -> tuple[float, float]:
    """Standard deviation of ln X between runs of a level, over all levels, and its degrees of freedom; `RUN_SPREAD`,
    or what the counts add to it, if the repeats are too few to tell."""
    repeated = [[math.log(rate) for rate in rung.rates] for rung in rungs if len(rung.rates) > 1 and min(rung.rates)]
    freedom = sum(len(logs) - 1 for logs in repeated)
    counts = [rung.successes for rung in rungs]
    counted = max((1 / count for count in counts if count), default=0.0)
    if freedom < LEAST_RUNS:
        return math.sqrt(RUN_SPREAD**2 + counted), math.inf
    squares = math.fsum((each - math.fsum(logs) / len(logs)) ** 2 for logs in repeated for each in logs)
    return math.sqrt(squares / freedom), float(freedom)


def chance_margin(rungs: Sequence[Rung]) -> float:
    """How far ln X of a level may be off a curve through all of them by chance."""
    spread, freedom = run_spread(rungs)
    runs = min(len(rung.trials) for rung in rungs)
    critical = t_quantile(freedom, 1 - CHANCE) if math.isfinite(freedom) else normal_quantile(1 - CHANCE)
    # The curve itself rests on some of the levels.
    return critical * spread * math.sqrt((1 + 1 / LEAST_RUNS) / runs)


def slope(loads: Sequence[float], values: Sequence[float]) -> float:
    """d ln(value) / d ln(load), by least squares over all rungs. Values are positive."""
    x = [math.log(load) for load in loads]
    y = [math.log(value) for value in values]
    return straight(x, y)


def straight(x: Sequence[float], y: Sequence[float]) -> float:
    """The slope of the straight line with the least squares."""
    middle_x, middle_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    along = math.fsum((each - middle_x) ** 2 for each in x)
    return math.fsum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True)) / along


def half_width(logs: Sequence[float]) -> float:
    """Of a 95 % interval for one more such value: t · s."""
    middle = math.fsum(logs) / len(logs)
    spread = math.sqrt(math.fsum((each - middle) ** 2 for each in logs) / (len(logs) - 1))
    return t_quantile(len(logs) - 1, CONFIDENCE) * spread


def users_of(rung: Rung) -> float:
    """Of the closed model."""
    users = [trial.users for trial in rung.trials if trial.users is not None]
    return users[0] if users else rung.load


def _around(rate: float, half: float) -> tuple[float, float]:
    return rate * math.exp(-half), rate * math.exp(half)


def _rung(level: Level, rows: Sequence[tuple[Trial, Measured | None]]) -> Rung | None:
    known = [(trial, row) for trial, row in rows if row is not None]
    return Rung(level, tuple(trial for trial, _ in known), tuple(row for _, row in known)) if known else None


def _cells(study: Study) -> Iterator[tuple[str, str, list[tuple[Level, tuple[Trial, ...]]]]]:
    """Per variant, operation and unit of the load: its levels with their valid runs."""
    for operation in study.operations:
        for variant in study.variants:
            for unit in ("users", "/s"):
                rungs = [
                    (level, trials)
                    for level in study.levels
                    if level is not None and level.unit == unit and level.value > 0
                    if (trials := tuple(valid(study, CellKey(variant, level, operation))))
                ]
                if rungs:
                    yield variant, operation, rungs


def _rate(trial: Trial, row: Measured, counted: int | None) -> float | None:
    """counted / duration if both are known, since a table's rate is rounded. Our own rates are exact, and leave out
    what came after the load."""
    is_exact = trial.precision.tool == PLIMSOLL.tool and row.rate is not None
    if trial.duration and counted is not None and not is_exact:
        return counted / trial.duration
    completed = _completed(row)
    if row.rate is None or not completed or counted is None:
        return row.rate
    return row.rate * counted / completed


def _completed(row: Measured) -> int | None:
    """Requests that ended by themselves."""
    return None if row.requests is None else row.requests - row.overdue


def _known(values: Sequence[float | None]) -> tuple[float, ...]:
    """Empty unless all are."""
    known = tuple(value for value in values if value is not None)
    return known if len(known) == len(values) else ()

"""Searches for the capacity of simulated services, whose capacity is known: the search is the real one, its runs are
drawn from a model. As a program it prints the table of docs/statistics.md:

    python -m tests.capacity.simulation [SEARCHES]
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.capacity.search import Settings, search
from plimsoll.stats.capacity.estimate import Capacity, capacity
from plimsoll.stats.capacity.probe import CapacityProbe
from plimsoll.stats.thresholds.slo import CriterionResult, parse_slo

if TYPE_CHECKING:
    from plimsoll.stats.study import LoadUnit
    from plimsoll.stats.thresholds.grammar import Threshold

P99, P99_LOW, ERRORS = parse_slo("p99 < 250ms, p99 < 60ms, errors < 1%")
RATE = 220.0
"""Requests per second that a simulated server can answer."""
SECONDS = 10.0
MOST_PROBES = 150

Draw = Callable[[random.Random, float], float]
"""The value of the criterion in one run at a load."""


@dataclass(frozen=True)
class Service:
    name: str
    criterion: Threshold
    draw: Draw
    truth: float | None
    """The load at which half of the runs break the objective; None: there is none."""
    unit: LoadUnit = "/s"
    unlucky: float = 0.0
    """Share of the runs that break whatever the load is."""
    generator: float = math.inf
    """From this load on no run counts."""


def queue(noise: float, jitter: float = 0.0, criterion: Threshold = P99) -> tuple[Draw, float]:
    """p99 of an M/M/1 queue in ms, and the load at which it reaches the criterion's limit. Between runs, noise is the
    standard deviation of ln(p99), and jitter that of ln(service rate). An overloaded queue grows as long as the run
    takes."""

    def draw(chance: random.Random, load: float) -> float:
        spare = RATE * math.exp(chance.gauss(0, jitter)) - load
        p99 = min(1000 * math.log(100) / spare, 1000 * SECONDS) if spare > 0 else 1000 * SECONDS
        return p99 * math.exp(chance.gauss(0, noise))

    return draw, RATE - 1000 * math.log(100) / criterion.limit


def shedding(jitter: float) -> tuple[Draw, float]:
    """Percent of requests that a server refuses because they are more than it can answer."""

    def draw(chance: random.Random, load: float) -> float:
        return 100 * max(0.0, 1 - RATE * math.exp(chance.gauss(0, jitter)) / load)

    return draw, RATE / 0.99


def power(elasticity: float, noise: float, truth: float = 200.0) -> tuple[Draw, float]:
    """ln(p99) grows with ln(load) along a line."""
    return lambda chance, load: 250 * (load / truth) ** elasticity * math.exp(chance.gauss(0, noise)), truth


def cliff(noise: float) -> tuple[Draw, float]:
    """20 ms up to the capacity, and 5 s above it."""
    return lambda chance, load: (20 if load < RATE else 5000) * math.exp(chance.gauss(0, noise)), RATE


def level(p99: float, noise: float) -> Draw:
    """The same at every load."""
    return lambda chance, _: p99 * math.exp(chance.gauss(0, noise))


MM1 = tuple(
    Service(f"M/M/1 {busy} % busy, runs differ by {noise} %", criterion, *queue(noise / 100, criterion=criterion))
    for busy, criterion in ((92, P99), (65, P99_LOW))
    for noise in (2, 5, 10, 20, 40)
)
JITTER = Service("errors, capacity differs by 3 %", ERRORS, *shedding(0.03))
OTHERS = (
    Service("M/M/1 92 % busy, its rate differs by 3 %", P99, *queue(0.05, 0.03)),
    Service("M/M/1 92 % busy, one run in 30 is unlucky", P99, *queue(0.1), unlucky=1 / 30),
    Service("flat, then a cliff", P99, *cliff(0.05)),
    Service("p99 grows as the load does", P99, *power(1.0, 0.1)),
    Service("users: 23.4", P99, *power(4.0, 0.1, 23.4), "users"),
)
ENDLESS = (
    Service("nearly no slope", P99, *power(0.05, 0.1)),
    Service("never breaks", P99, level(20, 0.1), None),
    Service("always breaks", P99, level(900, 0.1), None),
    Service("breaks in every second run", P99, level(250, 0.1), None),
    Service("users: always breaks", P99, level(900, 0.1), None, "users"),
    Service("the generator is the limit below", P99, *queue(0.1), generator=150),
    Service("the generator is the limit close by", P99, *queue(0.1), generator=205),
)


class Prober:
    """Draws runs of a service. Fails when a search does not end."""

    def __init__(self, service: Service, seed: int) -> None:
        self.service = service
        self.chance = random.Random(seed)
        self.loads: list[float] = []

    def __call__(self, load: float, phase: str) -> CapacityProbe:
        self.loads.append(load)
        assert len(self.loads) <= MOST_PROBES, f"{self.service.name}: no end after {MOST_PROBES} runs"
        service, criterion = self.service, self.service.criterion
        value = service.draw(self.chance, load)
        if self.chance.random() < service.unlucky:
            value = criterion.limit * 4
        result = CriterionResult(criterion, value, criterion.holds(value), at_least=False)
        late = load * self.chance.uniform(0.97, 1.03) > service.generator
        return CapacityProbe(load, SECONDS, phase, (result,), ("the generator was busy",) if late else ())


def searched(service: Service, seed: int) -> tuple[Capacity, int]:
    """The answer of a search, and its number of runs. Where it starts, and how far it goes, differ by the seed."""
    chance = random.Random(-seed)
    start = (
        chance.uniform(1, 50) if service.unit == "users" else math.exp(chance.uniform(math.log(0.5), math.log(2000)))
    )
    settings = Settings(service.unit, start, 1e5, SECONDS, seed=seed)
    probes = search(settings, Prober(service, seed))
    return capacity(probes), len(probes)


@dataclass(frozen=True)
class Coverage:
    """Of a number of searches."""

    intervals: float
    """Share with an interval."""
    covered: float
    """Share of the answers that are right: the truth lies in the interval, or between the ends that are given."""
    half_width: float
    """Of the intervals, as a share of the truth: the median."""
    probes: float
    """Runs of a search: the mean."""


def coverage(service: Service, searches: int) -> Coverage:
    assert service.truth is not None
    found = [searched(service, seed) for seed in range(searches)]
    widths = sorted((each.high - each.low) / service.truth / 2 for each, _ in found if each.ending == "found")
    return Coverage(
        len(widths) / searches,
        sum((each.low or 0.0) <= service.truth <= (each.high or math.inf) for each, _ in found) / searches,
        widths[len(widths) // 2] if widths else math.nan,
        sum(count for _, count in found) / searches,
    )


def table(searches: int) -> None:
    print("| service | truth | interval covers | with an interval | ± | runs |")
    print("|---|---|---|---|---|---|")
    for each in (*MM1, JITTER, *OTHERS):
        of = coverage(each, searches)
        print(
            f"| {each.name} | {each.truth:.1f} | {of.covered:.1%} | {of.intervals:.0%} | {of.half_width:.1%} | "
            f"{of.probes:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    table(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)

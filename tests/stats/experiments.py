"""What whole experiments claim: how often identical versions are said to differ or fail a build, and how often a known
change is found. The tables are in docs/statistics.md:

    .venv/bin/python -m tests.stats.experiments 1000
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from unittest.mock import patch

import numpy as np

from plimsoll.report.gate import regressions
from plimsoll.say.answer import answer_of
from plimsoll.stats.analysis import analyse
from plimsoll.stats.compare import planning
from plimsoll.stats.metric import DEFAULT_METRICS, Metric
from plimsoll.stats.study import PLIMSOLL, TOTAL, Level, Measured, Study, Trial

QUANTILES = {0.5: 0.0, 0.9: 1.28, 0.95: 1.64, 0.99: 2.33}
WORDS = ("slower", "faster", "higher", "lower", "fewer", "more requests", "more failures", "requests to")
"""Of a difference, in an answer."""
REQUESTS = 20_000
"""Of each endpoint in each run."""
PRIMARY = Metric("quantile", 0.5, "Aggregated")


@dataclass(frozen=True)
class Shape:
    """Of an experiment."""

    endpoints: int = 1
    levels: int = 1
    repeats: int = 5
    noise: float = 0.05
    """Standard deviation of ln(latency) between runs."""
    heavy: bool = False
    """The noise has tails like t with three degrees of freedom."""
    failing: float = 0.0
    """Share of requests that fail."""
    primary: bool = False
    """The median of all endpoints together is declared."""

    @property
    def text(self) -> str:
        parts = [f"{self.endpoints} endpoint{'s' if self.endpoints > 1 else ''}"]
        parts += [f"{self.levels} levels"] if self.levels > 1 else []
        parts += [f"{self.repeats} repeats"] if self.repeats != 5 else []
        parts += [f"{100 * self.noise:g} % noise{', heavy tails' if self.heavy else ''}"]
        parts += [f"{100 * self.failing:g} % fail"] if self.failing else []
        parts += ["a primary metric"] if self.primary else []
        return ", ".join(parts)


@dataclass(frozen=True)
class Change:
    """What the second version does to each request."""

    text: str
    slower: float = 1.0
    tail: float = 1.0
    """Factor of the p99 alone."""
    failing: float = 0.0


NOTHING = Change("nothing")
CHANGES = (
    Change("+3 %", slower=1.03),
    Change("+10 %", slower=1.1),
    Change("+30 %", slower=1.3),
    Change("p99 +50 %", tail=1.5),
    Change("5 % errors", failing=0.05),
)
IDENTICAL = (
    Shape(),
    Shape(endpoints=3),
    Shape(endpoints=10),
    Shape(endpoints=3, levels=3),
    Shape(endpoints=10, levels=3),
    Shape(endpoints=3, primary=True),
    Shape(endpoints=3, repeats=3),
    Shape(endpoints=3, repeats=10),
    Shape(endpoints=3, noise=0.02),
    Shape(endpoints=3, noise=0.2),
    Shape(endpoints=3, heavy=True),
    Shape(endpoints=3, failing=0.02),
)


class Simulation:
    """Experiments of one shape."""

    def __init__(self, shape: Shape, seed: int) -> None:
        self._shape = shape
        self._random = np.random.default_rng(seed)

    def study(self, change: Change = NOTHING) -> Study:
        shape = self._shape
        trials = [
            self._trial(variant, repeat, level, change if variant == "new" else NOTHING)
            for level in range(shape.levels)
            for repeat in range(shape.repeats)
            for variant in ("old", "new")
        ]
        return Study(
            "simulated",
            tuple(trials),
            metrics=(*DEFAULT_METRICS, Metric("throughput")),
            primary=(PRIMARY,) if shape.primary else (),
            interleaved=True,
            gap=5.0,
            repeats=shape.repeats,
        )

    def _noise(self, part: float) -> float:
        """A part of the noise between runs; a run shares 0.8 of it, its endpoints have the rest."""
        drawn = self._random.standard_t(3) / math.sqrt(3) if self._shape.heavy else self._random.normal()
        return self._shape.noise * part * float(drawn)

    def _trial(self, variant: str, repeat: int, level: int, change: Change) -> Trial:
        shape, shared = self._shape, self._noise(0.8)
        rows = tuple(self._row(("GET", f"/{place}"), shared, change) for place in range(shape.endpoints))
        total = replace(rows[0], method=TOTAL[0], name=TOTAL[1])
        if shape.endpoints > 1:
            parts = {q: math.exp(sum(math.log(row.quantiles[q]) for row in rows) / shape.endpoints) for q in QUANTILES}
            total = replace(
                total,
                quantiles=parts,
                mean=sum(row.mean or 0.0 for row in rows) / shape.endpoints,
                max=max(row.max or 0.0 for row in rows),
                requests=REQUESTS * shape.endpoints,
                failures=sum(row.failures or 0 for row in rows),
                rate=sum(row.rate or 0.0 for row in rows),
                size=sum(row.size or 0.0 for row in rows) / shape.endpoints,
            )
        return Trial(
            id=f"{variant}-{level}-{repeat}",
            variant=variant,
            repeat=repeat,
            level=Level("users", 10 * (level + 1)),
            duration=60.0,
            total=total,
            endpoints=rows,
            precision=PLIMSOLL,
        )

    def _row(self, key: tuple[str, str], shared: float, change: Change) -> Measured:
        own, tail = shared + self._noise(0.6), self._noise(0.8)
        times = {
            q: 20 * change.slower * math.exp(own + 0.5 * z + tail * z / 2.33) * (change.tail if q == 0.99 else 1.0)
            for q, z in QUANTILES.items()
        }
        share = self._shape.failing * math.exp(4 * self._noise(1.0)) + change.failing
        return Measured(
            *key,
            quantiles=times,
            mean=22 * change.slower * math.exp(own),
            max=150 * math.exp(own + 0.2 * float(self._random.normal())),
            requests=REQUESTS,
            failures=int(self._random.binomial(REQUESTS, min(1.0, share))),
            rate=500 / change.slower * math.exp(-own),
            size=float(np.mean(100 * 10 ** (2.7 * self._random.random(400)))),
        )


@dataclass(frozen=True)
class Outcome:
    """Of some experiments: how many said and did what."""

    count: int
    claims: int
    """Whose answer says any difference."""
    gates: int
    """That fail a build."""


def outcome(shape: Shape, change: Change, count: int, seed: int = 1) -> Outcome:
    simulation = Simulation(shape, seed)
    claims = gates = 0
    for _ in range(count):
        # How many more runs are needed decides nothing here, and takes nine tenths of the time.
        with patch.multiple(planning, pairs_needed=lambda *_: 0, pairs_for_power=lambda *_, **__: None):
            analysis = analyse(simulation.study(change))
        differs = any(each.better is not None for each in analysis.comparisons)
        answer = " ".join(answer_of(analysis))
        said = any(
            word in answer
            for word in (
                "slower",
                "faster",
                "higher",
                "lower",
                "fewer",
                "more requests",
                "more failures",
                "requests to",
            )
        )
        assert differs <= said, answer
        claims += differs or said
        gates += bool(regressions(analysis))
    return Outcome(count, claims, gates)


def main(count: int) -> None:
    print("| experiment of identical versions | says a difference | fails a build |\n|---|---|---|")
    for shape in IDENTICAL:
        found = outcome(shape, NOTHING, count)
        print(f"| {shape.text} | {100 * found.claims / count:.1f} % | {100 * found.gates / count:.1f} % |", flush=True)
    print("\n| noise, repeats |", " | ".join(change.text for change in CHANGES), "|")
    print("|---|" + "---|" * len(CHANGES))
    for noise in (0.02, 0.05, 0.1):
        for repeats in (3, 5, 10):
            shape = Shape(endpoints=3, noise=noise, repeats=repeats)
            found = [outcome(shape, change, max(20, count // 10)) for change in CHANGES]
            cells = (f"{100 * each.claims / each.count:.0f}, {100 * each.gates / each.count:.0f}" for each in found)
            print(f"| {100 * noise:g} %, {repeats} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)

"""The results of one run of the benches, and their file format."""

import json
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path

from .cost import Case, Cost
from .memory import IdleCost
from .open_model import OpenCase, OpenCost
from .rounds import median
from .scale import ScaleCase, ScaleCost

Key = tuple[str, str, int]
"""Subject, path and users."""

FOLDER = Path(__file__).resolve().parent / "results"
SCHEMA = "plimsoll.bench/2"


@dataclass
class Results:
    """All figures of one run."""

    machine: dict[str, object]
    started: str
    """Local time, ISO 8601."""
    command: str
    window: float
    """Measured seconds of each measurement."""
    versions: dict[str, str] = field(default_factory=dict)
    costs: dict[Key, list[Cost]] = field(default_factory=dict)
    """One per round."""
    idle: dict[str, IdleCost] = field(default_factory=dict)
    scale: dict[tuple[str, int], ScaleCost] = field(default_factory=dict)
    """Per subject and users."""
    open: dict[tuple[str, int], list[OpenCost]] = field(default_factory=dict)
    """Per subject and arrivals per second: one per round."""
    instructions: float | None = None
    missing: list[str] = field(default_factory=list)
    """What was not measured, with the reason."""

    def add(self, case: Case, cost: Cost) -> None:
        self.costs.setdefault((case.subject.name, case.path, case.users), []).append(cost)

    def add_open(self, case: OpenCase, cost: OpenCost) -> None:
        self.open.setdefault((case.subject.name, case.subject.rate), []).append(cost)

    def add_scale(self, case: ScaleCase, cost: ScaleCost) -> None:
        self.scale[case.subject.name, case.users] = cost

    def cost(self, name: str, path: str, users: int) -> Cost | None:
        """The median over the rounds; None if it was not measured."""
        rounds = self.costs.get((name, path, users))
        return median(rounds) if rounds else None

    def cpu_us(self, name: str, path: str, users: int) -> float | None:
        cost = self.cost(name, path, users)
        return cost.cpu_us if cost else None

    def ratio(self, one: Key, other: Key) -> float | None:
        """How many times as much CPU one takes per request: the median of the ratios of each round, in which both were
        measured within minutes. None if one was not measured; the ratio of the medians if it failed in some round."""
        costs = [[each.cpu_us for each in self.costs.get(key, ())] for key in (one, other)]
        if not all(costs):
            return None
        if len(costs[0]) != len(costs[1]):
            costs = [[statistics.median(each)] for each in costs]
        return statistics.median(mine / theirs for mine, theirs in zip(*costs, strict=True))

    def open_cost(self, name: str, rate: int) -> OpenCost | None:
        """The median over the rounds; None if it was not measured."""
        rounds = self.open.get((name, rate))
        return median(rounds) if rounds else None

    def others_cpus(self) -> float:
        """CPUs of unrelated work in the median measurement; 0 without measurements."""
        measured: list[Cost | OpenCost | ScaleCost] = [*chain(*self.costs.values()), *chain(*self.open.values())]
        measured += self.scale.values()
        return statistics.median([each.others_cpus for each in measured] or [0.0])

    def write(self, path: Path, bars: Iterable[object]) -> None:
        """Save everything, including the rounds, as JSON. Raises OSError."""
        document = {
            "schema": SCHEMA,
            "started": self.started,
            "command": self.command,
            "machine": self.machine,
            "versions": self.versions,
            "window_seconds": self.window,
            "costs": [
                {"subject": name, "path": route, "users": users, "rounds": [asdict(cost) for cost in rounds]}
                for (name, route, users), rounds in self.costs.items()
            ],
            "idle": {name: asdict(cost) for name, cost in self.idle.items()},
            "scale": [{"subject": name, "users": users, **asdict(cost)} for (name, users), cost in self.scale.items()],
            "open": [
                {"subject": name, "rate": rate, "rounds": [asdict(cost) for cost in rounds]}
                for (name, rate), rounds in self.open.items()
            ],
            "instructions_per_exchange": self.instructions,
            "bars": list(bars),
            "missing": self.missing,
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document, indent=1) + "\n")

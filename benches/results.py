"""The results of one run of the benches, and their file format."""

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path

from .cost import Case, Cost
from .memory import IdleCost
from .open_model import OpenCase, OpenCost
from .rounds import Ratio, median
from .scale import ScaleCase, ScaleCost
from .turns import WINDOW_SECONDS

Key = tuple[str, str, int]
"""Subject, path and users."""

FOLDER = Path(__file__).resolve().parent / "results"
SCHEMA = "plimsoll.bench/3"


@dataclass
class Results:
    """All figures of one run."""

    machine: dict[str, object]
    started: str
    """Local time, ISO 8601."""
    command: str
    window: float
    """Measured seconds of a run at a rate, and of one with many users; in turns, WINDOW_SECONDS are."""
    versions: dict[str, str] = field(default_factory=dict)
    groups: list[dict[Key, list[Cost]]] = field(default_factory=list)
    """Costs that were measured in turns with each other: one per round."""
    idle: dict[str, IdleCost] = field(default_factory=dict)
    scale: dict[tuple[str, int], ScaleCost] = field(default_factory=dict)
    """Per subject and users."""
    open: dict[tuple[str, int], list[OpenCost]] = field(default_factory=dict)
    """Per subject and arrivals per second: one per round."""
    instructions: float | None = None
    missing: list[str] = field(default_factory=list)
    """What was not measured, with the reason."""

    def add_group(self, costs: Mapping[Case, Sequence[Cost]]) -> None:
        """All with as many rounds."""
        keys = ((case.subject.name, case.path, case.users) for case in costs)
        self.groups.append({key: list(rounds) for key, rounds in zip(keys, costs.values(), strict=True)})

    def add_open(self, case: OpenCase, cost: OpenCost) -> None:
        self.open.setdefault((case.subject.name, case.subject.rate), []).append(cost)

    def add_scale(self, case: ScaleCase, cost: ScaleCost) -> None:
        self.scale[case.subject.name, case.users] = cost

    def cost(self, name: str, path: str, users: int) -> Cost | None:
        """The median over the rounds; None if it was not measured."""
        rounds = self.by_round((name, path, users))
        return median([cost for (cost,) in rounds]) if rounds else None

    def cpu_us(self, name: str, path: str, users: int) -> float | None:
        cost = self.cost(name, path, users)
        return cost.cpu_us if cost else None

    def by_round(self, *keys: Key) -> list[tuple[Cost, ...]]:
        """What these cost in each round. Empty unless all of them were measured in turns with each other."""
        for costs in self.groups:
            if all(key in costs for key in keys):
                return list(zip(*(costs[key] for key in keys), strict=True))
        return []

    def ratio(self, one: Key, other: Key) -> Ratio | None:
        """How many times as much CPU one takes per request, by round. None if they were not measured in turns."""
        rounds = self.by_round(one, other)
        return Ratio.of((mine.cpu_us, theirs.cpu_us) for mine, theirs in rounds) if rounds else None

    def open_cost(self, name: str, rate: int) -> OpenCost | None:
        """The median over the rounds; None if it was not measured."""
        rounds = self.open.get((name, rate))
        return median(rounds) if rounds else None

    def others_cpus(self) -> float:
        """CPUs of unrelated work in the median measurement; 0 without measurements."""
        measured: list[Cost | OpenCost | ScaleCost] = [*chain(*self.open.values()), *self.scale.values()]
        measured += [cost for costs in self.groups for rounds in costs.values() for cost in rounds]
        return statistics.median([each.others_cpus for each in measured] or [0.0])

    def write(self, path: Path, bars: Iterable[object]) -> None:
        """Save everything, including the rounds, as JSON. Raises OSError."""
        document = {
            "schema": SCHEMA,
            "started": self.started,
            "command": self.command,
            "machine": self.machine,
            "versions": self.versions,
            "window_seconds": {"turns": WINDOW_SECONDS, "runs": self.window},
            "groups": [
                [
                    {"subject": name, "path": route, "users": users, "rounds": [asdict(cost) for cost in rounds]}
                    for (name, route, users), rounds in costs.items()
                ]
                for costs in self.groups
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

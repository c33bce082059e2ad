"""What one run of the benches found, and its form on disk."""

import json
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .cost import Case, Cost, median
from .memory import IdleCost

SCHEMA = "plimsoll.bench/1"


@dataclass
class Results:
    """All figures of one run."""

    machine: dict[str, object]
    started: str
    """Local time, ISO 8601."""
    command: str
    window: float
    """Seconds weighed in each measurement."""
    versions: dict[str, str] = field(default_factory=dict)
    costs: dict[tuple[str, str, int], list[Cost]] = field(default_factory=dict)
    """Per subject, path and users: one for each round."""
    idle: dict[str, IdleCost] = field(default_factory=dict)
    instructions: float | None = None
    missing: list[str] = field(default_factory=list)
    """What was not measured, and why."""

    def add(self, case: Case, cost: Cost) -> None:
        self.costs.setdefault((case.subject.name, case.path, case.users), []).append(cost)

    def cost(self, name: str, path: str, users: int) -> Cost | None:
        """The median over the rounds; None when it was not measured."""
        rounds = self.costs.get((name, path, users))
        return median(rounds) if rounds else None

    def cpu_us(self, name: str, path: str, users: int) -> float | None:
        cost = self.cost(name, path, users)
        return cost.cpu_us if cost else None

    def others_cpus(self) -> float:
        """CPUs that others took, in the median measurement; 0 without any."""
        return statistics.median([cost.others_cpus for rounds in self.costs.values() for cost in rounds] or [0.0])

    def write(self, path: Path, bars: Iterable[object]) -> None:
        """Save everything, rounds and all, as JSON. Raises OSError."""
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
            "instructions_per_exchange": self.instructions,
            "bars": list(bars),
            "missing": self.missing,
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document, indent=1) + "\n")

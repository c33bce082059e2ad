"""Which cell of an experiment something is about: one value from the plan to the sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LoadUnit = Literal["users", "/s"]


@dataclass(frozen=True, slots=True, order=True)
class Level:
    """A rung of the load ladder: users of the closed model, or arrivals per second of the open one."""

    unit: LoadUnit
    value: float

    @property
    def users(self) -> float | None:
        """Of the closed model."""
        return self.value if self.unit == "users" else None

    @property
    def rate(self) -> float | None:
        """Arrivals per second of the open model."""
        return self.value if self.unit == "/s" else None

    def __str__(self) -> str:
        return f"{self.value:g} user{'s' * (self.value != 1)}" if self.unit == "users" else f"{self.value:g}/s"


@dataclass(frozen=True, slots=True)
class CellKey:
    """A variant at a level with an operation, in one repeat."""

    variant: str
    level: Level | None = None
    """None: the plan of the operation has the load."""
    operation: str = ""
    """"" if the experiment has only one."""
    repeat: int = 0
    """From 1; 0 for a run that belongs to no experiment."""

    @property
    def cell(self) -> CellKey:
        """The same for all repeats."""
        return CellKey(self.variant, self.level, self.operation)

    def is_of_cell(self, other: CellKey) -> bool:
        """Whether the two are the same for all repeats."""
        return (self.variant, self.level, self.operation) == (other.variant, other.level, other.operation)

    @property
    def label(self) -> str:
        """The name of the cell for people: "index, 50 users, upload, repeat 2"."""
        parts = (self.variant, str(self.level or ""), self.operation, f"repeat {self.repeat}")
        return ", ".join(filter(None, parts))

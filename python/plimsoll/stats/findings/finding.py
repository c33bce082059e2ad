"""A statement of the analysis, with its evidence."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from plimsoll.record.cells import CellKey
    from plimsoll.stats.metric import MetricKind
    from plimsoll.stats.study import Level, Study

Evidence = float | str | tuple[float, ...]
FindingWeight = Literal["blocks", "warning", "insight"]
"""blocks: verdicts about its subject are refused. warning: a reason to doubt. insight: a statement about the target."""


@dataclass(frozen=True, slots=True)
class Where:
    """Its subject; None means all of them."""

    variant: str | None = None
    """A comparison matches if this is either of its two."""
    level: Level | None = None
    operation: str | None = None
    endpoint: tuple[str, str] | None = None
    """("", "Aggregated"): all endpoints taken together, which is not the same as each of them."""
    trial: str | None = None
    """Its id, if the finding concerns one run."""
    against: str | None = None
    """The other variant, if the finding concerns both together and neither alone."""
    kinds: tuple[MetricKind, ...] = ()
    """Of metrics; empty: all."""

    @classmethod
    def of(cls, cell: CellKey, endpoint: tuple[str, str] | None = None, trial: str | None = None, **more: Any) -> Self:
        """A cell, and the rest as the fields have it."""
        return cls(cell.variant, cell.level, cell.operation, endpoint, trial, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A statement about a study, as values. Each kind is a class of its own; `plimsoll.say.findings` has the words."""

    id: ClassVar[str]
    """As in the list of rules: "SAT", "SERIAL", "PAYLOAD", …"""
    where: Where
    weight: FindingWeight

    @property
    def evidence(self) -> dict[str, Evidence]:
        """Its numbers by name, units in the name: {"knee": 282, "capacity_per_s": 44.6}: the fields that are numbers,
        tuples of them, or texts."""
        values = {field_.name: getattr(self, field_.name) for field_ in fields(self) if field_.name != "weight"}
        return {name: value for name, value in values.items() if _is_evidence(value)}


@dataclass(frozen=True, slots=True)
class FindingRule:
    """A rule of another package. Its module registers the sentences of its findings with `plimsoll.say.findings.said`,
    so an entry point adds both."""

    find: Callable[[Study], Iterable[Finding]]
    sees_streams: bool = False
    """Whether the trials that it gets have the rows of streams, too."""


def _is_evidence(value: object) -> bool:
    if isinstance(value, tuple):
        return all(isinstance(part, float | int) for part in value)
    return isinstance(value, float | int | str) and not isinstance(value, bool)

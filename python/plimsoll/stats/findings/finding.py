"""A statement of the analysis, with its evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.stats.metric import MetricKind
    from plimsoll.stats.study import Level

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


@dataclass(frozen=True, slots=True)
class Finding:
    id: str
    """As in the list of rules: "SAT", "SERIAL", "PAYLOAD", …"""
    weight: FindingWeight
    statement: str
    """One sentence with its numbers, for people. Hypotheses are marked as such."""
    where: Where
    rule: str
    """The rule, with its threshold and the reason for it."""
    evidence: Mapping[str, float | str | tuple[float, ...]] = field(default_factory=dict)
    """Numbers by name, units in the name: {"knee_users": 282, "capacity_per_s": 44.6}."""
    advice: str = ""
    """How to fix or examine it."""

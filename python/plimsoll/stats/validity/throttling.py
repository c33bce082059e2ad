"""A CPU limit that held the generator back: that of its control group, as a container has one.

A group with a limit gets its CPU time in periods, usually of 0.1 s. Once it has used up the time of a period, all of
its processes stand still until the next one. Workers then wait for a CPU on a computer that may be idle.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.stats.wording import count, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.stats.view import RunView

FACT = "cpu_periods"
"""The name of this among the facts of a run."""
MATERIAL = 0.01
"""Share of the periods: with less, what waited for the next period is beyond the p99."""


@dataclass(frozen=True, slots=True)
class CpuPeriods:
    """How often a group's CPU time was shared out, usually every 0.1 s, and how often it ran out before the next."""

    periods: int = 0
    throttled: int = 0

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> CpuPeriods:
        """Of a run; none where its facts have no limit."""
        found = facts.get(FACT)
        known = found if isinstance(found, dict) else {}
        periods, throttled = (known.get(name) for name in ("periods", "throttled"))
        return cls(periods, throttled) if isinstance(periods, int) and isinstance(throttled, int) else cls()

    @property
    def is_material(self) -> bool:
        return self.throttled > MATERIAL * self.periods

    def to_facts(self) -> dict[str, Any]:
        return {FACT: asdict(self)}

    def __str__(self) -> str:
        return f"{number(self.throttled)} of {count(self.periods, 'period')}"


def cause(view: RunView, facts: Mapping[str, Any]) -> str | None:
    """Why requests left late, if it was the limit, and what to do about it; None if it was not."""
    found = CpuPeriods.of(facts)
    if not found.is_material:
        return None
    fewer = ", or use fewer processes" if view.generator.workers > 1 else ""
    return f"the CPU limit of its control group (container) stopped the generator in {found}: raise the limit{fewer}"

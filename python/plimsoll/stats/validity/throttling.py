"""A CPU limit that held the generator back: that of its control group, as a container has one.

A group with a limit gets its CPU time in periods, usually of 0.1 s. Once it has used up the time of a period, all of
its processes stand still until the next one. Workers then wait for a CPU on a computer that may be idle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.stats.wording import count, number

if TYPE_CHECKING:
    from plimsoll.record.facts import CpuPeriods, RunFacts
    from plimsoll.stats.view import RunView


def in_words(periods: CpuPeriods) -> str:
    """How many periods were too short."""
    return f"{number(periods.throttled)} of {count(periods.periods, 'period')}"


def cause(view: RunView, facts: RunFacts) -> str | None:
    """Why requests left late, if it was the limit, and what to do about it; None if it was not."""
    periods = facts.cpu_periods
    if periods is None or not periods.is_material:
        return None
    fewer = ", or use fewer processes" if view.generator.workers > 1 else ""
    stopped = f"stopped the generator in {in_words(periods)}"
    return f"the CPU limit of its control group (container) {stopped}: raise the limit{fewer}"


def throttling_notes(periods: CpuPeriods) -> list[str]:
    """For people, where it mattered."""
    if not periods.is_material:
        return []
    return [
        f"the generator was throttled in {in_words(periods)}: its control group (container) had used up its CPU time, "
        "which makes requests late; raise its CPU limit"
    ]

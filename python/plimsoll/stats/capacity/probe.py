"""The runs of a search for capacity, and what they are to tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from plimsoll.stats.study import LoadUnit
    from plimsoll.stats.thresholds.grammar import Threshold
    from plimsoll.stats.thresholds.slo import CriterionResult

ProbePhase = Literal["double", "halve", "confirm"]


@dataclass(frozen=True, slots=True)
class CapacityProbe:
    """One run of the search."""

    load: float
    """Users, or arrivals per second."""
    seconds: float
    """Measured, without the warm-up."""
    phase: ProbePhase
    results: tuple[CriterionResult, ...]
    invalid: tuple[str, ...] = ()
    """Why the run does not count: its load was not the load that was asked for, or the generator may have broken it."""
    run: str = ""
    backlog: float | None = None
    """Requests per second by which those in flight or waiting grew; 0 if they did not; None: not known."""
    unreachable: str = ""
    """Why no request reached the target; "" if one did."""

    @property
    def share(self) -> float:
        """ms of its times that the generator may have added, at most."""
        return max((each.share for each in self.results), default=0.0)

    @property
    def is_clean(self) -> bool:
        """Whether the generator's share is too little to matter in everything that the objective is about."""
        return all(each.is_clean for each in self.results)

    @property
    def passed(self) -> bool:
        return not self.invalid and all(each.held for each in self.results)


@dataclass(frozen=True, slots=True)
class CapacitySearch:
    """A search with the runs that it has made so far."""

    slo: tuple[Threshold, ...]
    unit: LoadUnit
    seconds: float
    """Measured in each run."""
    probes: tuple[CapacityProbe, ...]
    """In the order in which they were made."""
    is_finished: bool = True

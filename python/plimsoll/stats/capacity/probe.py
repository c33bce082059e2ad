"""The runs of a search for capacity, and its question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from plimsoll.record.cells import LoadUnit
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
    """Why the run is invalid: its load differed from the requested one, or the generator may have distorted it."""
    run: str = ""
    backlog: float | None = None
    """Growth of the requests in flight or waiting, per second; 0 for none; None: unknown."""
    unreachable: str = ""
    """Why no request reached the target; "" if one did."""

    @property
    def share(self) -> float:
        """Maximum ms of its times that the generator may have added."""
        return max((each.share for each in self.results), default=0.0)

    @property
    def is_clean(self) -> bool:
        """Whether the generator's share is insignificant for every criterion of the objective."""
        return all(each.is_clean for each in self.results)

    @property
    def passed(self) -> bool:
        return not self.invalid and all(each.held for each in self.results)


@dataclass(frozen=True, slots=True)
class CapacitySearch:
    """A search with its runs so far."""

    slo: tuple[Threshold, ...]
    unit: LoadUnit
    seconds: float
    """Measured in each run."""
    probes: tuple[CapacityProbe, ...]
    """In the order of measurement."""
    is_finished: bool = True

"""All that follows from a study: what every report of an experiment shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.stats.comparison import Comparison
    from plimsoll.stats.findings.finding import Finding
    from plimsoll.stats.study import Study


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """Follows from the study and from nothing else, so it is the same whenever it is asked for."""

    study: Study
    findings: tuple[Finding, ...]
    """Those that block first, then warnings, then insights; within these in the order of the rules."""
    comparisons: tuple[Comparison, ...]
    """By operation, level, pair of variants, endpoint, metric: the order of every table."""

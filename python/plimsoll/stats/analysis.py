"""The analysis of a study: the content of every report of an experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.compare.noise import AlarmRate
    from plimsoll.stats.findings.finding import Finding
    from plimsoll.stats.study import Study


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """Depends only on the study, so it is always the same for it."""

    study: Study
    findings: tuple[Finding, ...]
    """Blocking ones first, then warnings, then insights; within these in the order of the rules."""
    comparisons: tuple[Comparison, ...]
    """By operation, level, pair of variants, endpoint, metric: the order of every table."""
    alarms: AlarmRate | None = None
    """Of an A/A study: how often its comparisons called identical systems different."""

    @property
    def judged(self) -> tuple[Comparison, ...]:
        """The primary comparisons; all of them when no metric was declared to be one."""
        return tuple(comparison for comparison in self.comparisons if comparison.primary or not self.study.primary)


def analyse(study: Study) -> Analysis:
    """Findings first: blocking ones decide which comparisons get a verdict."""
    if study.search is not None:
        # Its loads differ by design, mostly by little, and nothing is compared.
        return Analysis(study, (), ())
    # Imported here: `plimsoll run` does not need them, and they take a tenth of its start.
    from plimsoll.stats.compare.noise import alarm_rate, noise_of
    from plimsoll.stats.compare.verdicts import compare
    from plimsoll.stats.findings import BLOCKING, find

    findings = find(study)
    comparisons = compare(study, findings, BLOCKING)
    return Analysis(study, findings, comparisons, alarm_rate(noise_of([study])) if comparisons else None)

"""The analysis of a study: the content of every report of an experiment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.stats.compare.comparison import Comparison
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

    @property
    def judged(self) -> tuple[Comparison, ...]:
        """The primary comparisons; all of them when no metric was declared to be one."""
        return tuple(comparison for comparison in self.comparisons if comparison.primary or not self.study.primary)


def analyse(study: Study) -> Analysis:
    """Findings first: blocking ones decide which comparisons get a verdict. The study of the result may have more
    warnings; otherwise it is the given one."""
    if study.search is not None:
        # Its loads differ by design, mostly by little, and nothing is compared.
        return Analysis(study, (), ())
    # Imported here: `plimsoll run` does not need them, and they take a tenth of its start.
    from plimsoll.stats.compare.verdicts import compare
    from plimsoll.stats.findings import BLOCKING, find

    findings = find(study)
    comparisons = compare(study, findings, BLOCKING)
    warnings = _of_bench(study, comparisons)
    if warnings:
        study = replace(study, warnings=(*study.warnings, *warnings))
    return Analysis(study, findings, comparisons)


def _of_bench(study: Study, comparisons: tuple[Comparison, ...]) -> tuple[str, ...]:
    """Of an A/A study: a warning if identical systems were called different too often."""
    from plimsoll.stats.compare.noise import alarm_rate, noise_of

    rate = alarm_rate(noise_of([study])) if comparisons else None
    if rate is None or rate.is_kept:
        return ()
    return (
        f"The bench calls identical systems different: {rate.rejected} of {rate.compared} A/A comparisons, at least "
        f"{100 * rate.low:.2g} % where 5 % are allowed. Its verdicts are not to be trusted before that is understood.",
    )

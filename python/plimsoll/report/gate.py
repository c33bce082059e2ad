"""What a report means for its exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.stats.latency.milliseconds import CLEAN_THROUGHPUT, is_clean

if TYPE_CHECKING:
    from plimsoll.report.sources import StudySource
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.metric import Metric
    from plimsoll.stats.study import Study

REGRESSION = 1
INVALID = 3


def is_primary(study: Study, comparison: Comparison) -> bool:
    """Whether it was declared beforehand to be what the question is about, whatever came of it."""
    return comparison.primary or any(_is_of(metric, comparison) for metric in study.primary)


def judged(analysis: Analysis) -> tuple[Comparison, ...]:
    """The primary comparisons; all of them when no metric was declared to be one."""
    if not analysis.study.primary and not any(each.primary for each in analysis.comparisons):
        return analysis.comparisons
    return tuple(each for each in analysis.comparisons if is_primary(analysis.study, each))


def regressions(analysis: Analysis) -> tuple[Comparison, ...]:
    """Judged comparisons that are different for the worse."""
    return tuple(each for each in judged(analysis) if each.better is False)


def is_invalid(analysis: Analysis) -> bool:
    """Whether what was asked about is unknown: a primary comparison is invalid; or, where none was declared, every
    comparison is; or, where nothing is compared, every run."""
    study, comparisons = analysis.study, judged(analysis)
    if not comparisons:
        return bool(study.trials) and all(trial.invalid for trial in study.trials)
    invalid = [each.word == "invalid" for each in comparisons]
    return any(invalid) if len(comparisons) < len(analysis.comparisons) or study.primary else all(invalid)


def is_unclean(analysis: Analysis) -> bool:
    """Whether the generator has too large a share in a figure that something is asked about."""
    metrics = (*analysis.study.metrics, *analysis.study.primary)
    return any(
        not is_clean(metric.of(run) or 0.0, metric.share_of(run)) or run.throughput_share > CLEAN_THROUGHPUT
        for trial in analysis.study.trials
        for run in (*trial.endpoints, *([trial.total] if trial.total is not None else []))
        for metric in metrics
    )


def exit_code(source: StudySource, fail_on: str | None) -> int:
    """fail_on: "regression" or None. A regression that is certain outweighs that something else is invalid."""
    if source.run is not None:
        return INVALID if source.run.is_invalid else 0
    analysis = source.analysis
    if fail_on == "regression" and regressions(analysis):
        return REGRESSION
    return INVALID if is_invalid(analysis) else 0


def _is_of(metric: Metric, comparison: Comparison) -> bool:
    return metric.is_same(comparison.metric) and metric.is_about(comparison.endpoint)

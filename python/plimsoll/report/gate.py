"""What a report means for its exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.stats.latency.milliseconds import CLEAN_THROUGHPUT, is_clean

if TYPE_CHECKING:
    from plimsoll.report.sources import StudySource
    from plimsoll.say.gates import GateWord
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.compare.comparison import Comparison

CERTAIN = 0.01
"""The adjusted p up to which something worse fails a build. Half of it is for the better: two identical systems fail at
most 1 in 200 builds."""
MUCH = 1.0
"""A change by this, relative: twice as much."""
REGRESSION = 1
INVALID = 3


def reported(analysis: Analysis) -> tuple[Comparison, ...]:
    """The judged comparisons, and all others with a certain difference."""
    of_question = analysis.judged
    asked = set(map(id, of_question))
    return (*of_question, *(each for each in analysis.comparisons if each.better is not None and id(each) not in asked))


def is_regression(comparison: Comparison) -> bool:
    """Whether it fails a build: it is worse, the adjusted p is at most 0.01, and the whole interval is beyond the
    smallest difference that matters."""
    is_certain = comparison.q is not None and comparison.q <= CERTAIN
    return comparison.better is False and comparison.at_least and is_certain


def regressions(analysis: Analysis) -> tuple[Comparison, ...]:
    """Of all comparisons, whether they are primary or not."""
    return tuple(filter(is_regression, analysis.comparisons))


def is_unexplained(comparison: Comparison) -> bool:
    """Whether it deserves a look though it fails no build: worse by more than what matters and beyond its own interval,
    but not certain as one of all comparisons; with one run each, of which nothing is certain, twice as bad."""
    if not comparison.ratio or comparison.word not in ("not distinguishable", "one run"):
        return False
    more_is_better = comparison.metric.more_is_better
    worse = 1 / comparison.ratio if more_is_better else comparison.ratio
    if comparison.word == "one run":
        return worse >= 1 + MUCH
    end = comparison.high if more_is_better else comparison.low
    return worse > 1 + comparison.metric.delta and end is not None and (end < 1 if more_is_better else end > 1)


def unexplained(analysis: Analysis) -> tuple[Comparison, ...]:
    """Of the judged ones. The only endpoint of an operation is not repeated: it is all of them together."""
    # Only here: a run that begins compares nothing, and this takes numpy along.
    from plimsoll.say.answer.versions import twins_of

    twins = twins_of(analysis)
    judged = (comparison for comparison in analysis.judged if (comparison.operation, comparison.endpoint) not in twins)
    return tuple(filter(is_unexplained, judged))


def gate_word(source: StudySource) -> GateWord:
    """How a gate would end by what is known: of its thresholds, and of what is certainly worse."""
    outcomes = {result.outcome for result in source.thresholds}
    if "broken" in outcomes or regressions(source.analysis):
        return "Failed"
    if exit_code(source, None) == INVALID:
        return "Invalid"
    return "Open" if "not shown" in outcomes else "Passed"


def is_invalid(analysis: Analysis) -> bool:
    """Whether what was asked about is unknown: a primary comparison is invalid; or, where none was declared, every
    comparison is; or, where nothing is compared, every run."""
    study, comparisons = analysis.study, analysis.judged
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

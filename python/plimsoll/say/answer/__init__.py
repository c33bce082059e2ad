"""The answer to a study's question: one to four plain sentences, from its comparisons and findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.answer import capacity, limits, target_side, versions
from plimsoll.say.answer.shape import shape_of
from plimsoll.say.numbers import counted

if TYPE_CHECKING:
    from plimsoll.stats.analysis import Analysis

MOST = 4
"""Sentences of an answer."""


def answer_of(analysis: Analysis) -> tuple[str, ...]:
    """One to four sentences. Names of variants stand between backticks."""
    study = analysis.study
    if study.search is not None:
        return capacity.sentences(study, study.search)
    if not study.trials:
        return ("No run has ended yet.",)
    compared = versions.sentences(analysis)
    topics = {topic.endpoint for topic in versions.topics_of(analysis)} if study.primary else set()
    if shape_of(study) == "rates" or study.slo:
        carried = list(limits.carried(analysis))
        found = [*carried, *limits.broken(analysis, carried), *compared]
    elif len(study.levels) > 1 and len(study.variants) == 1:
        found = [*limits.of_target(analysis, MOST, topics), *compared]
    else:
        carried = list(limits.of_target(analysis, MOST, topics))
        # What is known stands before what is not.
        first, then = (compared, carried) if versions.has_result(analysis) else (carried, compared)
        found = [*first[: MOST - bool(then)], *then]
    if not found:
        found = [*limits.single(analysis)]
    # One run of each cannot tell which is faster: it was made to look into the target.
    looked_into = [*target_side.sentences(study)]
    others = [*versions.others(analysis)]
    if len(study.trials) == len(study.variants):
        found = [*looked_into, *found]
    else:
        found = [*found[: max(1, MOST - len(looked_into) - len(others))], *looked_into]
    found = [*found[: MOST - len(others)], *others]
    return tuple(found) or (f"{counted(len(study.trials), 'run')}; nothing in them can be compared.",)

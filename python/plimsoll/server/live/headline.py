"""The three statements at the top of the page, also of a run in progress."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.redact import redact
from plimsoll.say.headline import RunHeadline, headline
from plimsoll.stats.headline import diagnose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record.facts import RunFacts
    from plimsoll.report.assessment import Assessment
    from plimsoll.run.plan import RunPlan
    from plimsoll.say.headline import RunJudgement
    from plimsoll.stats.latency.milliseconds import Latency
    from plimsoll.stats.thresholds.verdict import ThresholdResult
    from plimsoll.stats.view import RunView


def headline_of(
    view: RunView,
    plan: RunPlan,
    facts: RunFacts,
    *,
    current: Latency | None = None,
    thresholds: Sequence[ThresholdResult] = (),
    assessment: Assessment | None = None,
) -> RunHeadline:
    """facts: about the run so far. current: response times of the last seconds. thresholds: their results so far.
    assessment: of a run that is over, which includes these; None while it is in progress."""
    manifest = replace(plan.described(users=None, shaped=False), host=host_of(plan))
    if assessment is None:
        diagnosis = diagnose(view, manifest, facts, thresholds=thresholds, current=current)
    else:
        diagnosis = diagnose(view, manifest, facts, thresholds=assessment.thresholds, validity=assessment.validity)
    found = headline(diagnosis)
    return RunHeadline(_redacted(found.target), _redacted(found.generator), _redacted(found.bottleneck))


def host_of(plan: RunPlan) -> str:
    """The target, for people: several hosts in one text, without secrets."""
    return redact(plan.host_text)


def _redacted(judged: RunJudgement) -> RunJudgement:
    more = tuple(redact(line) for line in judged.more)
    return replace(judged, title=redact(judged.title), text=redact(judged.text), more=more)

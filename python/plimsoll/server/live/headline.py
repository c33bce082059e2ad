"""The three answers at the top of the page, of a run that may still go on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll.stats.headline import RunHeadline, headline
from plimsoll.store.redact import redact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.report.assessment import Assessment
    from plimsoll.run.plan import RunPlan
    from plimsoll.stats.headline import RunJudgement
    from plimsoll.stats.latency.milliseconds import Latency
    from plimsoll.stats.thresholds.watch import ThresholdResult
    from plimsoll.stats.view import RunView


def headline_of(
    view: RunView,
    plan: RunPlan,
    facts: Mapping[str, Any],
    *,
    current: Latency | None = None,
    thresholds: Sequence[ThresholdResult] = (),
    assessment: Assessment | None = None,
) -> RunHeadline:
    """facts: what is known of the run so far. current: response times of the last seconds. thresholds: how they stand.
    assessment: of a run that is over, which knows these; None while it goes on."""
    manifest = {
        "model": "open" if plan.is_open else "closed",
        "users_kind": "python" if plan.scenario is None else "native",
        "max_users": plan.most_users if plan.is_open else None,
        "times_of": plan.times_of,
        "host": host_of(plan),
    }
    if assessment is None:
        found = headline(view, manifest, facts, thresholds=thresholds, current=current)
    else:
        found = headline(view, manifest, facts, thresholds=assessment.thresholds, validity=assessment.validity)
    return RunHeadline(_redacted(found.target), _redacted(found.generator), _redacted(found.bottleneck))


def host_of(plan: RunPlan) -> str:
    """Where its requests go, for people: several hosts are in one text."""
    targets = (plan.scenario or {}).get("targets", ())
    return redact(plan.host or ", ".join(target["url"] for target in targets))


def _redacted(judged: RunJudgement) -> RunJudgement:
    more = tuple(redact(each) for each in judged.more)
    return replace(judged, title=redact(judged.title), text=redact(judged.text), more=more)

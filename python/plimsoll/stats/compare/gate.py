"""Decides whether runs may be compared: which findings block a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.compare.questions import Question
    from plimsoll.stats.findings.finding import Finding
    from plimsoll.stats.study import Trial


class VerdictGate:
    """The blocking findings, by their subjects."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        blocking = [each for each in findings if each.weight == "blocks"]
        self._general = [each for each in blocking if each.where.trial is None]
        self._of_trials: dict[str, list[Finding]] = {}
        for each in blocking:
            if each.where.trial is not None:
                self._of_trials.setdefault(each.where.trial, []).append(each)

    def of_question(self, question: Question) -> list[Finding]:
        """Findings that forbid any answer."""
        return [each for each in self._general if _is_about(each, question)]

    def of_trial(self, trial: Trial, question: Question) -> list[Finding]:
        """Findings that exclude this run from the answer."""
        return [
            each
            for each in self._of_trials.get(trial.id, ())
            if each.where.variant in (None, trial.variant) and _is_about(each, question)
        ]


def _is_about(finding: Finding, question: Question) -> bool:
    """A field that the finding leaves open matches everything."""
    where = finding.where
    if where.kinds and question.metric.kind not in where.kinds:
        return False
    if where.level not in (None, question.level) or where.operation not in (None, question.operation):
        return False
    if where.endpoint is not None and where.endpoint not in (question.endpoint, _total_of(question)):
        return False
    if where.against is not None:
        return {where.variant, where.against} == {question.a, question.b}
    return where.variant in (None, question.a, question.b)


def _total_of(question: Question) -> tuple[str, str] | None:
    """("", "") is another name of all endpoints together."""
    return ("", "") if question.endpoint == TOTAL else None

"""Decides whether runs may be compared: which findings block a verdict."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.record.cells import CellKey
    from plimsoll.stats.compare.questions import Question
    from plimsoll.stats.findings.finding import Finding, Where
    from plimsoll.stats.study import Study, Trial

    EndpointKey = tuple[str, str]


LEAST_PART = 0.05
"""Of the requests of all endpoints together: an endpoint with fewer does not block their sum, except for percentiles
above all but a smaller part."""


class VerdictGate:
    """The blocking findings, by their subjects. One about an endpoint is also about all endpoints together, if the
    endpoint has a large enough part of their requests."""

    def __init__(self, findings: Iterable[Finding], study: Study) -> None:
        self._study = study
        self._requests: dict[tuple[CellKey, CellKey], Counter[EndpointKey]] = {}
        blocking = [each for each in findings if each.weight == "blocks"]
        self._general = [each for each in blocking if each.where.trial is None]
        self._of_trials: dict[str, list[Finding]] = {}
        for each in blocking:
            if each.where.trial is not None:
                self._of_trials.setdefault(each.where.trial, []).append(each)

    def of_question(self, question: Question) -> list[Finding]:
        """Findings that forbid any answer."""
        return [each for each in self._general if self._is_about(each, question)]

    def of_trial(self, trial: Trial, question: Question) -> list[Finding]:
        """Findings that exclude this run from the answer."""
        return [
            each
            for each in self._of_trials.get(trial.id, ())
            if each.where.variant in (None, trial.variant) and self._is_about(each, question)
        ]

    def _is_about(self, finding: Finding, question: Question) -> bool:
        """A field that the finding leaves open matches everything."""
        where = finding.where
        if where.kinds and question.metric.kind not in where.kinds:
            return False
        a, b = question.a, question.b
        if where.level not in (None, b.level) or where.operation not in (None, b.operation):
            return False
        if where.against is not None and {where.variant, where.against} != {a.variant, b.variant}:
            return False
        if where.against is None and where.variant not in (None, a.variant, b.variant):
            return False
        return where.endpoint in (None, question.endpoint, _total_of(question)) or self._is_part(where, question)

    def _is_part(self, where: Where, question: Question) -> bool:
        """Whether the question is about all endpoints together, and the one of the finding has a large part of them."""
        if question.endpoint != TOTAL or where.endpoint is None:
            return False
        requests = self._requests_of(question)
        least = min(LEAST_PART, 1 - question.metric.quantile) if question.metric.quantile else LEAST_PART
        return requests[where.endpoint] > 0 and requests[where.endpoint] >= least * requests.total()

    def _requests_of(self, question: Question) -> Counter[EndpointKey]:
        """Of each endpoint, in the runs of both variants."""
        place = question.a, question.b
        if place not in self._requests:
            counts = self._requests[place] = Counter()
            for cell in place:
                for trial in self._study.cell(cell):
                    for row in trial.endpoints:
                        counts[row.key] += row.requests or 0
        return self._requests[place]


def _total_of(question: Question) -> tuple[str, str] | None:
    """("", "") is another name of all endpoints together."""
    return ("", "") if question.endpoint == TOTAL else None

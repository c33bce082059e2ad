"""The questions of a study: which variants to compare, at which level, by which metric of which endpoint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.stats.metric import Metric
    from plimsoll.stats.study import Against, Level, Study


@dataclass(frozen=True, slots=True)
class Question:
    """b against a."""

    metric: Metric
    a: str
    b: str
    against: Against
    endpoint: tuple[str, str]
    level: Level | None
    operation: str
    is_primary: bool

    @property
    def label(self) -> str:
        """Of the endpoint: "GET /todos/", "Aggregated"."""
        return " ".join(filter(None, self.endpoint))


def questions_of(study: Study) -> Iterator[Question]:
    """By operation, level, pair of variants, endpoint (all together last), metric. No question for a cell that neither
    variant ran."""
    pairs = pairs_of_variants(study)
    metrics = _metrics(study)
    for operation in study.operations:
        endpoints = (*study.endpoints(operation), *([TOTAL] if _has_total(study, operation) else []))
        for level in study.levels:
            for a, b, against in pairs:
                if not (study.cell(a, level, operation) or study.cell(b, level, operation)):
                    continue
                for endpoint in endpoints:
                    for metric in metrics:
                        if metric.is_about(endpoint):
                            primary = any(each.is_same(metric) and each.is_about(endpoint) for each in study.primary)
                            yield Question(metric, a, b, against, endpoint, level, operation, primary)


def pairs_of_variants(study: Study) -> list[tuple[str, str, Against]]:
    """(a, b, role of a), by b. For the second variant the previous one is the baseline: they are compared once."""
    found: list[tuple[str, str, Against]] = []
    for place, b in enumerate(study.variants[1:], start=1):
        seen: set[str] = set()
        for against in study.against:
            a = study.variants[0 if against == "baseline" else place - 1]
            if a not in seen:
                seen.add(a)
                found.append((a, b, against))
    return found


def _metrics(study: Study) -> list[Metric]:
    """The study's, then primary ones that are not among them. For failure shares the relevant difference is the study's
    tolerance: it is absolute, because a share near 0 has no useful ratio."""
    found: list[Metric] = []
    # Those for all endpoints first: they cover those for a single one.
    for metric in sorted((*study.metrics, *study.primary), key=lambda each: each.endpoint is not None):
        covered = any(each.is_same(metric) and each.endpoint in (None, metric.endpoint) for each in found)
        if not covered:
            found.append(replace(metric, delta=study.tolerance) if metric.kind == "errors" else metric)
    return found


def _has_total(study: Study, operation: str) -> bool:
    return any(trial.total is not None for trial in study.trials if trial.operation == operation)

"""The questions of a study: which variants to compare, at which level, by which metric of which endpoint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll.record.cells import CellKey
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.stats.study import Against, Study, Trial


@dataclass(frozen=True, slots=True)
class Question:
    """b against a."""

    metric: Metric
    a: CellKey
    b: CellKey
    """At the same level, with the same operation."""
    against: Against
    endpoint: tuple[str, str]
    is_primary: bool
    """It was declared to be what the question of the study is about."""
    leads: bool
    """It is primary; or, where none is, it is of all endpoints together, or of the only one."""

    @property
    def label(self) -> str:
        """Of the endpoint: "GET /todos/", "Aggregated"."""
        return " ".join(filter(None, self.endpoint))


def questions_of(study: Study) -> Iterator[Question]:
    """By operation, level, pair of variants, endpoint (all together last), metric. No question for a cell that neither
    variant ran. The share of failures is asked about wherever it is above the study's tolerance."""
    pairs = pairs_of_variants(study.variants, study.against)
    metrics = _metrics(study)
    for operation in study.operations:
        endpoints = (*study.endpoints(operation), *([TOTAL] if _has_total(study, operation) else []))
        for level in study.levels:
            for first, second, against in pairs:
                a = CellKey(first, level, operation)
                b = replace(a, variant=second)
                trials = [*study.cell(a), *study.cell(b)]
                if not trials:
                    continue
                for endpoint in endpoints:
                    for metric in _asked(study, metrics, endpoint, trials):
                        primary = any(each.is_same(metric) and each.is_about(endpoint) for each in study.primary)
                        leads = primary if study.primary else endpoint == TOTAL or len(endpoints) == 1
                        yield Question(metric, a, b, against, endpoint, primary, leads)


def pairs_of_variants(variants: Sequence[str], roles: Sequence[Against]) -> list[tuple[str, str, Against]]:
    """(a, b, role of a), by b. For the second variant the previous one is the baseline: they are compared once."""
    found: list[tuple[str, str, Against]] = []
    for place, b in enumerate(variants[1:], start=1):
        seen: set[str] = set()
        for against in roles:
            a = variants[0 if against == "baseline" else place - 1]
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


def _asked(study: Study, metrics: Sequence[Metric], endpoint: tuple[str, str], trials: Sequence[Trial]) -> list[Metric]:
    """The metrics of one endpoint of these runs."""
    found = [metric for metric in metrics if metric.is_about(endpoint)]
    if any(metric.kind == "errors" for metric in found):
        return found
    rows = [row for trial in trials if (row := trial.endpoint(endpoint)) is not None]
    fails = any((row.failures or 0) > study.tolerance * (row.requests or 0) for row in rows)
    return [*found, Metric("errors", delta=study.tolerance)] if fails else found


def _has_total(study: Study, operation: str) -> bool:
    return any(trial.total is not None for trial in study.trials if trial.operation == operation)

"""Probes of made-up searches."""

from __future__ import annotations

from plimsoll.stats.capacity.probe import CapacityProbe
from plimsoll.stats.thresholds.slo import CriterionResult, parse_slo

SLO = parse_slo("p99 < 200ms, errors < 0.1%")
P99, ERRORS = SLO


def probe(load, p99, errors=0.0, phase="confirm", share=0.0, **others):
    results = tuple(
        CriterionResult(each, value, each.holds(value), at_least=False, share=share if each.subject.is_time else 0.0)
        for each, value in ((P99, p99), (ERRORS, errors))
    )
    return CapacityProbe(float(load), 10.0, phase, results, **others)


def search_of(met=(20, 40, 80, 160, 170, 180, 190, 200), broken=(204, 210, 220, 230, 320), **others):
    """p99 is 100 ms where the objective was met, and 900 ms where it was not."""
    return [probe(each, 100.0, **others) for each in met] + [probe(each, 900.0, **others) for each in broken]

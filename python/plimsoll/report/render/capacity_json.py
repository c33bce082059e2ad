"""The answer of a search for capacity as JSON. Its fields are in docs/formats.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.stats.capacity.estimate import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.capacity.estimate import Capacity, CapacityProbe
    from plimsoll.stats.study import LoadUnit
    from plimsoll.stats.thresholds.grammar import Threshold

SCHEMA = "plimsoll.capacity"
VERSION = 1


def document(
    found: Capacity, probes: Sequence[CapacityProbe], unit: LoadUnit, slo: Sequence[Threshold], command: str
) -> dict[str, Any]:
    crossing = found.crossing
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "command": command,
        "slo": [each.text for each in slo],
        "unit": unit,
        "capacity": found.load,
        "low": found.low,
        "high": found.high,
        "interval": crossing is not None,
        "confidence": CONFIDENCE if crossing else None,
        "why": found.why,
        "broken": [each.text for each in found.failed],
        "crossing": None
        if crossing is None
        else {
            "criterion": crossing.criterion.text,
            "elasticity": crossing.elasticity,
            "spread": crossing.spread,
            "runs": crossing.runs,
        },
        "runs": [_probe(each) for each in probes],
    }


def _probe(probe: CapacityProbe) -> dict[str, Any]:
    return {
        "run": probe.run,
        "phase": probe.phase,
        "load": probe.load,
        "seconds": probe.seconds,
        "passed": probe.passed,
        "invalid": list(probe.invalid),
        "criteria": [
            {
                "text": each.criterion.text,
                "value": each.value,
                "unit": each.criterion.unit,
                "at_least": each.at_least,
                "held": each.held,
                "strain": each.strain,
            }
            for each in probe.strains
        ],
    }

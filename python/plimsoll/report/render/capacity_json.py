"""A search for capacity as JSON. Its fields are in docs/formats.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.say.answer.capacity import generator_limit, sentences
from plimsoll.stats.capacity.estimate import CONFIDENCE, capacity

if TYPE_CHECKING:
    from plimsoll.stats.capacity.probe import CapacityProbe, CapacitySearch
    from plimsoll.stats.study import Study

SCHEMA = "plimsoll.capacity"
VERSION = 2


def document(study: Study, search: CapacitySearch) -> dict[str, Any]:
    """search: that of the study."""
    found = capacity(search.probes)
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "name": study.name,
        "command": study.command,
        "slo": [criterion.text for criterion in search.slo],
        "unit": search.unit,
        "seconds": search.seconds,
        "finished": search.is_finished,
        "answer": list(sentences(study, search)),
        "ending": found.ending,
        "capacity": found.load,
        "low": found.low,
        "high": found.high,
        "confidence": CONFIDENCE if found.ending == "found" else None,
        "broken": [criterion.text for criterion in found.broken],
        "generator": None if found.generator is None else generator_limit(found.generator),
        "backlog": None if found.grows is None else {"load": found.grows[0], "growth_per_s": found.grows[1]},
        "runs": [_probe(probe) for probe in search.probes],
    }


def _probe(probe: CapacityProbe) -> dict[str, Any]:
    return {
        "run": probe.run,
        "phase": probe.phase,
        "load": probe.load,
        "seconds": probe.seconds,
        "passed": probe.passed,
        "invalid": list(probe.invalid),
        "backlog_growth_per_s": probe.backlog,
        "generator_share_ms": probe.share,
        "criteria": [
            {
                "text": result.criterion.text,
                "value": result.value,
                "unit": result.criterion.unit,
                "at_least": result.at_least,
                "held": result.held,
            }
            for result in probe.results
        ],
    }

"""The reliability of a run's numbers: checks, each with its numbers.

A run is invalid only if its load was not the requested load, or its record contradicts itself. Lateness of the
generator is a remark: each value has the part that the generator may have added (`stats.latency.milliseconds`).
Nothing else decides whether a run is valid: every report, list and comparison asks `judge`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.stats.validity import lateness, load, record, standstill
from plimsoll.stats.validity.causes import CPU, CPU_SHARE
from plimsoll.stats.validity.check import ACHIEVED, ENDED, OF_RECORD, CheckState, Validity, ValidityCheck
from plimsoll.stats.validity.lateness import LEAST_FOR_P99, throughput_share, unclean_figures

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.totals import Totals
    from plimsoll.stats.view import RunView

__all__ = [
    "ACHIEVED",
    "CPU",
    "CPU_SHARE",
    "ENDED",
    "LEAST_FOR_P99",
    "OF_RECORD",
    "CheckState",
    "Validity",
    "ValidityCheck",
    "judge",
    "judge_so_far",
    "throughput_share",
    "unclean_figures",
]


def judge(view: RunView, manifest: Manifest, facts: RunFacts, status: str) -> Validity:
    """Of the manifest, `model` and `users_kind` are read; of the facts, `lost_workers`, `clock_step_ms`,
    `coordinator_silence_s`, `load_cut_s`, `resumed`, `cpu_periods`, and the counts of records. status: how the run
    ended, as a store has it."""
    *checks, little = _checks(view, manifest, facts, (view.total, *view.endpoints))
    return Validity((load.ended(status), *checks, record.percentiles(view), little, record.stored(view, facts)))


def judge_so_far(view: RunView, manifest: Manifest, facts: RunFacts) -> Validity:
    """The same during the run, without checks that read every endpoint."""
    return Validity(_checks(view, manifest, facts, (view.total,)))


def _checks(view: RunView, manifest: Manifest, facts: RunFacts, rows: Iterable[Totals]) -> tuple[ValidityCheck, ...]:
    return (
        load.offered(view, manifest),
        load.dropped(view, manifest),
        lateness.lag(view, manifest, facts, rows),
        lateness.delay(view, manifest, facts),
        lateness.cpu(view, manifest, facts),
        standstill.silence(view, manifest, facts),
        load.workers(facts),
        load.coordinator(facts),
        load.clock(facts),
        load.exhausted(view),
        record.little(view),
    )

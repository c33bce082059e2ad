"""From a file and a store to what a session will do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.experiment.announce import announcement
from plimsoll.experiment.budget import CellDurations, Spread, spread_of
from plimsoll.experiment.plan import Plan, SessionOptions, make_plan
from plimsoll.experiment.state import cell_of
from plimsoll.experiment.study import noise_for
from plimsoll.stats.compare.family import LEADING_PART
from plimsoll.stats.compare.pairs import ALPHA
from plimsoll.stats.compare.planning import pairs_needed
from plimsoll.stats.compare.questions import pairs_of_variants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.experiment.spec import Experiment
    from plimsoll.store import Store
    from plimsoll.store.cells import ExperimentFile, StoredCell


@dataclass(frozen=True, slots=True)
class PreparedSession:
    """A session that can begin."""

    plan: Plan
    file: ExperimentFile
    pace: CellDurations
    lines: tuple[str, ...]
    """The lines to print before the experiment starts."""
    doubts: tuple[str, ...]
    """Why the question may not be answered."""


def prepare(store: Store | None, spec: Experiment, file: ExperimentFile, options: SessionOptions) -> PreparedSession:
    """store: None when there is none yet. Raises UsageError for what cannot be begun, with what to do; StoreError."""
    stored = store.experiments.find(spec.name) if store is not None else None
    kept = store.experiments.cells(stored.key) if store is not None and stored is not None else []
    plan = make_plan(spec, file, stored, kept, options)
    pace = measured_pace(spec, [] if plan.is_new else kept)
    lines, doubts = announcement(plan, pace, *_needed(store, spec, file))
    return PreparedSession(plan, file, pace, tuple(lines), tuple(doubts))


def measured_pace(spec: Experiment, kept: Sequence[StoredCell]) -> CellDurations:
    """What cells that are over say of how long the others take."""
    pace = CellDurations(spec)
    for row in kept:
        # One that failed may have taken any time.
        if row.state in ("valid", "invalid") and row.started is not None and row.ended is not None:
            pace.measured(cell_of(row), row.ended - row.started)
    return pace


def _needed(store: Store | None, spec: Experiment, file: ExperimentFile) -> tuple[Spread, int | None]:
    """The spread between runs, and how many pairs it requires of each of the comparisons that the question is about,
    as one of them; None if nothing is compared."""
    if spec.is_aa or len(spec.variants) < 2:
        return spread_of(spec, ()), None
    spread = spread_of(spec, noise_for(store, file) if store is not None else ())
    pairs = pairs_of_variants([each.name for each in spec.variants], spec.compare.against)
    leading = len(pairs) * len(spec.levels) * len(spec.scenarios) * len(spec.compare.primary or spec.compare.metrics)
    return spread, pairs_needed(spread.value, spec.compare.smallest, ALPHA * LEADING_PART / leading)

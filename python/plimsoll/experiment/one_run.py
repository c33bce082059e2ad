"""A run that is reported by itself: nothing of experiments is imported for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.report.sources import RunSource, StudySource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.analysis import Analysis
    from plimsoll.store import Store, StoredRun


def only_run(store: Store, refs: Sequence[str]) -> StoredRun | None:
    """The run that the only ref names; None when there are several, or when it names something else."""
    if len(refs) != 1 or Path(refs[0]).is_file() or store.experiments.find(refs[0]) is not None:
        return None
    return None if store.imports.find(refs[0]) is not None else store.run(refs[0])


def source_of_run(run: StoredRun, store: Store) -> StudySource:
    """One run by itself, read once."""
    source = RunSource.of(run)

    def analysed() -> Analysis:
        from plimsoll.experiment.study import study_of_run
        from plimsoll.stats.analysis import analyse

        return analyse(study_of_run(run, store, source.reading))

    return StudySource(analysed, source)

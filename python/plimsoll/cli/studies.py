"""From what a user names to a study: runs, experiments, imported studies, files."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.experiment.study import only_run, study_of_refs
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.stats.study import Study
    from plimsoll.store import StoredRun


@contextmanager
def opened_study(refs: Sequence[str], location: str | None) -> Iterator[tuple[Study, StoredRun | None]]:
    """Several become one, in which each is compared with the first; and the run, if it is one run of the store. Files
    alone need no store. Raises PlimsollError."""
    if all(Path(ref).is_file() for ref in refs):
        yield study_of_refs(None, refs), None
        return
    with Store.open(location, create=False) as store:
        yield study_of_refs(store, refs), only_run(store, refs)

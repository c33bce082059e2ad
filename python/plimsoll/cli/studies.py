"""From what a user names to a study: runs, experiments, imported studies, files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.experiment.study import study_of_refs
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.study import Study


def study_of(refs: Sequence[str], location: str | None) -> Study:
    """Several become one, in which each is compared with the first. Files alone need no store. Raises PlimsollError."""
    if all(Path(ref).is_file() for ref in refs):
        return study_of_refs(None, refs)
    with Store.open(location, create=False) as store:
        return study_of_refs(store, refs)

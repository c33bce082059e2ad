"""Imported studies in a store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import StoreError
from plimsoll.stats.study_json import from_json, to_json

if TYPE_CHECKING:
    from plimsoll.stats.study import Study
    from plimsoll.store import Store


def keep(store: Store, study: Study, *, digest: str, created: float) -> tuple[str, bool]:
    """(its id, whether it replaced one of its name). digest: of the file. created: Unix seconds. Raises StoreError."""
    absolute = ", ".join(str(Path(each).absolute()) for each in study.source.split(", "))
    document = to_json(replace(study, source=absolute))
    return store.imports.keep(study.name, document, source=absolute, digest=digest, created=created)


def find(store: Store, ref: str) -> Study | None:
    """By name, id, or the beginning of an id. Raises StoreError."""
    kept = store.imports.find(ref)
    if kept is None:
        return None
    try:
        return from_json(kept.document)
    except ValueError as error:
        raise StoreError(f"store {store.name}: study {kept.id} is damaged: {error}") from error

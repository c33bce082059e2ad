"""Combines several imported files into one study, and stores studies."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import StoreError, UsageError
from plimsoll.stats.study_json import from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.importers.options import Names
    from plimsoll.stats.study import Study
    from plimsoll.store import Store


def combine(studies: Sequence[Study], name: str, variant: Names = ()) -> Study:
    """One study of all their trials. variant: one name for each file; files with the same name are repeats.

    Without names each file is a variant with the file's name. Raises UsageError for files with several variants, and
    for a wrong number of names.
    """
    names = (variant,) if isinstance(variant, str) and variant else tuple(variant)
    for study in studies:
        if len(study.variants) != 1:
            raise UsageError(
                f"{study.source}: holds {len(study.variants)} variants ({', '.join(study.variants)}), so it cannot be "
                "one of several files of a study; import it alone"
            )
    if names and len(names) != len(studies):
        raise UsageError(f"variant: {len(names)} names for {len(studies)} files; give one for each file, or none")
    if not names:
        names = tuple(study.name for study in studies)
        names = names if len(set(names)) == len(names) else tuple(study.source for study in studies)
    seen: Counter[tuple[object, ...]] = Counter()
    trials = []
    for called, study in zip(names, studies, strict=True):
        for trial in study.trials:
            cell = called, trial.level, trial.operation
            trials.append(replace(trial, id=f"{study.source} {trial.id}", variant=called, repeat=seen[cell]))
            seen[cell] += 1
    return replace(
        studies[0],
        name=name,
        trials=tuple(trials),
        variants=tuple(dict.fromkeys(names)),
        skipped=tuple(each for study in studies for each in study.skipped),
        claims=tuple(each for study in studies for each in study.claims),
        warnings=tuple(dict.fromkeys(each for study in studies for each in study.warnings)),
        source=", ".join(study.source for study in studies),
        about={},
        shape="auto",
    )


def keep(store: Store, study: Study, *, digest: str, created: float) -> tuple[str, bool]:
    """(id, whether it replaced one with its name). digest: of the file. created: Unix seconds. Raises StoreError."""
    absolute = ", ".join(str(Path(each).absolute()) for each in study.source.split(", "))
    document = to_json(replace(study, source=absolute))
    return store.imports.keep(study.name, document, source=absolute, digest=digest, created=created)


def find(store: Store, ref: str) -> Study | None:
    """By name, id, or a prefix of an id. Raises StoreError."""
    kept = store.imports.find(ref)
    if kept is None:
        return None
    try:
        return from_json(kept.document)
    except ValueError as error:
        raise StoreError(f"store {store.name}: study {kept.id} is damaged: {error}") from error

"""What options declare about an imported study, one study of several files, and storing studies."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import StoreError, UsageError
from plimsoll.say.names import listed
from plimsoll.stats.metric import Metric
from plimsoll.stats.study_json import from_json, to_json
from plimsoll.stats.thresholds.slo import parse_cell_slo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.importers.options import ImportOptions, Names
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


def declared(study: Study, options: ImportOptions) -> Study:
    """The study with it. Raises UsageError for an option that does not fit the study."""
    primary = tuple(_metric(text) for text in options.primary)
    metrics = [*study.metrics, *(metric for metric in primary if not any(map(metric.is_same, study.metrics)))]
    study = replace(
        study,
        slo=parse_cell_slo(options.slo, "slo") if options.slo else study.slo,
        primary=primary or study.primary,
        metrics=tuple(replace(metric, endpoint=None) for metric in metrics),
    )
    for text in options.repeat_of:
        study = _with_repeat(study, *_names(text))
    return study


def _metric(text: str) -> Metric:
    try:
        return Metric.parse(text)
    except UsageError as error:
        raise UsageError(f"primary: {error}") from None


def _names(text: str) -> tuple[str, str]:
    repeat, _, variant = text.partition("=")
    if not repeat or not variant or repeat == variant:
        raise UsageError(f"repeat-of: {text!r} is not REPEAT=VARIANT, for example new2=new")
    return repeat, variant


def _with_repeat(study: Study, repeat: str, variant: str) -> Study:
    """The runs of the one variant are further runs of the other one."""
    for name in (repeat, variant):
        if name not in study.variants:
            raise UsageError(f"repeat-of: there is no {name!r} in the file; found were {listed(study.variants)}")
    before = max((trial.repeat for trial in study.trials if trial.variant == variant), default=-1)
    trials = (
        replace(trial, variant=variant, repeat=trial.repeat + before + 1) if trial.variant == repeat else trial
        for trial in study.trials
    )
    return replace(
        study,
        trials=tuple(trials),
        variants=tuple(name for name in study.variants if name != repeat),
        changes={name: text for name, text in study.changes.items() if name != repeat},
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

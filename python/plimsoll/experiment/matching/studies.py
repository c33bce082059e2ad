"""Combines separate studies, so that one can be compared with the next: runs, experiments, tables of other tools.
Differences that impair the comparison become warnings; incomparable studies are rejected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.say import matching as say
from plimsoll.say.names import several
from plimsoll.stats.study import TOTAL, Measured, Study, Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plimsoll.stats.compare.prediction import NewestRun

NEWEST = "this run"
"""What a run is called beside earlier ones."""


def matched(studies: Sequence[Study]) -> Study:
    """One study in which each of these is a variant, the first being the baseline.

    Studies of one variant each are compared directly; in others, variants of the same name are compared with one
    another, each name becoming an operation. Raises UsageError if nothing is comparable.
    """
    if len(studies) == 1:
        return studies[0]
    _differ(studies)
    labels = _labels(studies)
    sides, notes = _sides(studies, labels)
    sides, of_levels = _levelled(sides)
    sides, of_endpoints = _named_alike(sides)
    trials = {side.label: side.trials for side in sides}
    warnings = [
        *(f"{label}: {text}" for label, study in zip(labels, studies, strict=True) for text in study.warnings),
        *notes,
        *of_levels,
        *of_endpoints,
        *say.definitions(trials),
        *say.circumstances(trials),
        say.not_side_by_side(labels),
    ]
    first = studies[0]
    about, differing = _about(sides)
    return replace(
        first,
        name=" and ".join(dict.fromkeys(study.name or label for study, label in zip(studies, labels, strict=True))),
        title=say.title(labels, {study.variants for study in studies}),
        question=first.question if len({study.question for study in studies}) == 1 else "",
        trials=tuple(trial for side in sides for trial in side.trials),
        variants=tuple(side.label for side in sides),
        changes={},
        against=("baseline",),
        metrics=tuple(dict.fromkeys(metric for study in studies for metric in study.metrics)),
        primary=first.primary if all(study.primary == first.primary for study in studies) else (),
        interleaved=False,
        gap=None,
        looks=1,
        noise=tuple(noise for study in studies for noise in study.noise),
        skipped=tuple(skipped for study in studies for skipped in study.skipped),
        warnings=tuple(dict.fromkeys([*warnings, *differing])),
        search=None,
        source="; ".join(dict.fromkeys(study.source for study in studies if study.source)),
        command="; ".join(dict.fromkeys(study.command for study in studies if study.command)),
        about=about,
        shape="auto",
        is_aa=False,
    )


def after_earlier(newest: NewestRun, earlier: Sequence[Study], study: Study) -> Study:
    """A run against earlier runs of the same thing, which become one variant. earlier: of one run each, the last one
    last; a single one predicts nothing. Raises UsageError if nothing is comparable."""
    name = newest.baseline
    runs = [replace(trial, variant=name) for before in earlier for trial in before.trials]
    history = replace(
        earlier[-1],
        name=name,
        trials=tuple(replace(trial, repeat=number, order=None) for number, trial in enumerate(runs)),
        variants=(name,),
    )
    single = replace(
        study,
        trials=tuple(replace(trial, variant=NEWEST, repeat=len(runs) - 1) for trial in study.trials),
        variants=(NEWEST,),
    )
    study = matched([history, single])
    # Not the run's id: what is made from it in CI keeps its name from build to build.
    return replace(study, name=study.title, is_after_earlier=len(runs) > 1, newest=newest)


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One of the studies, as a variant."""

    label: str
    study: Study
    trials: tuple[Trial, ...]


def _differ(studies: Sequence[Study]) -> None:
    seen: dict[tuple[tuple[str, ...], str], str] = {}
    for study in studies:
        if not study.trials:
            raise UsageError(f"{study.name or study.source or 'a study'} has no runs: there is nothing to compare")
        key = tuple(trial.id for trial in study.trials), study.source
        if key in seen:
            raise UsageError(f"{study.name or seen[key]} was given twice: it cannot be compared with itself")
        seen[key] = study.name


def _labels(studies: Sequence[Study]) -> tuple[str, ...]:
    """Distinct labels of the studies: names of variants if each has one, else their own."""
    for names in (
        [study.variants[0] if len(study.variants) == 1 else study.name for study in studies],
        [study.name for study in studies],
        [study.source for study in studies],
    ):
        if all(names) and len(set(names)) == len(names):
            return tuple(names)
    return tuple(f"{study.name or 'study'} ({number + 1})" for number, study in enumerate(studies))


def _sides(studies: Sequence[Study], labels: Sequence[str]) -> tuple[list[_Side], list[str]]:
    """As variants: those with the same name, or all of them if each study but one has a single one."""
    wide = [study for study in studies if len(study.variants) > 1]
    common = [name for name in studies[0].variants if all(name in study.variants for study in studies)]
    if not wide or (len(wide) == 1 and not common):
        return [side for label, study in zip(labels, studies, strict=True) for side in _one_by_one(label, study)], []
    if not common:
        known = {label: several(study.variants) for label, study in zip(labels, studies, strict=True)}
        raise UsageError(
            f"no variant has the same name in all of them, so nothing can be compared ({say.by_label(known)})"
        )

    def operation(trial: Trial) -> str:
        return ", ".join(part for part in (trial.variant if len(common) > 1 else "", trial.operation) if part)

    warnings = []
    for label, study in zip(labels, studies, strict=True):
        others = [name for name in study.variants if name not in common]
        if others:
            warnings.append(say.left_out(label, several(others)))
    sides = [
        _side(label, study, [trial for name in common for trial in study.trials if trial.variant == name], operation)
        for label, study in zip(labels, studies, strict=True)
    ]
    return sides, warnings


def _one_by_one(label: str, study: Study) -> list[_Side]:
    """Each variant as a separate side."""
    sides = []
    for name in study.variants:
        own = tuple(trial for trial in study.trials if trial.variant == name)
        sides.append(_side(label if len(study.variants) == 1 else name, study, own, lambda trial: trial.operation))
    return sides


def _side(label: str, study: Study, trials: Sequence[Trial], operation: Callable[[Trial], str]) -> _Side:
    """Ids stay distinct; the order in time of runs of two studies is unknown."""
    renamed = tuple(
        replace(trial, id=_id(label, trial), variant=label, operation=operation(trial), order=None) for trial in trials
    )
    return _Side(label, study, renamed)


def _id(label: str, trial: Trial) -> str:
    return trial.id if trial.id == label else f"{label}: {trial.id}"


def _levelled(sides: Sequence[_Side]) -> tuple[list[_Side], list[str]]:
    """With the levels that all have; two different single levels are compared, with a warning."""
    levels = [{trial.level for trial in side.trials} for side in sides]
    common = set.intersection(*levels)
    if common:
        kept = [replace(side, trials=tuple(trial for trial in side.trials if trial.level in common)) for side in sides]
        extra = [
            say.left_out(side.label, say.levels_text(own - common))
            for side, own in zip(sides, levels, strict=True)
            if own - common
        ]
        return kept, extra
    known = {side.label: say.levels_text(own) for side, own in zip(sides, levels, strict=True)}
    if any(len(own) > 1 for own in levels):
        raise UsageError(f"they have no level in common, so nothing can be compared ({say.by_label(known)})")
    kept = [replace(side, trials=tuple(replace(trial, level=None) for trial in side.trials)) for side in sides]
    return kept, [say.other_load(known)]


def _named_alike(sides: Sequence[_Side]) -> tuple[list[_Side], list[str]]:
    """With the endpoints that all have; all endpoints together if they have none in common."""
    keys = [{endpoint.key for trial in side.trials for endpoint in trial.endpoints} for side in sides]
    common = set.intersection(*keys)
    if common:
        warnings = [
            say.more_endpoints(side.label, say.endpoints_text(own - common))
            for side, own in zip(sides, keys, strict=True)
            if own - common
        ]
        return list(sides), warnings
    known = {side.label: say.endpoints_text(own) for side, own in zip(sides, keys, strict=True)}
    totals = [replace(side, trials=tuple(_only_total(trial) for trial in side.trials)) for side in sides]
    if not all(any(trial.total is not None for trial in side.trials) for side in totals):
        raise _no_endpoint("nothing can be compared", known)
    if any(len(own) > 1 for own in keys):
        raise _no_endpoint("these runs did not do the same", known)
    return totals, [say.other_names(known)]


def _no_endpoint(so: str, known: Mapping[str, str]) -> UsageError:
    return UsageError(
        f"they have no endpoint in common, so {so} ({say.by_label(known)}); `plimsoll compare --rename OLD=NEW` gives "
        "an endpoint another name"
    )


def _only_total(trial: Trial) -> Trial:
    """All endpoints together; the only endpoint if there is no sum."""
    total = trial.total
    if total is None and len(trial.endpoints) == 1:
        total = _as_total(trial.endpoints[0])
    return replace(trial, endpoints=(), total=total)


def _as_total(measured: Measured) -> Measured:
    return replace(measured, method=TOTAL[0], name=TOTAL[1])


def _about(sides: Sequence[_Side]) -> tuple[dict[str, str], list[str]]:
    """The environment of all, with a warning for differences."""
    names = dict.fromkeys(name for side in sides for name in side.study.about)
    values: dict[str, Mapping[str, str]] = {
        name: {side.label: side.study.about[name] for side in sides if name in side.study.about} for name in names
    }
    differing = [name for name, texts in values.items() if len(set(texts.values())) > 1]
    about = {
        name: say.by_label(texts) if name in differing else next(iter(texts.values())) for name, texts in values.items()
    }
    return about, [say.other_environments(differing)] if differing else []

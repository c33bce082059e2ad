"""Combines separate studies, so that one can be compared with the next: runs, experiments, tables of other tools.
Differences that impair the comparison become warnings; incomparable studies are rejected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.stats.study import TOTAL, Level, Measured, Study, Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

NEWEST = "this run"
"""What a run is called beside earlier ones."""
_RENAME = "; `plimsoll compare --rename OLD=NEW` gives an endpoint another name"
_MOST_NAMED = 5
_LONGER = 1.1
"""A warning names durations that differ by more than this factor."""


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
    warnings = [
        *(f"{label}: {text}" for label, study in zip(labels, studies, strict=True) for text in study.warnings),
        *notes,
        *of_levels,
        *of_endpoints,
        *_definitions(sides),
        *_circumstances(sides),
        f"{_listed(labels)} were not run side by side: what else changed meanwhile is in every difference",
    ]
    first = studies[0]
    about, differing = _about(sides)
    return replace(
        first,
        name=" and ".join(dict.fromkeys(study.name or label for study, label in zip(studies, labels, strict=True))),
        title=_title(studies, labels),
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
        noise=tuple(each for study in studies for each in study.noise),
        skipped=tuple(each for study in studies for each in study.skipped),
        warnings=tuple(dict.fromkeys([*warnings, *differing])),
        search=None,
        source="; ".join(dict.fromkeys(study.source for study in studies if study.source)),
        command="; ".join(dict.fromkeys(study.command for study in studies if study.command)),
        about=about,
        shape="auto",
        is_aa=False,
    )


def after_earlier(name: str, earlier: Sequence[Study], study: Study) -> Study:
    """A run against earlier runs of the same thing, which become one variant called `name`. earlier: of one run each,
    the last one last. Raises UsageError if nothing is comparable."""
    runs = [replace(trial, variant=name) for each in earlier for trial in each.trials]
    history = replace(
        earlier[-1],
        name=name,
        trials=tuple(replace(trial, repeat=number, order=None) for number, trial in enumerate(runs)),
        variants=(name,),
        source="; ".join(each.source for each in earlier[-1:]),
    )
    newest = replace(
        study,
        trials=tuple(replace(each, variant=NEWEST, repeat=len(runs) - 1) for each in study.trials),
        variants=(NEWEST,),
    )
    return replace(matched([history, newest]), is_after_earlier=True)


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


def _title(studies: Sequence[Study], labels: Sequence[str]) -> str:
    """E.g. "after against before; locustfile.py, 2 runs". Titles contain no ids of runs."""
    names = {study.variants[0] for study in studies if len(study.variants) == 1}
    if len(names) == 1:
        return f"{names.pop()}, {len(studies)} runs"
    baseline, *others = labels
    return f"{', '.join(others)} against {baseline}"


def _sides(studies: Sequence[Study], labels: Sequence[str]) -> tuple[list[_Side], list[str]]:
    """As variants: those with the same name, or all of them if each study but one has a single one."""
    several = [study for study in studies if len(study.variants) > 1]
    common = [name for name in studies[0].variants if all(name in study.variants for study in studies)]
    if not several or (len(several) == 1 and not common):
        return [side for label, study in zip(labels, studies, strict=True) for side in _one_by_one(label, study)], []
    if not common:
        known = "; ".join(f"{label}: {_listed(study.variants)}" for label, study in zip(labels, studies, strict=True))
        raise UsageError(f"no variant has the same name in all of them, so nothing can be compared ({known})")

    def operation(trial: Trial) -> str:
        return ", ".join(part for part in (trial.variant if len(common) > 1 else "", trial.operation) if part)

    warnings = []
    for label, study in zip(labels, studies, strict=True):
        others = [name for name in study.variants if name not in common]
        if others:
            warnings.append(f"only {label} has {_listed(others)}: left out")
    sides = [
        _side(label, study, [each for name in common for each in study.trials if each.variant == name], operation)
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
            f"only {side.label} has {_levels(own - common)}: left out"
            for side, own in zip(sides, levels, strict=True)
            if own - common
        ]
        return kept, extra
    known = "; ".join(f"{side.label}: {_levels(own)}" for side, own in zip(sides, levels, strict=True))
    if any(len(own) > 1 for own in levels):
        raise UsageError(f"they have no level in common, so nothing can be compared ({known})")
    kept = [replace(side, trials=tuple(replace(trial, level=None) for trial in side.trials)) for side in sides]
    return kept, [f"the load differs ({known}): a difference may be that of the load"]


def _named_alike(sides: Sequence[_Side]) -> tuple[list[_Side], list[str]]:
    """With the endpoints that all have; all endpoints together if they have none in common."""
    keys = [{each.key for trial in side.trials for each in trial.endpoints} for side in sides]
    common = set.intersection(*keys)
    if common:
        warnings = [
            f"only {side.label} has {_endpoints(own - common)}; Aggregated is not of the same requests"
            for side, own in zip(sides, keys, strict=True)
            if own - common
        ]
        return list(sides), warnings
    known = "; ".join(f"{side.label}: {_endpoints(own) or 'none'}" for side, own in zip(sides, keys, strict=True))
    totals = [replace(side, trials=tuple(_only_total(trial) for trial in side.trials)) for side in sides]
    if not all(any(trial.total is not None for trial in side.trials) for side in totals):
        raise UsageError(f"they have no endpoint in common, so nothing can be compared ({known}){_RENAME}")
    if any(len(own) > 1 for own in keys):
        raise UsageError(f"they have no endpoint in common, so these runs did not do the same ({known}){_RENAME}")
    return totals, [f"endpoints have different names ({known}); they are taken for the same"]


def _only_total(trial: Trial) -> Trial:
    """All endpoints together; the only endpoint if there is no sum."""
    total = trial.total
    if total is None and len(trial.endpoints) == 1:
        total = _as_total(trial.endpoints[0])
    return replace(trial, endpoints=(), total=total)


def _as_total(measured: Measured) -> Measured:
    return replace(measured, method=TOTAL[0], name=TOTAL[1])


_CLOCKS = {"due": "was due", "sent": "was sent", "corrected": "was due, by a correction afterwards"}
_SCOPES = {"all": "failed requests too", "successes": "successful requests only", "unknown": "unknown which requests"}


def _definitions(sides: Sequence[_Side]) -> Iterable[str]:
    """Where the same term has different meanings."""

    def by_side(of: Callable[[Trial], str]) -> dict[str, str]:
        return {side.label: _listed(dict.fromkeys(of(trial) for trial in side.trials)) for side in sides}

    clocks = by_side(lambda trial: _CLOCKS.get(trial.precision.clock, "is not known"))
    if _unequal(clocks):
        yield f"times do not begin at the same moment: when a request … {_each(clocks)}"
    scopes = by_side(lambda trial: _SCOPES[trial.precision.times_of])
    if _unequal(scopes):
        yield f"times are not of the same requests: {_each(scopes)}"
    digits = by_side(lambda trial: _rounding(trial))
    if _unequal(digits):
        yield f"times are not rounded alike: {_each(digits)}"
    models = by_side(lambda trial: f"{trial.model} model")
    if _unequal(models):
        yield (
            f"the load models differ: {_each(models)}; users of the closed one ask less of a slow target, arrivals of "
            "the open one do not"
        )


def _rounding(trial: Trial) -> str:
    precision = trial.precision
    if precision.digits is None:
        return "all digits"
    return f"{precision.digits} significant digits" + (
        f", no finer than {precision.floor:g} ms" if precision.floor else ""
    )


def _circumstances(sides: Sequence[_Side]) -> Iterable[str]:
    scenarios = [{trial.scenario for trial in side.trials if trial.scenario} for side in sides]
    if all(scenarios) and any(own != scenarios[0] for own in scenarios):
        yield "their scenarios are not the same: a difference may be that of the work"
    lengths = {side.label: _mean([trial.duration for trial in side.trials]) for side in sides}
    known = {name: length for name, length in lengths.items() if length}
    if known and max(known.values()) > _LONGER * min(known.values()):
        texts = {name: f"{length:.0f} s" if length >= 10 else f"{length:.2g} s" for name, length in known.items()}
        yield f"runs are not of the same length: {_each(texts)}"
    warmups = {side.label: f"{max(trial.warmup for trial in side.trials):g} s" for side in sides}
    if _unequal(warmups):
        yield f"warm-ups of different lengths are left out: {_each(warmups)}"


def _about(sides: Sequence[_Side]) -> tuple[dict[str, str], list[str]]:
    """The environment of all, with a warning for differences."""
    names = dict.fromkeys(name for side in sides for name in side.study.about)
    values: dict[str, Mapping[str, str]] = {
        name: {side.label: side.study.about[name] for side in sides if name in side.study.about} for name in names
    }
    differing = [name for name, texts in values.items() if _unequal(texts)]
    about = {name: _each(texts) if name in differing else next(iter(texts.values())) for name, texts in values.items()}
    return about, [f"the environments differ: {_listed(differing)}"] if differing else []


def _unequal(texts: Mapping[str, str]) -> bool:
    return len(set(texts.values())) > 1


def _each(texts: Mapping[str, str]) -> str:
    return "; ".join(f"{label}: {text}" for label, text in texts.items())


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _levels(levels: Iterable[Level | None]) -> str:
    known = sorted(level for level in levels if level is not None)
    return _listed([str(level) for level in known]) if known else "no level"


def _endpoints(keys: Iterable[tuple[str, str]]) -> str:
    return _listed([f"{method} {name}".strip() for method, name in sorted(keys, key=lambda key: (key[1], key[0]))])


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    if len(known) > _MOST_NAMED:
        return f"{', '.join(known[:_MOST_NAMED])} and {len(known) - _MOST_NAMED} more"
    return " and ".join([", ".join(known[:-1]), known[-1]] if len(known) > 1 else known)

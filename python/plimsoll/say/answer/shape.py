"""How a study's report is laid out: one of the four shapes that such reports have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.stats.study import Study

Shape = Literal["ladder", "operations", "chain", "rates"]
"""ladder: versions against one another, level by level. operations: what each operation does, level by level. chain:
each version against the one before. rates: who carries which rate of arrivals."""

CHANGES = "changes"
"""The fact of a trial that says in a line what was changed in its variant."""


def shape_of(study: Study) -> Shape:
    """What the study asks for, or what its trials look like."""
    if study.shape != "auto":
        return study.shape
    levels = [level for level in study.levels if level is not None]
    if levels and all(level.unit == "/s" for level in levels):
        return "rates"
    if "previous" in study.against and len(study.variants) > 2:
        return "chain"
    return "operations" if len(study.variants) == 1 else "ladder"


def changes_of(study: Study) -> Mapping[str, str]:
    """What was changed, by variant; those of which nothing is known are missing."""
    facts = {trial.variant: trial.facts[CHANGES] for trial in study.trials if trial.facts.get(CHANGES)}
    known = {**facts, **study.changes}
    return {variant: text for variant, text in known.items() if isinstance(text, str) and text}


def collected(study: Study, variant: str) -> Mapping[str, str]:
    """Texts that were collected from the target of a variant, by name: query plans, say. The first run that has one
    stands for all."""
    found: dict[str, str] = {}
    for trial in study.trials:
        if trial.variant == variant:
            for name, text in (*trial.collected.items(), *trial.facts.items()):
                if name in trial.collected or _is_long(text):
                    found.setdefault(name, str(text))
    return found


def facts_of(study: Study, variant: str) -> Mapping[str, tuple[str | float, ...]]:
    """Facts of a variant's runs by name: each run's value, in their order."""
    found: dict[str, list[str | float]] = {}
    for trial in study.trials:
        if trial.variant == variant:
            for name, value in trial.facts.items():
                if name != CHANGES and name not in trial.collected and not _is_long(value):
                    found.setdefault(name, []).append(value)
    return {name: tuple(values) for name, values in found.items()}


def _is_long(value: str | float) -> bool:
    return isinstance(value, str) and "\n" in value.strip()

"""The names that tell what a statement is about from the rest of its study."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll.record.cells import CellKey

if TYPE_CHECKING:
    from plimsoll.stats.study import Level, Study, Trial


@dataclass(frozen=True, slots=True)
class Subject:
    """Only the names that are needed; none of them in a study of one thing."""

    variant: str = ""
    operation: str = ""
    endpoint: str = ""
    """ "GET /todos/"."""
    level: Level | None = None
    repeat: int | None = None
    """Number of the run among those of its cell, from 1; None if the subject is no run, or the only one."""
    trial: str = ""
    """Id of the run, which stands for it if no other name is needed."""


def subject(study: Study, variant: str, operation: str = "", endpoint: str = "", level: Level | None = None) -> Subject:
    return Subject(
        variant if len(study.variants) > 1 else "",
        # An operation named after its endpoint is not repeated.
        operation if len(study.operations) > 1 and not (endpoint and endpoint in operation) else "",
        endpoint,
        level if len(study.levels) > 1 else None,
    )


def cell(study: Study, trial: Trial, endpoint: str = "") -> Subject:
    """All runs of one variant at one level."""
    return subject(study, trial.variant, trial.operation, endpoint, trial.level)


def run(study: Study, trial: Trial, endpoint: str = "") -> Subject:
    """One run among the others."""
    repeats = study.cell(trial)
    repeat = repeats.index(trial) + 1 if len(repeats) > 1 else None
    return replace(cell(study, trial, endpoint), repeat=repeat, trial=trial.id)


def compared(study: Study, key: tuple[str, str], cell: CellKey) -> Subject:
    """A row of two variants."""
    label = f"{key[0]} {key[1]}".strip()
    operation = cell.operation if cell.operation != label else ""
    return replace(subject(study, "", operation, "", cell.level), endpoint=label)

"""What one session of an experiment will do."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.experiment.cell_values import OVER
from plimsoll.experiment.order import cells_in_order
from plimsoll.experiment.state import cell_of, changes
from plimsoll.load.mistakes import nearest
from plimsoll.say.names import listed
from plimsoll.say.numbers import moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.experiment.cell_values import ExperimentCell
    from plimsoll.experiment.spec import Experiment
    from plimsoll.store.cells import ExperimentFile, StoredCell, StoredExperiment

MOST_CHANGES = 10
"""How many changes a message names at most."""
MOST_NAMES = 8


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What a user asked for besides the file."""

    resume: bool = False
    fresh: bool = False
    again: bool = False
    """With resume: failed and invalid cells once more."""
    only: tuple[str, ...] = ()
    """VARIANT, VARIANT/LEVEL or VARIANT/LEVEL/OPERATION, LEVEL as 50 or 300/s; empty: all."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The cells to run now, and those that are finished."""

    spec: Experiment
    is_new: bool
    """There is no earlier session to continue, or it is discarded."""
    cells: tuple[ExperimentCell, ...]
    """To be run now, in their order."""
    later: int
    """Pending ones that are left out."""
    there: int
    """The number of finished cells that stay."""
    added: tuple[ExperimentCell, ...]
    """Cells of further repeats."""
    again: tuple[str, ...] = ()
    """States whose cells are taken once more."""

    @property
    def total(self) -> int:
        return len(self.cells) + self.later + self.there


def make_plan(
    spec: Experiment,
    file: ExperimentFile,
    stored: StoredExperiment | None,
    kept: Sequence[StoredCell],
    options: SessionOptions,
) -> Plan:
    """stored: what the store has under the name, and kept: its cells. Raises UsageError that says what is in the way,
    and what to do."""
    cells = cells_in_order(spec)
    if stored is None or stored.file is None or options.fresh:
        if options.resume and stored is None:
            raise UsageError(f"there is no experiment {spec.name} to go on with; leave --resume out")
        now = chosen(cells, options.only)
        return Plan(spec, True, now, len(cells) - len(now), 0, ())
    if stored.is_running:
        raise UsageError(f"experiment {spec.name} is being run by another process; wait for it, or stop it")
    _refuse_changed(spec, stored.file, file, stored, kept)
    again = tuple(each for each in OVER if each != "valid") if options.again else ()
    added = tuple(each for each in cells if each.repeat > max((row.repeat for row in kept), default=0))
    waiting = [
        replace(cell_of(row), state="pending", reason="", run=None)
        for row in kept
        if row.state in ("pending", "running", *again)
    ]
    if not options.resume:
        _refuse_old(stored, kept, bool(waiting))
    pending = [*(each for each in waiting if each.repeat <= spec.repeats), *added]
    if not pending:
        if waiting:
            raise UsageError(f"what is left of experiment {spec.name} is of repeats after the first {spec.repeats}")
        _refuse_old(stored, kept, False)
    now = chosen(pending, options.only)
    there = len(kept) - len(waiting)
    return Plan(spec, False, now, len(waiting) + len(added) - len(now), there, added, again)


def chosen(cells: Sequence[ExperimentCell], only: Sequence[str]) -> tuple[ExperimentCell, ...]:
    """The cells with these names. Raises UsageError for a name that no cell has."""
    if not only:
        return tuple(cells)
    names = {each: _names(each) for each in cells}
    for text in only:
        if not any(text in each for each in names.values()):
            known = list(dict.fromkeys(name for each in names.values() for name in each))
            meant = nearest(text, known)
            hint = f"did you mean {meant}?" if meant else f"there are {listed(known[:MOST_NAMES])}"
            raise UsageError(f"--only {text}: no cell that is left to run is called so; {hint}")
    return tuple(each for each in cells if any(text in names[each] for text in only))


def _names(cell: ExperimentCell) -> tuple[str, ...]:
    """The names by which it can be selected, the most general first."""
    if cell.level is None:
        return (cell.variant, *([f"{cell.variant}/{cell.operation}"] if cell.operation else []))
    value = f"{cell.level.value:g}"
    levels = (value, str(cell.level)) if cell.level.unit == "/s" else (value,)
    names = [cell.variant, *(f"{cell.variant}/{level}" for level in levels)]
    if cell.operation:
        names += [f"{cell.variant}/{level}/{cell.operation}" for level in levels]
    return tuple(names)


def _refuse_changed(
    spec: Experiment, was: ExperimentFile, now: ExperimentFile, stored: StoredExperiment, kept: Sequence[StoredCell]
) -> None:
    lines = changes(was, now)
    if not lines:
        return
    over = sum(each.state in OVER for each in kept)
    more = [f"and {len(lines) - MOST_CHANGES} more"] if len(lines) > MOST_CHANGES else []
    raise UsageError(
        "\n  ".join(
            [
                f"{spec.file} is no longer what experiment {spec.name} was begun with ({_when(stored.created)}):",
                *lines[:MOST_CHANGES],
                *more,
            ]
        )
        + "\nput that back to go on, give it another name, or say --fresh: that starts over, and what was run "
        f"({cells_in_words(over)}) no longer counts"
    )


def _refuse_old(stored: StoredExperiment, kept: Sequence[StoredCell], waiting: bool) -> None:
    over = sum(each.state in OVER for each in kept)
    if waiting:
        raise UsageError(
            f"experiment {stored.name} was left after {over} of {cells_in_words(len(kept))} ({_when(stored.created)}); "
            "--resume goes on with it, --fresh starts over"
        )
    bad = sum(each.state in ("invalid", "failed") for each in kept)
    retake = f"--resume --again takes the {cells_in_words(bad)} that are invalid or failed once more; " if bad else ""
    raise UsageError(
        f"experiment {stored.name} is finished ({cells_in_words(over)}, {_when(stored.ended or stored.created)}): "
        f"`plimsoll report {shlex.quote(stored.name)}` shows it; {retake}--resume --repeats N adds repeats, "
        "--fresh starts over"
    )


def _when(unix: float) -> str:
    return moment(unix, "%Y-%m-%d %H:%M")


def cells_in_words(number: int) -> str:
    return f"{number} cell{'' if number == 1 else 's'}"

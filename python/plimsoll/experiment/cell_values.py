"""One cell of an experiment, what became of it, and where it may leave files.

`plimsoll.experiment.cell.run_cell(cell, spec, where, report)` runs one: prepare → start → wait until healthy → seed or
reset → warm up → measure → collect → cool down → stop. It returns a `CellResult` for everything that can happen to a
target or a command. A KeyboardInterrupt goes through it: whatever was started is then stopped in good order before it
is raised on, and a second one meanwhile kills it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from plimsoll.store.cells import cell_label

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from plimsoll.experiment.spec import Experiment
    from plimsoll.stats.study import Level, Series

State = Literal["pending", "running", "valid", "invalid", "failed", "superseded"]
"""valid: measured. invalid: measured, but the load was not the load asked for, or the target ended. failed: a command
or the start of the target did, so there is nothing measured. superseded: taken again, or of an older version of the
file."""

OVER = ("valid", "invalid", "failed")


@dataclass(frozen=True, slots=True)
class ExperimentCell:
    """A variant at a level with an operation, in one repeat."""

    number: int
    """From 1, in the order in which they are run."""
    repeat: int
    """The number of the repeat, from 1."""
    variant: str
    level: Level | None
    operation: str
    seed: int
    """0…2⁶³−1, for `plimsoll run --seed`. The same throughout a repeat, so that pairs see the same arrivals."""
    state: State = "pending"
    reason: str = ""
    """Why it is invalid or failed."""
    run: str | None = None
    """The id of what was measured."""
    key: int | None = None
    """The key of its row in the store."""

    @property
    def label(self) -> str:
        """The name of the cell for people: "index, 50 users, upload, repeat 2"."""
        return cell_label(self.variant, self.level, self.operation, self.repeat)


@dataclass(frozen=True, slots=True)
class CellFolder:
    """The folder for files of a cell, and the store of its run."""

    path: Path
    """A folder of this cell's own; it exists, and is empty."""
    shared: Path
    """A folder of the session, for what several cells use: checked-out sources. Removed with the session."""
    store: str | None
    """A value for `plimsoll run --store`: an absolute path, or a URL."""


@dataclass(frozen=True, slots=True, eq=False)
class CellResult:
    """The outcome of a cell."""

    state: Literal["valid", "invalid", "failed"]
    reason: str = ""
    """One line; "" if and only if it is valid."""
    run_id: str | None = None
    phases: Mapping[str, float] = field(default_factory=dict)
    """Seconds by phase, of those that were reached: prepare, start, healthy, seed, measure, collect, cool_down, stop.
    `measure` is from the start of the generator's process to its end."""
    target: Mapping[str, Any] = field(default_factory=dict)
    """JSON: command, cwd, pid, build, commit, url, exit_status, log (last lines); crashed: how it ended by itself."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """JSON by name: facts of the target, as {"rows": [before, after]}; None for what could not be asked."""
    collected: Mapping[str, str] = field(default_factory=dict)
    """What `collect` hooks printed, by name."""
    observed: tuple[Series, ...] = ()
    """Seconds since second 0 of the run."""


class RunCell(Protocol):
    """The type of `cell.run_cell`, and of its fakes in tests. report: called with the present phase, in words."""

    def __call__(
        self, cell: ExperimentCell, spec: Experiment, where: CellFolder, report: Callable[[str], None], /
    ) -> CellResult: ...

"""One cell of an experiment, why it could not be measured, and where it may leave files.

`plimsoll.experiment.cell.run_cell(cell, spec, where, report)` runs one: prepare → start → wait until healthy → seed or
reset → warm up → measure → collect → cool down → stop. It returns a `CellOutcome` for everything that can happen to a
target or a command. A KeyboardInterrupt goes through it: whatever was started is then stopped in good order before it
is raised on, and a second one meanwhile kills it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from plimsoll.record.cells import CellKey
from plimsoll.redact import redact_options, storable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from plimsoll.experiment.spec import Experiment
    from plimsoll.store.cells import CellOutcome

State = Literal["pending", "running", "valid", "invalid", "failed", "superseded"]
"""valid: measured. invalid: measured, but the load was not the load asked for, or the target ended. failed: a command
or the start of the target did, so there is nothing measured. superseded: taken again, or of an older version of the
file."""

OVER = ("valid", "invalid", "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentCell(CellKey):
    """A cell to be run, or that was run."""

    number: int
    """From 1, in the order in which they are run."""
    seed: int
    """0…2⁶³−1, for `plimsoll run --seed`. The same throughout a repeat, so that pairs see the same arrivals."""
    state: State = "pending"
    reason: str = ""
    """Why it is invalid or failed."""
    run: str | None = None
    """The id of what was measured."""
    key: int | None = None
    """The key of its row in the store."""


@dataclass(frozen=True, slots=True)
class CellFolder:
    """The folder for files of a cell, and the store of its run."""

    path: Path
    """A folder of this cell's own; it exists, and is empty."""
    shared: Path
    """A folder of the session, for what several cells use: checked-out sources. Removed with the session."""
    store: str | None
    """A value for `plimsoll run --store`: an absolute path, or a URL."""
    outputs: Mapping[str, Any] | None = None
    """Values of all `output_options`, by name, in place of those that the experiment's words give; None: those."""


class CellError(Exception):
    """Never leaves `run_cell`: it becomes the result of the cell."""

    def __init__(
        self, message: str, *, command: Sequence[str] = (), ending: str | None = None, log: Sequence[str] = ()
    ) -> None:
        """command: whose fault it is. ending: its exit status or signal, in words. log: the last lines it printed."""
        super().__init__(message)
        self.command = tuple(command)
        self.ending = ending
        self.log = [storable(line) for line in log]

    @property
    def one_line(self) -> str:
        """With the last line of the log, which most often says it. Passwords are masked."""
        message = " ".join(storable(str(self)).split())
        return f"{message}; its last line: {self.log[-1].strip()}" if self.log else message

    def to_dict(self) -> dict[str, Any]:
        """The error as values for JSON."""
        return {
            "message": storable(str(self)),
            "command": [storable(word) for word in redact_options(self.command)],
            "ending": self.ending,
            "log": self.log,
        }


class RunCell(Protocol):
    """The type of `cell.run_cell`, and of its fakes in tests. report: called with the present phase, in words."""

    def __call__(
        self, cell: ExperimentCell, spec: Experiment, where: CellFolder, report: Callable[[str], None], /
    ) -> CellOutcome: ...

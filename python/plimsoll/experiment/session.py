"""An experiment from its first cell to its last."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from plimsoll.experiment.cell_values import CellFolder
from plimsoll.experiment.order import cells_in_order
from plimsoll.experiment.plan import chosen
from plimsoll.experiment.source import clean_up
from plimsoll.experiment.state import cell_of, row_of
from plimsoll.run import interrupts
from plimsoll.store.cells import CellOutcome

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator, Sequence

    from plimsoll.experiment.budget import CellDurations
    from plimsoll.experiment.cell_values import ExperimentCell, RunCell
    from plimsoll.experiment.display import ExperimentDisplay
    from plimsoll.experiment.plan import Plan
    from plimsoll.experiment.spec import Experiment
    from plimsoll.store.cells import ExperimentFile, StoredExperiments

ONCE = b"\nplimsoll: stopping this cell in good order; the next Ctrl-C kills it\n"
AGAIN = b"\nplimsoll: killing it\n"
SHARED = "shared"
MARGIN = 300.0
"""Seconds that a cell may take longer than expected before another machine may think that we are dead."""


@dataclass(frozen=True, slots=True)
class SessionResult:
    """How a session ended."""

    interrupted: bool
    states: Counter[str]
    """How many cells of the experiment have each state."""

    @property
    def finished(self) -> bool:
        return not self.states["pending"]

    @property
    def over(self) -> int:
        return self.states.total() - self.states["pending"]


@dataclass(slots=True)
class Session:
    """Runs the cells of a plan, and stores the outcome of each before it begins the next."""

    plan: Plan
    file: ExperimentFile
    experiments: StoredExperiments
    store: str | None
    """The store of the runs, as `CellFolder` takes it."""
    run_cell: RunCell
    display: ExperimentDisplay
    pace: CellDurations
    clock: Callable[[], float] = monotonic
    _key: int = field(default=0, init=False)

    def run(self, only: Sequence[str] = ()) -> SessionResult:
        """Until all cells are over, or an interrupt. Raises StoreError; what is kept then is as after an interrupt."""
        self._key = self._taken()
        interrupted = False
        with self.display, _Interrupts().handled() as signals, _folder(self.plan.spec) as folder:
            try:
                interrupted = self._run_all(self._pending(only), signals, folder)
            finally:
                states = self.experiments.states(self._key)
                self.experiments.leave(self._key, finished=not states["pending"])
        return SessionResult(interrupted, states)

    def _taken(self) -> int:
        """The key of the experiment, which is ours from now on."""
        plan = self.plan
        if plan.is_new:
            return self.experiments.begin(plan.spec.name, self.file, map(row_of, cells_in_order(plan.spec)))
        stored = self.experiments.find(plan.spec.name)
        assert stored is not None
        self.experiments.resume(stored.key, self.file, plan.again)
        self.experiments.add(stored.key, map(row_of, plan.added))
        return stored.key

    def _pending(self, only: Sequence[str]) -> tuple[ExperimentCell, ...]:
        rows = self.experiments.cells(self._key)
        repeats = self.plan.spec.repeats
        return chosen([cell_of(row) for row in rows if row.state == "pending" and row.repeat <= repeats], only)

    def _run_all(self, cells: Sequence[ExperimentCell], signals: _Interrupts, folder: Path) -> bool:
        """Whether it was interrupted."""
        total = self.plan.total
        done = self.plan.there
        for place, cell in enumerate(cells):
            left = self.pace.of_all(cells[place:])
            self.display.begin(cell, done, total, left)
            try:
                result = self._run_one(cell, signals, folder)
            except KeyboardInterrupt:
                return True
            done += 1
            self.display.end(cell, result, done, total, self.pace.of_all(cells[place + 1 :]))
        return False

    def _run_one(self, cell: ExperimentCell, signals: _Interrupts, folder: Path) -> CellOutcome:
        """Raises KeyboardInterrupt; the cell is pending again then."""
        assert cell.key is not None
        where = CellFolder(_made(folder / f"cell-{cell.number}"), _made(folder / SHARED), self.store)
        self.experiments.start(self._key, cell.key, promised=self.pace.of(cell) + MARGIN)
        begun = self.clock()
        try:
            with signals.raised():
                result = self.run_cell(cell, self.plan.spec, where, self.display.at)
        except BaseException:
            self.experiments.give_back(self._key, cell.key)
            raise
        if result.state != "failed":
            self.pace.measured(cell, self.clock() - begun)
        self.experiments.finish(self._key, cell.key, result)
        shutil.rmtree(where.path, ignore_errors=True)
        return result


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


@contextmanager
def _folder(spec: Experiment) -> Iterator[Path]:
    """The folder for files of cells during the session."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-experiment-", ignore_cleanup_errors=True) as name:
        try:
            yield Path(name)
        finally:
            if any(each.target.git for each in spec.variants):
                clean_up(spec.folder, Path(name) / SHARED)


class _Interrupts:
    """Signals: within a cell a KeyboardInterrupt, each time; elsewhere they are remembered, so that what is being kept
    is kept whole. After the second one the process ends soon in any case."""

    def __init__(self) -> None:
        self.seen = False
        self._raises = False

    @contextmanager
    def handled(self) -> Iterator[_Interrupts]:
        with interrupts.passed_to(self._interrupt):
            yield self

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Within this they are raised. One that came just before is raised at once."""
        self._raises = True
        try:
            if self.seen:
                raise KeyboardInterrupt
            yield
        finally:
            self._raises = False

    def _interrupt(self, is_first: bool) -> None:
        interrupts.write(ONCE if is_first else AGAIN)
        self.seen = True
        if not is_first:
            interrupts.hurry()
        if self._raises:
            raise KeyboardInterrupt

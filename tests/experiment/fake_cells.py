"""What stands in for targets, generators and terminals."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

from plimsoll.record.manifest import Manifest, StoredScenario
from plimsoll.store.cells import CellOutcome, run_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.experiment.cell_values import CellFolder, ExperimentCell
    from plimsoll.experiment.spec import Experiment
    from plimsoll.store import Store


class FakeCells:
    """In place of `run_cell`: keeps a run at once, and what is told of a cell is what a test wants."""

    def __init__(self, store: Store, **results: Callable[[ExperimentCell], CellOutcome]) -> None:
        """results: by variant; a valid cell otherwise."""
        self._store = store
        self._results = results
        self.seen: list[str] = []
        self.folders: list[CellFolder] = []

    def __call__(
        self, cell: ExperimentCell, spec: Experiment, where: CellFolder, report: Callable[[str], None], /
    ) -> CellOutcome:
        self.seen.append(cell.label)
        self.folders.append(where)
        assert where.path.is_dir() and not list(where.path.iterdir())
        report("measuring")
        # As a real one does it: the run says which cell it is.
        writer = self._store.start_run(
            Manifest(started=time.time(), scenario=StoredScenario(name=run_name(spec.name, cell.label)))
        )
        if cell.variant in self._results:
            return self._results[cell.variant](cell)
        writer.finish("finished", time.time())
        return CellOutcome("valid", run=writer.id, phases={"measure": 10.0})


def interrupted_cell(_: ExperimentCell) -> CellOutcome:
    """By Ctrl-C, in the middle of a run."""
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)
    raise AssertionError("nobody was interrupted")


class FakeDisplay:
    def __init__(self) -> None:
        self.begun: list[tuple[str, int, int, float]] = []
        self.ended: list[tuple[str, str, int]] = []
        self.texts: list[str] = []

    def __enter__(self) -> FakeDisplay:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def begin(self, cell: ExperimentCell, done: int, total: int, left: float) -> None:
        self.begun.append((cell.label, done, total, left))

    def at(self, text: str) -> None:
        self.texts.append(text)

    def end(self, cell: ExperimentCell, result: CellOutcome, done: int, total: int, left: float) -> None:
        self.ended.append((cell.label, result.state, done))

    def write(self, text: str) -> None:
        self.texts.append(text)

"""What an experiment shows while it runs: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from plimsoll.say.durations import rough_duration

if TYPE_CHECKING:
    from typing import Self, TextIO

    from rich.console import Console

    from plimsoll.experiment.cell_values import ExperimentCell
    from plimsoll.store.cells import CellOutcome


def outcome(cell: ExperimentCell, result: CellOutcome, done: int, total: int, left: float) -> str:
    """One line of a cell that is over."""
    state = "valid" if result.state == "valid" else f"{result.state.upper()}: {result.reason}"
    seconds = rough_duration(sum(result.phases.values()))
    rest = f"; ≈ {rough_duration(left)} left" if left >= 1 else ""
    return f"[{done}/{total}] {cell.label}: {state} ({seconds}{rest})"


class ExperimentDisplay:
    """A line for each cell that is over. A context manager."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop showing."""

    def begin(self, cell: ExperimentCell, done: int, total: int, left: float) -> None:
        """A cell is begun. left: seconds until the last one is over."""

    def at(self, text: str) -> None:
        """What the cell is at."""

    def end(self, cell: ExperimentCell, result: CellOutcome, done: int, total: int, left: float) -> None:
        self.write(outcome(cell, result, done, total, left))

    def write(self, text: str) -> None:
        """Whole lines, without the last line end."""
        print(text, file=self._stream, flush=True)


class ProgressBar(ExperimentDisplay):
    """A bar that stays at the bottom of the terminal; the lines scroll by above it."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, Progress, TextColumn

        super().__init__()
        self._console = console or RichConsole(stderr=True, highlight=False)
        self._progress = Progress(
            TextColumn("{task.completed:.0f}/{task.total:.0f}"),
            BarColumn(24),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.description}", markup=False),
            console=self._console,
            transient=True,
            # Few changes, and a thread that draws more often would take time from what is measured.
            refresh_per_second=1,
        )
        self._task = self._progress.add_task("", total=1, left="")
        self._cell = ""

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def begin(self, cell: ExperimentCell, done: int, total: int, left: float) -> None:
        self._cell = cell.label
        self._progress.update(
            self._task, completed=done, total=total, left=f"≈ {rough_duration(left)} left", description=self._cell
        )

    def at(self, text: str) -> None:
        self._progress.update(self._task, description=f"{self._cell}: {text}")

    def end(self, cell: ExperimentCell, result: CellOutcome, done: int, total: int, left: float) -> None:
        self._progress.update(self._task, completed=done, left=f"≈ {rough_duration(left)} left")
        super().end(cell, result, done, total, left)

    def write(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)


def display() -> ExperimentDisplay:
    return ProgressBar() if sys.stderr.isatty() else ExperimentDisplay()

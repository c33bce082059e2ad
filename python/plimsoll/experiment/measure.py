"""One run of a cell in a process of its own."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll.errors import PlimsollError
from plimsoll.experiment.cell_values import CellError
from plimsoll.experiment.planned_cell import planned_cell
from plimsoll.load.plan_file import read_plan
from plimsoll.run.coordinator.run_clock import offset
from plimsoll.run.planning import WAITING_S
from plimsoll.run.supervised import generator
from plimsoll.run.supervised.process import StartError
from plimsoll.say.durations import format_duration

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.experiment.cell_values import CellFolder, ExperimentCell
    from plimsoll.experiment.spec import Experiment, Scenario
    from plimsoll.experiment.target import CellTarget
    from plimsoll.run.supervised.process import Process, ProcessEnd

LOOK_SECONDS = 0.5
"""Between looks at whether the target is still there."""
CRASH_SECONDS = 2.0
"""A run goes on for so long after its target ended: its failures are to be seen."""
SLACK_SECONDS = 60.0
"""What starting, stopping and reporting may take beyond what was asked for."""
UNKNOWN_SECONDS = 6 * 3600.0
"""Limit of a run whose length is not known beforehand."""


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run that is in the store, whatever it is worth."""

    run_id: str
    reasons: tuple[str, ...]
    """Why its numbers must not be used."""
    start: float
    """Of the monotonic clock: second 0 of the run."""
    end: float
    seconds_until_crash: float | None
    """Since second 0, if the target ended meanwhile."""


def loaded_seconds(scenario: Scenario, spec: Experiment, url: str) -> float | None:
    """How long the target is to be loaded, the warm-up included; None when it is not known."""
    run_time = scenario.run_time
    if run_time is None and scenario.plan is not None:
        run_time = _length_of_plan(spec.path(scenario.plan), url)
    return scenario.warmup + run_time if run_time is not None else None


def _length_of_plan(path: Path, url: str) -> float | None:
    try:
        plan = read_plan(str(path), url)
    except PlimsollError:
        return None  # the run itself says what is wrong
    if plan.load is not None and plan.load.seconds is not None:
        return plan.load.seconds  # a warm-up of its own is part of that
    return plan.run_time


class Measurement:
    """Starts the run, waits for it, and looks whether the target is still there.

    observe: what the run observes of it.
    """

    def __init__(
        self, cell: ExperimentCell, spec: Experiment, where: CellFolder, target: CellTarget, observe: tuple[str, ...]
    ) -> None:
        self._summary = where.path / "summary.json"
        try:
            planned = planned_cell(
                cell, spec, target.url, store=where.store, summary=self._summary, outputs=where.outputs
            )
        except PlimsollError as error:
            raise CellError(f"the run cannot be planned: {error}") from error
        # Not among the words of its command: the next target has other processes.
        labels = {
            "experiment": spec.name, "variant": cell.variant, "level": str(cell.level or ""),
            "operation": cell.operation, "repeat": str(cell.repeat),
        }  # fmt: skip
        known = {name: text for name, text in labels.items() if text}
        outputs = replace(planned.outputs, observe=(*planned.outputs.observe, *observe), labels=known)
        self._planned = replace(planned, outputs=outputs)
        self._command = self._planned.plan.command
        self._folder = where.path
        self._cwd = spec.folder
        self._target = target
        scenario = spec.scenario(cell.operation)
        stop = scenario.stop_timeout if scenario.stop_timeout is not None else WAITING_S
        self._grace = stop + SLACK_SECONDS / 2
        self._loaded = loaded_seconds(scenario, spec, target.url)
        self._limit = UNKNOWN_SECONDS if self._loaded is None else self._loaded + stop + SLACK_SECONDS

    def run(self) -> MeasuredRun:
        """Raises CellError when there is no run that was kept. A KeyboardInterrupt is passed to the run, once, and goes
        on when that has ended."""
        try:
            run = generator.start(self._planned, self._folder, "run", grace=self._grace, cwd=self._cwd)
        except StartError as error:
            raise CellError(f"the run cannot be started: {error}", command=self._command) from error
        # Leaving early, by a KeyboardInterrupt too, stops it: that interrupts it once, and gives it time to end well.
        with run:
            ending = self._attend(run)
        return self._read(run, ending)

    def _attend(self, run: Process) -> ProcessEnd:
        began = time.monotonic()
        deadline = began + self._limit
        # When it is about to end by itself, a signal may come while it writes its results.
        interruptible_until = began + (self._limit if self._loaded is None else self._loaded - CRASH_SECONDS)
        interrupted = False
        while (ending := run.wait(LOOK_SECONDS)) is None:
            now = time.monotonic()
            crash = self._target.ended()
            if crash is not None and crash.at + CRASH_SECONDS < now < interruptible_until and not interrupted:
                interrupted = True
                deadline = min(deadline, now + self._grace)
                run.interrupt()
            if now > deadline:
                run.stop()
                raise CellError(
                    f"the run did not end within {format_duration(self._limit)}",
                    command=self._command, log=run.tail(),
                )  # fmt: skip
        return ending

    def _read(self, run: Process, ending: ProcessEnd) -> MeasuredRun:
        summary = generator.summary_of(self._summary)
        described = summary.get("run") or {}
        run_id = described.get("id")
        if ending.status == generator.USAGE or ending.status < 0 or run_id is None:
            raise CellError(
                f"`{shlex.join(self._command)}` failed: {ending}",
                command=self._command,
                ending=str(ending),
                log=run.tail(),
            )
        start = float(described["started"]) - offset()
        end = float(described["ended"] or time.time()) - offset()
        crash = self._target.ended()
        # A target that ended while the run was coming to its end was still loaded.
        crashed = crash is not None and crash.at <= max(end, ending.at)
        reasons = [each["text"] for each in summary["validity"]["checks"] if each["state"] == "failed"]
        if described["status"] == "stopped" and not crashed:
            reasons.insert(0, "the run was stopped before its end")
        until = max(0.0, crash.at - start) if crash is not None and crashed else None
        return MeasuredRun(str(run_id), tuple(reasons), start, end, until)

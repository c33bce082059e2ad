"""Cells that tests run for real, and a watch over the processes that they start."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from plimsoll.experiment.cell import run_cell
from plimsoll.experiment.cell_values import CellFolder, ExperimentCell
from plimsoll.experiment.spec import Experiment, Healthy, Hooks, Scenario, Target, Variant
from plimsoll.stats.study import Level
from plimsoll.store.cells import CellOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator

TIMEOUT_S = 60.0
"""Seconds after which a test gives up, also on a machine that is busy with other things."""

NO_HOOKS = Hooks()
PROGRAM = Path(__file__).with_name("files") / "target.py"
MARK_VARIABLE = "PLIMSOLL_TEST_MARK"


def marked_processes(process_mark: str) -> list[int]:
    """Processes that were started by this test, however far down."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(MARK_VARIABLE) == process_mark:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def all_ended(process_mark: str, within: float = TIMEOUT_S) -> bool:
    """Whether there are none any more before the time is over."""
    deadline = time.monotonic() + within
    while left := marked_processes(process_mark):
        if time.monotonic() > deadline:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
def process_mark(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What the processes of a test are known by; none of them may be left when it is over."""
    own = secrets.token_hex(8)
    monkeypatch.setenv(MARK_VARIABLE, own)
    yield own
    left = marked_processes(own)
    assert all_ended(own, within=0.0), f"processes {left} were left running"


def target(*mode: str, **given: Any) -> Target:
    """The target program in one of its modes."""
    start = ("{python}", str(PROGRAM), "{port}", *mode)
    healthy = Healthy(path="/", within=TIMEOUT_S)
    return Target(**{"url": "http://127.0.0.1:{port}", "start": start, "healthy": healthy, **given})


def experiment(
    folder: Path, what: Target, hooks: Hooks = NO_HOOKS, *, name: str = "a", run_time: float = 1.0, **given: Any
) -> Experiment:
    """One variant, under two native users."""
    scenario = Scenario(url="/", run_time=run_time)
    return Experiment(
        **{
            "name": "trial",
            "file": str(folder / "experiment.toml"),
            "scenarios": (scenario,),
            "variants": (Variant(name, what, hooks=hooks),),
            "cool_down": 0.0,
            **given,
        }
    )


def cell(**given: Any) -> ExperimentCell:
    return ExperimentCell(
        **{"number": 1, "repeat": 1, "variant": "a", "level": Level("users", 2), "operation": "", "seed": 7, **given}
    )


def folder_in(path: Path) -> CellFolder:
    own, shared = path / "cell", path / "shared"
    own.mkdir()
    shared.mkdir()
    return CellFolder(own, shared, str(path / "plimsoll.db"))


def run(path: Path, spec: Experiment, **given: Any) -> CellOutcome:
    """A cell from beginning to end, in a folder of its own."""
    return run_cell(cell(**given), spec, folder_in(path), lambda _: None)


def python(code: str, *words: str) -> list[str]:
    return [sys.executable, "-c", code, *words]

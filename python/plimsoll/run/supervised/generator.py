"""The generator as a process of its own. It gets its plan as data, not as a command line."""

from __future__ import annotations

import json
import signal
import sys
from typing import TYPE_CHECKING, Any

from plimsoll.run.supervised.process import Process

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.run.planned import PlannedRun

CHILD = "plimsoll.run.supervised.child"
USAGE = 2
"""Exit code of a run that could not begin, or broke down."""


def start(run: PlannedRun, folder: Path, name: str, *, grace: float, cwd: Path | None = None) -> Process:
    """What it prints is in NAME.out and NAME.err of the folder. Raises StartError."""
    file = folder.absolute() / f"{name}.json"
    run.write(file)
    return Process(
        # -P: what lies in the current folder must not come before our own modules.
        [sys.executable, "-P", "-m", CHILD, str(file)],
        output=folder / f"{name}.out", errors=folder / f"{name}.err", cwd=cwd,
        # Its own workers leave it to their coordinator what this signal means.
        ask=signal.SIGINT, grace=grace,
    )  # fmt: skip


def summary_of(path: Path) -> dict[str, Any]:
    """What `--summary` wrote; {} when there is none, as the run could not begin."""
    try:
        summary: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return summary

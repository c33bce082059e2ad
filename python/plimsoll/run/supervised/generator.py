"""The generator as a process of its own: `plimsoll run …`, with words that a person could type."""

from __future__ import annotations

import json
import signal
import sys
from typing import TYPE_CHECKING, Any

from plimsoll.run.supervised.process import Process

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

USAGE = 2
"""Exit code of a run that could not begin, or broke down."""


def command_of(words: Sequence[str]) -> list[str]:
    """words: what follows `plimsoll`."""
    # -P: what lies in the current folder must not come before our own modules.
    return [sys.executable, "-P", "-m", "plimsoll", *words]


def start(words: Sequence[str], folder: Path, name: str, *, grace: float, cwd: Path | None = None) -> Process:
    """What it prints is in NAME.out and NAME.err of the folder. Raises StartError."""
    return Process(
        command_of(words), output=folder / f"{name}.out", errors=folder / f"{name}.err", cwd=cwd,
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

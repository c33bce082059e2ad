"""Where the workers of a run join, kept on this machine as long as the run goes on. If its command is lost, the workers
look for their master there, and `plimsoll run --attach` listens there."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

FOLDER = ".plimsoll/masters"
"""In the home of the user: a file for each run, which only this user can read."""
KEPT_S = 86_400.0
"""Seconds after which a file is of no use any more, as no worker waits for so long."""


@dataclass(frozen=True, slots=True)
class MasterKey:
    """What lets the workers of a run find another master."""

    host: str
    """Where it listens, as `--master-bind-host` says."""
    port: int
    token: str = field(repr=False)

    def keep(self, run: str) -> None:
        """Until `forget`. In a home that cannot be written to, nothing is kept: options of `--attach` say it then."""
        path = _path(run)
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _remove_old(path.parent)
            with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as stream:
                json.dump(asdict(self), stream)


def known_key(run: str) -> MasterKey | None:
    """What is kept for the run; None if there is nothing, or nothing that can be read."""
    with suppress(OSError, ValueError, TypeError):
        return MasterKey(**json.loads(_path(run).read_text()))
    return None


def forget(run: str) -> None:
    """The run has ended."""
    with suppress(OSError):
        _path(run).unlink()


def _path(run: str) -> Path:
    return Path.home() / FOLDER / f"{run}.json"


def _remove_old(folder: Path) -> None:
    for path in folder.glob("*.json"):
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - KEPT_S:
                path.unlink()

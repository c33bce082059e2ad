"""A run that is checked and can begin, as one process hands it to another."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.run.outputs import Outputs
from plimsoll.run.plan import RunPlan

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """What is to be run, and where its results go."""

    plan: RunPlan
    """Its command is the one that a person can type for the same run."""
    outputs: Outputs

    def write(self, file: Path) -> None:
        """Only this user can read the file: scenarios have credentials."""
        text = json.dumps({"plan": self.plan.to_dict(), "outputs": self.outputs.to_dict()})
        with os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as stream:
            stream.write(text)

    @classmethod
    def take(cls, file: Path) -> PlannedRun:
        """What `write` wrote. The file is removed."""
        data = json.loads(file.read_text())
        file.unlink()
        return cls(RunPlan.from_dict(data["plan"]), Outputs.from_dict(data["outputs"]))

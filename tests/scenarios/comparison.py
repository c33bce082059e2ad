"""What har2locust makes of a recording: a locustfile that sends what was recorded."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.scenarios.application import PYTHON

if TYPE_CHECKING:
    from pathlib import Path

_TIMEOUT_S = 300.0


@dataclass(frozen=True, slots=True)
class Har2locust:
    """Its locustfile, played once by one user."""

    taken: int
    """Assignments of values from replies."""
    requests: int
    failed: int
    """Requests that the application refused."""


def by_har2locust(recording: Path, folder: Path) -> Har2locust:
    """folder: for its files. The application has to run."""
    environment = {**os.environ, "PATH": f"{PYTHON}{os.pathsep}{os.environ['PATH']}"}
    text = subprocess.run(
        [PYTHON / "har2locust", recording], env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S,
        check=True,
    ).stdout  # fmt: skip
    (folder / "har2locust_file.py").write_text(text)
    subprocess.run(
        [sys.executable, "-m", "plimsoll", "run", "-f", "har2locust_file.py", "--headless", "--only-summary", "-u", "1",
         "--iterations", "1", "--store", "har2locust.db", "--summary", "har2locust.json"],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=False,
    )  # fmt: skip
    rows = json.loads((folder / "har2locust.json").read_text())["endpoints"]
    taken = len(re.findall(r"^\s+\w+ = .*\bresp\b", text, re.MULTILINE))
    return Har2locust(taken, sum(row["requests"] for row in rows), sum(row["failures"] for row in rows))

"""What a case needs besides the two tools: servers that it starts, and client libraries."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from .tool import TOOLS

if TYPE_CHECKING:
    from .case import Run

_IMPORTABLE = "import sys; from importlib.util import find_spec as find; sys.exit(not all(map(find, sys.argv[1:])))"


def missing(run: Run) -> list[str]:
    """Of its needs, those that are neither programs on the PATH nor modules that both tools can import."""
    return [need for need in run.needs if shutil.which(need) is None and not _is_module(need)]


@cache
def _is_module(name: str) -> bool:
    pythons = [Path(tool.python[0]).with_name("python") for tool in TOOLS]
    commands = [[python, "-c", _IMPORTABLE, name] for python in pythons]
    return not any(subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode for command in commands)

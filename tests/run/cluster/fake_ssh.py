"""A program `ssh` that runs what it is given here, with a home for each host."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

SCRIPT = """#!/bin/sh
while [ "$1" = -o ]; do shift 2; done
export HOME="{homes}/$1"
mkdir -p "$HOME"
shift
exec $*
"""


def put_ssh(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First on the PATH. The homes are in `homes` of the folder."""
    program = folder / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text(SCRIPT.format(homes=folder / "homes"))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

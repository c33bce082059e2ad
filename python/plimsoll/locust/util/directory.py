"""Files of a folder and of those in it."""

from __future__ import annotations

import os
from pathlib import Path


def get_abspaths_in(path: str, extension: str | None = None) -> list[str]:
    """Absolute paths of all files below path that end in extension, except those whose name begins with "_"."""
    return [
        str(Path(folder).absolute() / name)
        for folder, _, names in os.walk(path)
        for name in names
        if not name.startswith("_") and (extension is None or name.endswith(extension))
    ]

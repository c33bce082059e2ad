"""The build backend: builds the page, then calls maturin. For `pip install` and `python -m build`.

In a clone it builds the page, which needs Node; a source distribution contains the built page.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import maturin
from maturin import (  # hooks that do not need the page
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

ROOT = Path(__file__).resolve().parents[1]
PAGE = tuple(ROOT / "python" / "plimsoll" / "web" / name for name in ("live/index.html", "report.js", "report.css"))


def build_wheel(*args: Any, **kwargs: Any) -> str:
    page()
    return maturin.build_wheel(*args, **kwargs)


def build_sdist(*args: Any, **kwargs: Any) -> str:
    page()
    return maturin.build_sdist(*args, **kwargs)


def build_editable(*args: Any, **kwargs: Any) -> str:
    page()
    return maturin.build_editable(*args, **kwargs)


def page() -> None:
    """Ensures that the page exists and is up to date. Otherwise ends the process with a one-line message."""
    if (ROOT / "web" / "package.json").is_file():
        try:
            built = (
                subprocess.run(["make", "--no-print-directory", "page"], cwd=ROOT, stdout=sys.stderr).returncode == 0
            )
        except FileNotFoundError:
            print("missing: make", file=sys.stderr)
            built = False
        if not built:
            sys.exit(
                "plimsoll: the page cannot be built, as said above. `pip install plimsoll-lab` needs no tools for it"
            )
    missing = [str(path.relative_to(ROOT)) for path in PAGE if not path.is_file()]
    if missing:
        sys.exit(f"plimsoll: the page is missing ({', '.join(missing)}): build from a clone, or install a wheel")

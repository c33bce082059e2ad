"""The build backend: maturin, behind the page. `pip install .`, `pip install git+…` and `python -m build` come in here.

A clone has the sources of the page and builds it, which takes Node; a source distribution has the page.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import maturin
from maturin import (  # hooks that need no page
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
    """Makes sure that the page is there and as its sources are. Ends the process with one line when it cannot be."""
    if (ROOT / "web" / "package.json").is_file():
        try:
            built = (
                subprocess.run(["make", "--no-print-directory", "page"], cwd=ROOT, stdout=sys.stderr).returncode == 0
            )
        except FileNotFoundError:
            print("missing: make", file=sys.stderr)
            built = False
        if not built:
            sys.exit("plimsoll: the page cannot be built, as said above. `pip install plimsoll` needs no tools for it")
    missing = [str(path.relative_to(ROOT)) for path in PAGE if not path.is_file()]
    if missing:
        sys.exit(f"plimsoll: the page is missing ({', '.join(missing)}): build from a clone, or install a wheel")

"""The distribution that pip installs. It is called `plimsoll-lab`, because `plimsoll` on the package index is another
project; the command and the package to import are called `plimsoll`."""

from __future__ import annotations

import sys
from importlib import import_module

NAME = "plimsoll-lab"


def with_extra(extra: str) -> str:
    """What pip installs for an optional part, for example `plimsoll-lab[otlp]`."""
    return f"{NAME}[{extra}]"


def pip_install(extra: str) -> str:
    """The command that installs an optional part."""
    return f"pip install '{with_extra(extra)}'"


def foreign_files() -> str | None:
    """What to do if the other project has replaced files of this package; None if it has not.

    Both have a `plimsoll/__init__.py`: whichever is installed last writes it, and pip removes it with either of them.
    """
    package, engine = sys.modules["plimsoll"], import_module("plimsoll._engine")
    if getattr(package, "__version__", None) == engine.__version__:
        return None
    return (
        "another project called plimsoll has replaced files of this one. Run: pip uninstall --yes plimsoll, then "
        f"pip install --force-reinstall --no-deps {NAME}"
    )

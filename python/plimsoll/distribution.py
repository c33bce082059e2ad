"""The distribution that pip installs.

It is called `plimsoll-lab`, because `plimsoll` on the package index is another project. The command and the package to
import are called `plimsoll`.

Both projects have a file `plimsoll/__init__.py`. Whichever is installed last writes it, and pip removes it with either
of them. Most of this package still works then, so that the first error comes late and names the wrong cause. So the
command looks before it does anything else.
"""

from __future__ import annotations

import sys
from importlib import import_module

NAME = "plimsoll-lab"


def with_extra(extra: str) -> str:
    """What pip installs for an optional part, for example `plimsoll-lab[otlp]`."""
    return f"{NAME}[{extra}]"


def pip_install(extra: str) -> str:
    """The command that installs an optional part.

    >>> pip_install("otlp")
    "pip install 'plimsoll-lab[otlp]'"
    """
    return f"pip install '{with_extra(extra)}'"


def foreign_files() -> str | None:
    """What to do if the other project has replaced files of this package; None if it has not."""
    package, engine = sys.modules["plimsoll"], import_module("plimsoll._engine")
    if getattr(package, "__version__", None) == engine.__version__:
        return None
    return (
        "another project called plimsoll has replaced files of this one. Run: pip uninstall --yes plimsoll, then "
        f"pip install --force-reinstall --no-deps {NAME}"
    )

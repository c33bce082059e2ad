"""Runs from Python: `plimsoll.run(…)` makes one, `plimsoll.open(…)` reads stored ones.

    import plimsoll

    run = plimsoll.run("plan.toml", users=20, run_time="30s")
    print(run)
    run.rows().to_pandas()

docs/guides/python-api.md shows it. Nothing here imports gevent: a run is made by a process of its own. What `VERSION`
counts is the names below, their fields, and the columns of their frames.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from plimsoll.api.frames import Table
from plimsoll.api.making import run
from plimsoll.api.reading import Run, RunComparison, RunStore, open
from plimsoll.api.values import FindingText, SecondRow

__all__ = ["VERSION", "FindingText", "Run", "RunComparison", "RunStore", "SecondRow", "Table", "open", "run"]

VERSION = 1
"""Names, fields and columns may be added within a version. It grows when one is removed or means something else."""


class _RunPackage(ModuleType):
    """The package `plimsoll.run` is what `plimsoll.run` names once something of it is imported, so it is callable."""

    def __call__(self, *words: Any, **options: Any) -> Run:
        return run(*words, **options)


sys.modules["plimsoll.run"].__class__ = _RunPackage

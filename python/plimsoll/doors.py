"""Members that other packages add to a registry: each door of Plimsoll has a group of entry points.

A package that adds a source of scenarios says so in its pyproject.toml:

    [project.entry-points."plimsoll.sources"]
    paw = "plimsoll_paw:SOURCE"

The groups, and the registries that they add to:

    plimsoll.findings     RULES in stats/findings/
    plimsoll.formats      FORMATS in report/formats.py
    plimsoll.importers    IMPORTERS in importers/reading.py
    plimsoll.observers    KINDS in observe/kinds.py
    plimsoll.outputs      OUTPUTS in outputs/kinds.py
    plimsoll.placers      PLACERS in run/placers/kinds.py
    plimsoll.shapes       SHAPES in load/shapes/registry.py
    plimsoll.sources      SOURCES in sources/reading.py
"""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, TypeVar

from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping
    from importlib.metadata import EntryPoint

T = TypeVar("T")


def members(group: str, kind: type[T], own: Mapping[str, T]) -> dict[str, T]:
    """Everything in a registry, by name: its own rows, and those that installed packages add. Raises UsageError as
    `added` does."""
    return {**own, **added(group, kind, own)}


def added(group: str, kind: type[T], own: Container[str]) -> dict[str, T]:
    """What installed packages add to a registry, by name. own: names that cannot be taken. Raises UsageError for an
    entry point that cannot be imported, or is of another type."""
    rows: dict[str, T] = {}
    for entry in _installed(tuple(sys.path))(group=group):
        if entry.name in own:
            continue
        try:
            member = entry.load()
        except Exception as error:  # what another package raises while it is imported
            raise UsageError(f"entry point {entry.name} of {group} ({entry.value}): {error}") from error
        if not isinstance(member, kind):
            raise UsageError(f"entry point {entry.name} of {group} ({entry.value}) is not a {kind.__name__}")
        rows[entry.name] = member
    return rows


@lru_cache(maxsize=1)
def _installed(path: tuple[str, ...]) -> Callable[..., Iterable[EntryPoint]]:
    """Selects among the entry points of all that is installed. To read them takes 6 ms with 140 packages. path: where
    Python looks for packages."""
    return entry_points().select

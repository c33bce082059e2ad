"""Members that other packages add to a registry: each door of Plimsoll has a group of entry points.

A package that adds a source of scenarios says so in its pyproject.toml:

    [project.entry-points."plimsoll.sources"]
    paw = "plimsoll_paw:SOURCE"

The groups, and the registries that they add to:

    plimsoll.outputs    OUTPUTS in outputs/kinds.py
    plimsoll.sources    SOURCES in sources/reading.py
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, TypeVar

from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")


def members(group: str, kind: type[T], own: Mapping[str, T]) -> Mapping[str, T]:
    """Everything in a registry, by name: its own rows, and those that installed packages add. A name of its own cannot
    be taken. Raises UsageError for an entry point that cannot be imported, or is of another type."""
    added: dict[str, T] = {}
    for entry in entry_points(group=group):
        if entry.name in own:
            continue
        try:
            member = entry.load()
        except Exception as error:  # what another package raises while it is imported
            raise UsageError(f"entry point {entry.name} of {group} ({entry.value}): {error}") from error
        if not isinstance(member, kind):
            raise UsageError(f"entry point {entry.name} of {group} ({entry.value}) is not a {kind.__name__}")
        added[entry.name] = member
    return {**own, **added}

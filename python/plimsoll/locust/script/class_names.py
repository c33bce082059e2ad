"""The names of the classes that locustfiles define: users are started, counted and configured by them."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from plimsoll.errors import LocustfileError
from plimsoll.users.code_errors import shown

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

Kind = TypeVar("Kind")


def add_classes(
    kind: str, module: ModuleType, found: Iterable[type[Kind]], classes: dict[str, type[Kind]], files: dict[type, str]
) -> None:
    """Add the classes found in one module to those of other modules, by name.

    kind: what a message calls them. files: the file in which each class is defined. A file that another locustfile
    imports is executed twice: the first of its classes stays. Raises LocustfileError for two classes of one name.
    """
    own: dict[str, type[Kind]] = {}
    for cls in found:
        name, file = cls.__name__, _file(cls, module)
        hidden = own.setdefault(name, cls)
        if hidden is not cls:
            raise _refusal(kind, name, _file(hidden, module), file)
        known = classes.setdefault(name, cls)
        if files.setdefault(known, file) != file:
            raise _refusal(kind, name, files[known], file)


def _file(cls: type, module: ModuleType) -> str:
    # Several locustfiles may be modules of the same name, so the name of its module does not identify a class.
    if cls.__module__ == module.__name__:
        return str(module.__file__)
    try:
        return inspect.getfile(cls)
    except (TypeError, OSError):
        return cls.__module__


def _refusal(kind: str, name: str, *files: str) -> LocustfileError:
    places = " and ".join(dict.fromkeys(place for file in files for place in _places(file, name)))
    return LocustfileError(f"two {kind} classes are called {name}: {places}; rename one of them")


def _places(file: str, name: str) -> list[str]:
    """Where a file defines classes of this name."""
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return [shown(file)]
    lines = [each.lineno for each in ast.walk(tree) if isinstance(each, ast.ClassDef) and each.name == name]
    return [f"{shown(file)}:{line}" for line in lines] or [shown(file)]

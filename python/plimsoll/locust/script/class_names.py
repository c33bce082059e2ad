"""The names of the classes that locustfiles define: users are started, counted and configured by them."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from plimsoll.errors import LocustfileError
from plimsoll.users.code_errors import shown

if TYPE_CHECKING:
    from types import ModuleType

Kind = TypeVar("Kind")


class OneOfEachName(Generic[Kind]):
    """The classes of one kind in one module."""

    def __init__(self, kind: str, module: ModuleType) -> None:
        """kind: what a message calls them."""
        self._kind = kind
        self._module = module
        self._classes: dict[str, type[Kind]] = {}

    def add(self, cls: type[Kind]) -> None:
        """Raises LocustfileError when the module has another class of this name."""
        known = self._classes.setdefault(cls.__name__, cls)
        if known is not cls:
            raise self._refusal(cls.__name__, self._file(known), self._file(cls))

    def merge_into(self, classes: dict[str, type[Kind]], files: dict[type, str]) -> None:
        """Add them to those of other modules. files: where those are defined.

        A file that another locustfile imports is executed twice: the first of its classes stays. Raises LocustfileError
        when another file has a class of the same name.
        """
        for name, cls in self._classes.items():
            file, known = self._file(cls), classes.setdefault(name, cls)
            if files.setdefault(known, file) != file:
                raise self._refusal(name, files[known], file)

    def _file(self, cls: type) -> str:
        # Several locustfiles may be modules of one name, so that by its module a class cannot be found.
        if cls.__module__ == self._module.__name__:
            return str(self._module.__file__)
        try:
            return inspect.getfile(cls)
        except (TypeError, OSError):
            return cls.__module__

    def _refusal(self, name: str, *files: str) -> LocustfileError:
        places = " and ".join(dict.fromkeys(place for file in dict.fromkeys(files) for place in _places(file, name)))
        return LocustfileError(f"two {self._kind} classes are called {name}: {places}; rename one of them")


def _places(file: str, name: str) -> list[str]:
    """Where a file defines classes of this name."""
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return [shown(file)]
    lines = [each.lineno for each in ast.walk(tree) if isinstance(each, ast.ClassDef) and each.name == name]
    return [f"{shown(file)}:{line}" for line in lines] or [shown(file)]

"""Importing a locustfile from a program of one's own."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.locust.shape import LoadTestShape
from plimsoll.users.user import User

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType


def is_user_class(item: Any) -> bool:
    """A User class of which users are spawned."""
    return inspect.isclass(item) and issubclass(item, User) and item.abstract is False


def is_shape_class(item: Any) -> bool:
    """A LoadTestShape class that is not just a base of others."""
    return inspect.isclass(item) and issubclass(item, LoadTestShape) and not item.abstract


def load_locustfile(path: str) -> tuple[dict[str, type[User]], list[LoadTestShape]]:
    """Import a file; what it raises comes through.

    Returns its user classes by name, and an object of each of its shape classes. The working directory stays in
    sys.path, the file's own folder is there only meanwhile.
    """
    module = _import(Path(path))
    items = vars(module)
    users = {name: item for name, item in items.items() if is_user_class(item)}
    return users, [item() for item in items.values() if is_shape_class(item)]


def load_locustfile_pytest(path: str) -> dict[str, type[User]]:
    """A user class for each of a file's pytest functions, by name. Needs pytest."""
    from plimsoll.locust.pytest_user import collect

    return dict(collect(path))


def _import(path: Path) -> ModuleType:
    # A locustfile called locust.py must not become what `import locust` finds.
    name = "locustfile" if path.stem == "locust" else path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: not a Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(Path.cwd()))
    with _first_in_path(str(path.parent)):
        spec.loader.exec_module(module)
    return module


@contextmanager
def _first_in_path(directory: str) -> Iterator[None]:
    """What the file itself adds to sys.path stays there."""
    known = directory in sys.path
    if known:
        sys.path.remove(directory)
    sys.path.insert(0, directory)
    try:
        yield
    finally:
        if not known and directory in sys.path:
            sys.path.remove(directory)

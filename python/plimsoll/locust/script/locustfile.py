"""The user's own code: found and imported. Its mistakes are reported with the user's line, not with our traceback."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import LocustfileError
from plimsoll.locust import PLUGINS, load_plugins
from plimsoll.locust.script.class_names import OneOfEachName
from plimsoll.run.options.locustfiles import missing
from plimsoll.users.code_errors import broken

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    from plimsoll.locust.shape import LoadTestShape
    from plimsoll.users.user import User


@dataclass(slots=True)
class Loaded:
    """What the locustfiles define."""

    user_classes: dict[str, type[User]] = field(default_factory=dict)
    """The user classes that are not abstract, by name."""
    shape_classes: dict[str, type[LoadTestShape]] = field(default_factory=dict)
    """The load shape classes that are not abstract, by name."""
    files: dict[type, str] = field(default_factory=dict)
    """The file in which each class is defined."""


def load(paths: Sequence[str | Path]) -> Loaded:
    """Import the files in this process, each by its own name. Raises LocustfileError."""
    loaded = Loaded()
    sys.path.insert(0, str(Path.cwd()))
    try:
        load_plugins()
    except (Exception, SystemExit) as error:
        raise broken(error, f"importing {PLUGINS}, which is installed") from error
    modules = [_import(Path(path)) for path in paths]
    for module in modules:
        _collect(module, loaded)
    if not loaded.user_classes:
        _collect_tests(modules, loaded)
    if not loaded.user_classes:
        files = ", ".join(str(path) for path in paths)
        raise missing(f"{files}: no user class in it; define one: class Visitor(HttpUser) with a @task")
    return loaded


def pick(loaded: Loaded, names: Iterable[str]) -> list[type[User]]:
    """The classes of these names, all without names; ordered by name. Raises LocustfileError for an unknown one."""
    wanted = set(names) or set(loaded.user_classes)
    if unknown := sorted(wanted - set(loaded.user_classes)):
        known = ", ".join(sorted(loaded.user_classes))
        raise missing(f"unknown user class: {', '.join(unknown)}; the locustfile has {known}")
    return [loaded.user_classes[name] for name in sorted(wanted)]


def _import(path: Path) -> ModuleType:
    directory = str(path.parent)
    if directory in sys.path:
        sys.path.remove(directory)
    sys.path.insert(0, directory)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise LocustfileError(f"{path}: not a Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise broken(error, f"importing {path}") from error
    return module


def _collect(module: ModuleType, loaded: Loaded) -> None:
    from plimsoll.locust.shape import LoadTestShape
    from plimsoll.users.user import User

    users, shapes = OneOfEachName[User]("user", module), OneOfEachName[LoadTestShape]("shape", module)
    for name, item in vars(module).items():
        if not inspect.isclass(item) or name.startswith("__") or _is_ours(item):
            continue
        if issubclass(item, User) and not item.abstract:
            users.add(item)
        elif issubclass(item, LoadTestShape) and not item.abstract:
            shapes.add(item)
    users.merge_into(loaded.user_classes, loaded.files)
    shapes.merge_into(loaded.shape_classes, loaded.files)


def _collect_tests(modules: Sequence[ModuleType], loaded: Loaded) -> None:
    """Test functions are users where there are no user classes."""
    for module in modules:
        if any(name.lower().startswith("test") and callable(item) for name, item in vars(module).items()):
            # Not before, and for nothing else: pytest need not be installed.
            from plimsoll.locust.pytest_user import collect

            assert module.__file__ is not None
            loaded.user_classes = collect(module.__file__) | loaded.user_classes


def _is_ours(item: type) -> bool:
    return item.__module__.partition(".")[0] in ("plimsoll", "locust")

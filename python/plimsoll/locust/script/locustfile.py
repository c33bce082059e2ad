"""Finds and imports user code. Errors are reported with the user's line, not with our traceback."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import plimsoll.users.http.replaced  # noqa: F401 - before a locustfile may replace functions of requests
from plimsoll.errors import LocustfileError
from plimsoll.locust import PLUGINS, load_plugins
from plimsoll.locust.shape import LoadTestShape
from plimsoll.users.code_errors import broken, shown
from plimsoll.users.user import User

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

Kind = TypeVar("Kind")


@dataclass(slots=True)
class Loaded:
    """The definitions in the locustfiles."""

    user_classes: dict[str, type[User]] = field(default_factory=dict)
    """The concrete user classes, by name."""
    shape_classes: dict[str, type[LoadTestShape]] = field(default_factory=dict)
    """The concrete load shape classes, by name."""
    files: dict[type, str] = field(default_factory=dict)
    """The file in which each class is defined."""


def load(paths: Sequence[str | Path]) -> Loaded:
    """Import the files in this process, each under its own name. Raises LocustfileError."""
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
        raise LocustfileError(f"{files}: no user class in it; define one: class Visitor(HttpUser) with a @task")
    return loaded


def pick(loaded: Loaded, names: Iterable[str]) -> list[type[User]]:
    """The classes with these names, or all; ordered by name. Raises LocustfileError for an unknown name."""
    wanted = set(names) or set(loaded.user_classes)
    if unknown := sorted(wanted - set(loaded.user_classes)):
        known = ", ".join(sorted(loaded.user_classes))
        raise LocustfileError(f"unknown user class: {', '.join(unknown)}; the locustfile has {known}")
    return [loaded.user_classes[name] for name in sorted(wanted)]


def load_locustfile(path: str) -> tuple[dict[str, type[User]], list[LoadTestShape]]:
    """Import one file, for a program; its exceptions propagate.

    Returns its user classes by name, and an object of each of its shape classes. The working directory stays in
    sys.path. The file's own folder is there only during the import; additions of the file to sys.path stay.
    """
    sys.path.insert(0, str(Path.cwd()))
    folder = str(Path(path).parent)
    is_known = folder in sys.path
    _put_first_in_path(folder)
    try:
        items = vars(_execute(Path(path)))
    finally:
        if not is_known and folder in sys.path:
            sys.path.remove(folder)
    users = {name: item for name, item in items.items() if is_user_class(item)}
    return users, [item() for item in items.values() if is_shape_class(item)]


def load_locustfile_pytest(path: str) -> dict[str, type[User]]:
    """A user class for each of a file's pytest functions, by name. Needs pytest."""
    # Here, because pytest need not be installed.
    from plimsoll.locust.pytest_user import collect

    return dict(collect(path))


def is_user_class(item: Any) -> bool:
    """A User class that is not abstract."""
    return inspect.isclass(item) and issubclass(item, User) and item.abstract is False


def is_shape_class(item: Any) -> bool:
    """A LoadTestShape class that is not abstract."""
    return inspect.isclass(item) and issubclass(item, LoadTestShape) and not item.abstract


def _import(path: Path) -> ModuleType:
    _put_first_in_path(str(path.parent))
    try:
        return _execute(path)
    except (Exception, SystemExit) as error:
        raise broken(error, f"importing {path}") from error


def _put_first_in_path(folder: str) -> None:
    if folder in sys.path:
        sys.path.remove(folder)
    sys.path.insert(0, folder)


def _execute(path: Path) -> ModuleType:
    """The file as a new module. Raises ImportError for a file that is not Python, and the file's exceptions."""
    # `import locust` must not find a locustfile named locust.py.
    name = "locustfile" if path.stem == "locust" else path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: not a Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _collect(module: ModuleType, loaded: Loaded) -> None:
    own = [item for name, item in vars(module).items() if not (name.startswith("__") or _is_ours(item))]
    add_classes("user", module, filter(is_user_class, own), loaded.user_classes, loaded.files)
    add_classes("shape", module, filter(is_shape_class, own), loaded.shape_classes, loaded.files)


def _collect_tests(modules: Sequence[ModuleType], loaded: Loaded) -> None:
    """Test functions are users if there are no user classes."""
    for module in modules:
        if any(name.lower().startswith("test") and callable(item) for name, item in vars(module).items()):
            assert module.__file__ is not None
            loaded.user_classes = load_locustfile_pytest(module.__file__) | loaded.user_classes


def _is_ours(item: Any) -> bool:
    return str(getattr(item, "__module__", "")).partition(".")[0] in ("plimsoll", "locust")


def add_classes(
    kind: str, module: ModuleType, found: Iterable[type[Kind]], classes: dict[str, type[Kind]], files: dict[type, str]
) -> None:
    """Add the classes found in one module to those of other modules, by name.

    kind: their name in messages. files: the file that defines each class. A file that another locustfile imports is
    executed twice: the first of its classes stays. Raises LocustfileError for two classes with the same name.
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
    # Several locustfiles may be modules of the same name, so the module name does not identify a class.
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
    """The lines of a file that define classes with this name."""
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return [shown(file)]
    lines = [each.lineno for each in ast.walk(tree) if isinstance(each, ast.ClassDef) and each.name == name]
    return [f"{shown(file)}:{line}" for line in lines] or [shown(file)]

"""The user's own code: found, imported, and its faults told by the user's own line, not by our traceback."""

from __future__ import annotations

import importlib.util
import inspect
import linecache
import sys
import sysconfig
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import plimsoll
from plimsoll.errors import LocustfileError
from plimsoll.locust import PLUGINS, load_plugins
from plimsoll.locust.script.class_names import OneOfEachName, shown
from plimsoll.locust.script.missing import hint

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType, TracebackType

    from plimsoll.locust.shape import LoadTestShape
    from plimsoll.users.user import User

DEFAULT = "locustfile.py"
EXIT_NO_USERS = 1
"""Locust's exit code where no locustfile, no user class or not the one asked for was found, or `init` failed."""

_OWN = Path(plimsoll.__file__).parent
_FOREIGN = tuple(str(Path(sysconfig.get_path(name))) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


@dataclass(slots=True)
class Loaded:
    """What the locustfiles define."""

    user_classes: dict[str, type[User]] = field(default_factory=dict)
    """Those that are not abstract, by name."""
    shape_classes: dict[str, type[LoadTestShape]] = field(default_factory=dict)
    """The same of shapes."""
    files: dict[type, str] = field(default_factory=dict)
    """Where they are defined."""


def find(argument: str) -> list[Path]:
    """The files that `-f` names: one, several with commas between, or all of a folder, as absolute paths.

    ".py" may be left out. Raises LocustfileError when there is none.
    """
    found = [path for part in argument.split(",") for path in _find_one(part.strip())]
    if not found:
        raise _missing(f"no .py file in {argument}")
    return found


def _find_one(argument: str) -> list[Path]:
    if argument.startswith(("http://", "https://")):
        from plimsoll.locust.options.download import download

        return [download(argument)]
    if argument == "-":
        raise LocustfileError("-f -: workers get the locustfile by themselves here; name the file")
    path = Path(argument).expanduser()
    if path.is_dir():
        files = (each for each in sorted(path.rglob("*.py")) if not each.name.startswith("_"))
        return [each.absolute() for each in files]
    for candidate in (path, path.with_name(path.name + ".py")):
        if candidate.is_file():
            return [candidate.absolute()]
    if argument == DEFAULT:
        raise _missing(f"no {DEFAULT} in {Path.cwd()}; name another file with -f, or give a URL: plimsoll run http://…")
    raise _missing(f"locustfile not found: {path.absolute()}")


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
        raise _missing(f"{files}: no user class in it; define one: class Visitor(HttpUser) with a @task")
    return loaded


def pick(loaded: Loaded, names: Iterable[str]) -> list[type[User]]:
    """The classes of these names, all without names; ordered by name. Raises LocustfileError for an unknown one."""
    wanted = set(names) or set(loaded.user_classes)
    if unknown := sorted(wanted - set(loaded.user_classes)):
        known = ", ".join(sorted(loaded.user_classes))
        raise _missing(f"unknown user class: {', '.join(unknown)}; the locustfile has {known}")
    return [loaded.user_classes[name] for name in sorted(wanted)]


def broken(error: BaseException, doing: str) -> LocustfileError:
    """What the user's code raised, as one message: their file and line, that line, and the exception."""
    if isinstance(error, LocustfileError):
        return error
    if isinstance(error, SyntaxError) and error.filename:
        where, line = f"{shown(error.filename)}:{error.lineno}", (error.text or "").rstrip()
        return LocustfileError(f"{where}: {type(error).__name__}: {error.msg}{_quoted(line, error.offset)}")
    text = "".join(traceback.format_exception_only(error)).strip() + hint(error)
    frame = _users_frame(error.__traceback__)
    if frame is None:
        return LocustfileError(f"{doing}: {text}")
    filename, number = frame
    line = linecache.getline(filename, number).rstrip()
    return LocustfileError(f"{shown(filename)}:{number}: {text}{_quoted(line)}")


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


def _users_frame(trace: TracebackType | None) -> tuple[str, int] | None:
    """The innermost line that is neither ours nor a library's."""
    found = None
    for frame, number in traceback.walk_tb(trace):
        filename = frame.f_code.co_filename
        if not filename.startswith(("<", *_FOREIGN)) and _OWN not in Path(filename).parents:
            found = filename, number
    return found


def _quoted(line: str, offset: int | None = None) -> str:
    if not line.strip():
        return ""
    indent = len(line) - len(line.lstrip())
    caret = f"\n    {' ' * max(0, offset - 1 - indent)}^" if offset else ""
    return f"\n    {line.strip()}{caret}"


def _missing(message: str) -> LocustfileError:
    error = LocustfileError(message)
    error.exit_code = EXIT_NO_USERS
    return error

"""An exception of user code as one message: its file and line, that line, and the exception."""

from __future__ import annotations

import inspect
import linecache
import os
import sysconfig
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import plimsoll
from plimsoll.distribution import pip_install
from plimsoll.errors import LocustfileError

if TYPE_CHECKING:
    from types import TracebackType

_OWN = Path(plimsoll.__file__).parent
_FOREIGN = tuple(str(Path(sysconfig.get_path(name))) for name in ("stdlib", "platstdlib", "purelib", "platlib"))

BROUGHT_BY_LOCUST = frozenset(
    {
        "bidict", "blinker", "brotli", "configargparse", "engineio", "flask", "flask_cors", "flask_login",
        "geventhttpclient", "itsdangerous", "jinja2", "markupsafe", "pytest", "simple_websocket", "socketio",
        "websocket", "werkzeug", "wsproto", "zmq",
    }
)  # fmt: skip
"""Importable names of the extra `locust` in pyproject.toml, and of its dependencies."""


_brought: list[Path] = []
"""The folder with the files of the run, in a process on another machine than that of the command."""


def note_brought(folder: str) -> None:
    """The files of the run were brought to this folder from another machine, which has more."""
    _brought[:] = [Path(folder).resolve()]


def hint(error: BaseException) -> str:
    """How to fix a failed import, or a file or a variable that is missing, to append to the error's message; "" if
    unknown."""
    if isinstance(error, FileNotFoundError):
        return _missing_file(error)
    if isinstance(error, KeyError):
        return _missing_variable(error)
    name = error.name if isinstance(error, ImportError) else None
    if name is None:
        return ""
    if name.partition(".")[0] in BROUGHT_BY_LOCUST:
        return f"; Locust brings it along, here it is an extra: {pip_install('locust')}"
    if _brought and isinstance(error, ModuleNotFoundError):
        file = f"{name.replace('.', '/')}.py"
        return f"; install it on this machine, or if it is a file of yours, start the run with --ship {file}"
    return ""


def _missing_file(error: FileNotFoundError) -> str:
    """Of files beside the locustfile, only those that are named travel."""
    if not _brought or not isinstance(error.filename, str):
        return ""
    path = Path(error.filename).absolute().resolve()
    if not path.is_relative_to(_brought[0]):
        return ""
    return f"; it did not travel with the locustfile: start the run with --ship '{path.relative_to(_brought[0])}'"


def _missing_variable(error: KeyError) -> str:
    """Of the environment, only those that are named travel."""
    modules = [frame.f_globals.get("__name__") for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not _brought or modules[-1:] != [os.__name__]:
        return ""
    return f"; this machine has no such environment variable: start the run with --env {error.args[0]}"


def broken(error: BaseException, doing: str) -> LocustfileError:
    """An exception of user code as one message: its file and line, that line, and the exception."""
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


def _users_frame(trace: TracebackType | None) -> tuple[str, int] | None:
    """The innermost line that is neither in Plimsoll nor in a library."""
    found = None
    for frame, number in traceback.walk_tb(trace):
        filename = frame.f_code.co_filename
        if not filename.startswith(("<", *_FOREIGN)) and _OWN not in Path(filename).parents:
            found = filename, number
    return found


def shown(filename: str) -> str:
    """The shortest path to the file from the working directory."""
    path = Path(filename)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else filename


def place_of(cls: type) -> str:
    """File and line of a class; its module if these are unknown."""
    try:
        return f"{shown(inspect.getfile(cls))}:{inspect.getsourcelines(cls)[1]}"
    except (OSError, TypeError):
        return cls.__module__


def _quoted(line: str, offset: int | None = None) -> str:
    if not line.strip():
        return ""
    indent = len(line) - len(line.lstrip())
    caret = f"\n    {' ' * max(0, offset - 1 - indent)}^" if offset else ""
    return f"\n    {line.strip()}{caret}"


def without_super(cls: type, argument: str) -> LocustfileError:
    """The error for a class whose `__init__` does not call its base's. argument: the base's argument."""
    own = [(base, inspect.unwrap(base.__dict__["__init__"])) for base in cls.__mro__ if "__init__" in base.__dict__]
    written = [(base, made.__code__) for base, made in own if inspect.isfunction(made)]
    # A class that calls its base may have a base that does not.
    base, code = next((each for each in written if "__init__" not in each[1].co_names), written[0])
    return LocustfileError(
        f"{code.co_filename}:{code.co_firstlineno}: {base.__name__}.__init__ does not call that of its base class; "
        f"add super().__init__({argument})"
    )

"""Reads the files that a plan names. All of them may be read, unless the plan comes from a store.

A person who types a path may read it. A store may come from somebody else, and is not asked to choose files of this
machine. So the places that open a file which a plan, a word of a command line or a target file names call `checked`
first, and `plimsoll reproduce` plans its run within `files_checked`.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

from plimsoll.load.mistakes import BadValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    FileCheck = Callable[[Path | str], None]

_Named = TypeVar("_Named", "Path", str)
_check: ContextVar[FileCheck | None] = ContextVar("file_check", default=None)


@contextmanager
def files_checked(check: FileCheck) -> Iterator[None]:
    """Within the block `check` gets each file before it is opened, and each URL before it is downloaded. It raises
    UsageError for what must not be read: no mistake of the file that names it, so no line of that is named."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def checked(named: _Named) -> _Named:
    """The path of a file, or the URL of one, that is about to be read. Raises UsageError if it must not be."""
    check = _check.get()
    if check is not None:
        check(named)
    return named


def read_text(path: Path) -> str:
    """The unchanged text, including line ends. Raises UsageError for a file that cannot be read as UTF-8."""
    try:
        return checked(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise BadValueError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadValueError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from error


def lines_of(text: str) -> list[str]:
    """As an editor counts them; `splitlines` splits at more characters, which may be inside a value."""
    return text.replace("\r\n", "\n").split("\n")

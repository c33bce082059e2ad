"""Which files may be read while a run is planned: all of them, unless the plan comes from a store.

A person who types a path may read it. A store may come from somebody else, and is not asked to choose files of this
machine. So the places that open a file which a plan, a word of a command line or a target file names call `checked`
first, and `plimsoll reproduce` plans its run within `files_checked`.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

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

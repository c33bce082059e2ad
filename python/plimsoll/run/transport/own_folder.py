"""A temporary folder of this process. One whose process was killed is removed when the next one is made."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

PREFIX = "plimsoll-worker-"
LOCK = ".lock"
"""A file in it that its process holds locked: the lock ends with the process, however that ends. Hidden files do not
travel, so no file of a run has this name."""


class OwnFolder:
    """Raises OSError if it cannot be made."""

    def __init__(self) -> None:
        _remove_those_of_the_dead()
        self.path = tempfile.mkdtemp(prefix=PREFIX)
        descriptor, name = tempfile.mkstemp(dir=self.path)
        self._lock = os.fdopen(descriptor)
        # A file system without locks keeps what is left there.
        with suppress(OSError):
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            # The rename comes last, so that a file with this name is always locked.
            Path(name).rename(Path(self.path) / LOCK)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove it with what is in it. May be repeated."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def own_folder_of(path: str) -> str | None:
    """The one that a folder is in; None if it is in none."""
    for folder in (Path(path), *Path(path).parents):
        if folder.name.startswith(PREFIX) and (folder / LOCK).exists():
            return str(folder)
    return None


def _remove_those_of_the_dead() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # One of another user, without a lock or with a lock that is held, stays.
        with suppress(OSError):
            if folder.lstat().st_uid != os.getuid():
                continue
            with (folder / LOCK).open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)

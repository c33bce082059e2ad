"""Files for results: whether they can be written is known before anything is, and an older one stays until the new one
is complete."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

STDOUT = "-"


def check_writable(path: str | Path | None, *, option: str = "") -> None:
    """Raises UsageError if a file cannot be written there. Leaves the file as it is, and makes none.

    path: None and "-" can always be written. option: what the message begins with.
    """
    if path in (None, STDOUT):
        return
    place = Path(str(path))
    check_folder(place, option=option)
    try:
        if os.path.lexists(place):
            with place.open("ab"):
                pass
        else:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            place.unlink()
    except OSError as error:
        raise UsageError(f"{option and f'{option}: '}cannot write {path}: {error.strerror}") from error


def check_folder(path: Path, *, option: str = "") -> None:
    """Raises UsageError if the folder of a file or of another folder is missing: a folder of a mistyped name would be
    found by nobody. option: what the message begins with."""
    if not path.parent.exists():
        hint = f"there is no folder {path.parent}; make it first, or choose another"
        raise UsageError(f"{option and f'{option}: '}cannot write {path}: {hint}")


@contextmanager
def replaced_file(path: Path) -> Iterator[IO[bytes]]:
    """What is written within the block is the content of the file afterwards. Readers see the old file or the new one;
    after an exception the old one is still there.

    Through a link it is the file that the link stands for, and it keeps its rights. What is no ordinary file, such as
    /dev/stdout, and a file in a folder that takes no other, is written directly. Raises OSError.
    """
    real = path.resolve()
    draft = _draft(real)
    if draft is None:
        with path.open("wb") as file:
            yield file
        return
    try:
        with draft:
            yield draft
            draft.flush()
            os.fsync(draft.fileno())
        Path(draft.name).chmod(_rights(real))
        Path(draft.name).replace(real)
    except BaseException:
        Path(draft.name).unlink(missing_ok=True)
        raise


def _draft(real: Path) -> IO[bytes] | None:
    """A file that can take the place of this one; None if there can be none."""
    if real.exists() and not (real.is_file() and os.access(real, os.W_OK)):
        return None
    with suppress(PermissionError):
        return tempfile.NamedTemporaryFile("wb", dir=real.parent, prefix=f".{real.name[:99]}.", delete=False)
    return None


def _rights(real: Path) -> int:
    """Those of the file, or of a new one."""
    if real.exists():
        return stat.S_IMODE(real.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask

"""The files that a run is made of, known by their contents.

A worker gets names and hashes, not paths of the coordinator's machine. The transport sees to it that the files are
below some folder of the worker's machine: for local processes they are where the coordinator found them.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import LocustfileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_ARCHIVE_BYTES = 512 << 20
"""Bytes of all files that travel to other machines."""
LEFT_OUT = ("__pycache__", "node_modules")
"""Folders that do not travel, besides hidden ones and virtual environments."""
STORE_FILE = "plimsoll.db"


@dataclass(frozen=True, slots=True)
class Bundle:
    """Files below one folder."""

    root: str = ""
    """The folder on the machine where the bundle was made; absolute."""
    files: tuple[tuple[str, str], ...] = ()
    """(name below the folder, SHA-256 of the contents in hex), in the order in which they are imported."""

    @classmethod
    def of(cls, paths: Sequence[str]) -> Bundle:
        """paths: absolute. Raises LocustfileError for a file that cannot be read."""
        if not paths:
            return cls()
        root = os.path.commonpath([str(Path(path).parent) for path in paths])
        return cls(root, tuple((os.path.relpath(path, root), _sha256(path)) for path in paths))

    def open(self, root: str | None = None) -> tuple[str, ...]:
        """The paths of its files below `root`, by default where it was made.

        Raises LocustfileError for a file that is not there, or has other contents: the processes of a run would else
        run different code.
        """
        folder = Path(self.root if root is None else root)
        paths = [(str(folder / name), content) for name, content in self.files]
        for path, content in paths:
            if _sha256(path) != content:
                what = "has changed since this run was started; start the run again"
                if root is not None:
                    what = "is another one than where the run was started; use the same, or -f - on workers"
                raise LocustfileError(f"{path} {what}")
        return tuple(path for path, _ in paths)

    def to_list(self) -> list[Any]:
        """Plain values, for a message."""
        return [self.root, [list(each) for each in self.files]]

    @classmethod
    def from_list(cls, data: Sequence[Any]) -> Bundle:
        root, files = data
        return cls(root, tuple((name, content) for name, content in files))


@dataclass(frozen=True, slots=True)
class Archive:
    """A folder with all that a locustfile may need there, as it travels to another machine."""

    data: bytes
    """A tar file; the same files give the same bytes."""
    files: str
    """The folder of the locustfiles in it."""
    folder: str
    """The working directory in it."""

    @classmethod
    def of(cls, bundle: Bundle, folder: Path) -> Archive:
        """folder: the working directory. If the locustfiles are in it, or below it, all of it travels; else the folder
        of the locustfiles. Raises UsageError for files that are too large together."""
        if not bundle.files:
            return cls(b"", ".", ".")
        root, home = Path(bundle.root), Path.home()
        if root.is_relative_to(folder) and not home.is_relative_to(folder):
            root = folder
        inside = os.path.relpath(bundle.root, root)
        return cls(_tar(root), inside, "." if root == folder else inside)

    def to_list(self) -> list[Any]:
        """Plain values, for a message."""
        return [self.data, self.files, self.folder]

    @property
    def digest(self) -> str:
        """SHA-256 of the contents, in hex."""
        return hashlib.sha256(self.data).hexdigest()

    def unpack(self, place: str) -> None:
        """Below this folder."""
        if self.data:
            with tarfile.open(fileobj=io.BytesIO(self.data)) as tar:
                tar.extractall(place, filter="data")


def _tar(root: Path) -> bytes:
    paths = sorted(_travelling(root))
    sizes = Counter[str]()
    for path in paths:
        sizes[path.relative_to(root).parts[0]] += path.stat().st_size
    if sizes.total() > MAX_ARCHIVE_BYTES:
        largest = ", ".join(f"{name} ({size >> 20} MiB)" for name, size in sizes.most_common(3))
        raise UsageError(
            f"{root}: its files have {sizes.total() >> 20} MiB, and {MAX_ARCHIVE_BYTES >> 20} MiB travel to other "
            f"machines at most; run it from a folder that has only what the load needs. The largest: {largest}"
        )
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", dereference=True) as tar:
        for path in paths:
            tar.add(path, str(path.relative_to(root)), recursive=False, filter=_without_owner)
    return buffer.getvalue()


def _without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.mtime = entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def _travelling(root: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(root):
        folders[:] = [
            each
            for each in folders
            if not (each.startswith(".") or each in LEFT_OUT or (Path(place) / each / "pyvenv.cfg").exists())
        ]
        for name in names:
            path = Path(place) / name
            if not name.startswith((".", STORE_FILE)) and path.is_file():
                yield path


def _sha256(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise LocustfileError(f"{path} cannot be read: {error.strerror}") from error

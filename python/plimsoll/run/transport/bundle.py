"""The files that a run is made of, known by their contents.

A worker gets names and hashes, not paths of the coordinator's machine. The transport sees to it that the files are
below some folder of the worker's machine: for local processes they are where the coordinator found them.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import LocustfileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.run.transport.shipment import Shipment


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
    """The files of a shipment, as they travel to another machine."""

    data: bytes
    """A tar file; the same files give the same bytes."""
    files: str
    """The folder of the locustfiles in it."""
    folder: str
    """The working directory in it."""
    locustfiles: tuple[str, ...] = ()
    """Their names below their folder."""

    @classmethod
    def of(cls, shipment: Shipment) -> Archive:
        """Raises UsageError for a file that cannot be read."""
        data = _tar(shipment) if shipment.names else b""
        return cls(data, shipment.files, shipment.folder, shipment.locustfiles)

    def to_list(self) -> list[Any]:
        """Plain values, for a message."""
        return [self.data, self.files, self.folder, self.locustfiles]

    @property
    def digest(self) -> str:
        """SHA-256 of the contents, in hex."""
        return hashlib.sha256(self.data).hexdigest()

    def unpack(self, place: str) -> None:
        """Below this folder. Raises tarfile.TarError for a file that would be elsewhere."""
        if self.data:
            with tarfile.open(fileobj=io.BytesIO(self.data), mode="r:") as tar:
                tar.extractall(place, filter="data")


def _tar(shipment: Shipment) -> bytes:
    buffer = io.BytesIO()
    try:
        with tarfile.open(fileobj=buffer, mode="w", dereference=True) as tar:
            for name, path in zip(shipment.names, shipment.paths, strict=True):
                tar.add(path, name, recursive=False, filter=_without_owner)
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be sent to the workers: {error.strerror}") from error
    return buffer.getvalue()


def _without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.mtime = entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def _sha256(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise LocustfileError(f"{path} cannot be read: {error.strerror}") from error

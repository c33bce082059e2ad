"""The files that a run is made of, known by their contents.

A worker gets names and hashes, not paths of the coordinator's machine. The transport sees to it that the files are
below some folder of the worker's machine: for local processes they are where the coordinator found them.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import LocustfileError

if TYPE_CHECKING:
    from collections.abc import Sequence


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
                raise LocustfileError(f"{path} has changed since this run was started; start the run again")
        return tuple(path for path, _ in paths)

    def to_list(self) -> list[Any]:
        """Plain values, for a message."""
        return [self.root, [list(each) for each in self.files]]

    @classmethod
    def from_list(cls, data: Sequence[Any]) -> Bundle:
        root, files = data
        return cls(root, tuple((name, content) for name, content in files))


def _sha256(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise LocustfileError(f"{path} cannot be read: {error.strerror}") from error

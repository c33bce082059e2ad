"""Which files of this machine a store may name."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.load.file_access import files_checked
from plimsoll.plain_text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class StoredFiles:
    """Files that a store names may be read below the working folder, and below the folder of the one file that the
    command line names. Links are followed before that is decided."""

    def __init__(self, given: str | None = None) -> None:
        """given: the file of the command line. Raises UsageError if it is not there."""
        self.given = Path(given).expanduser().absolute() if given is not None else None
        if self.given is not None and not self.given.is_file():
            raise UsageError(f"-f {given}: there is no such file")
        self._folders = [Path.cwd().resolve(), *([self.given.resolve().parent] if self.given else ())]
        self.read: dict[Path, None] = {}
        """Files and folders that were allowed, in the order in which they were named."""

    def check(self, named: Path | str) -> None:
        """Raises UsageError, saying what to do, for a file that must not be read, and for a URL of one."""
        if isinstance(named, str):
            raise UsageError(
                f"{named} is downloaded; a store does not decide that. Download it, and name it with --file"
            )
        try:
            path = named.absolute()
            is_allowed = any(path.resolve().is_relative_to(folder) for folder in self._folders)
        except (OSError, ValueError, RuntimeError) as error:
            raise UsageError(f"the store names a file that cannot be: {one_line(str(named))}") from error
        if not is_allowed:
            raise UsageError(
                f"the store names {path}, which is outside of the working folder {self._folders[0]}, and a store may "
                "come from somebody else; start the command in a folder above that file, or name the file of the run "
                "with --file FILE"
            )
        self.read[path] = None

    @contextmanager
    def checked(self) -> Iterator[None]:
        """Within the block every file that a plan names is checked before it is read."""
        with files_checked(self.check):
            yield


@dataclass(frozen=True, slots=True)
class NewCommand:
    """What the command line that repeats a run says, and the store does not."""

    files: StoredFiles
    outputs: Mapping[str, Any]
    """Values of all `output_options`, by name; paths are absolute."""
    store: str
    """Where the run is, and the new one will be; absolute."""


def shown(path: Path | str) -> str:
    """A path as people see it: from the working folder, if it is below that."""
    path, here = Path(path), Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) and here != Path(here.anchor) else path)

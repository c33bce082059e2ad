"""The input of a source: a file, the standard input, or a command that was typed."""

from __future__ import annotations

import difflib
import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.sources.yaml_document import yaml_document

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_INPUT = 256 << 20
"""Bytes; a longer file is refused."""
STDIN = "-"
_GZIP = b"\x1f\x8b"
_HALF = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_SNIFFED = 64 << 10
"""Characters at the beginning of a text by which its format is recognized."""


class GivenVariables(Mapping[str, str]):
    """Values of variables as the person gives them. It keeps for which names a source asks."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = dict(values)
        self._asked: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self._asked.add(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def check(self) -> None:
        """Raises UsageError for a name for which nothing asked."""
        # Those with $ are made anew by each request.
        known = sorted(name for name in self._asked if not name.startswith("$"))
        for name in self._values:
            if name not in self._asked:
                meant = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
                hint = f"did you mean {meant[0]}?" if meant else f"there are {', '.join(known) or 'none'}"
                raise UsageError(f"--set {name}: nothing uses a variable of this name; {hint}")


@dataclass(frozen=True)
class SourceInput:
    """The text of a source, and how messages name it."""

    name: str
    text: str
    path: Path | None = None
    """The file; None: typed, or from the standard input."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Values of the variables that a source names, as the person gives them."""
    is_sent: bool = False
    """It was sent to this machine: it must not read the machine's files or environment variables."""

    @classmethod
    def sent(cls, name: str, content: bytes, variables: Mapping[str, str]) -> SourceInput:
        """What a page has sent. Raises UsageError."""
        return cls(name, _decoded(name, content), None, variables, is_sent=True)

    @classmethod
    def of(cls, word: str, variables: Mapping[str, str] | None = None) -> SourceInput:
        """word: a path, "-", or the text of a command itself. Raises UsageError."""
        given = {} if variables is None else variables
        if word == STDIN:
            return cls("<stdin>", _decoded("<stdin>", sys.stdin.buffer.read(LONGEST_INPUT + 1)), None, given)
        if word.lower().split()[:1] in (["curl"], ["curl.exe"]):
            return cls("<command>", word, None, given)
        path = Path(word)
        try:
            with path.open("rb") as file:
                return cls(word, _decoded(word, file.read(LONGEST_INPUT + 1)), path, given)
        except IsADirectoryError as error:
            raise UsageError(f"{word} is a folder; name the files in it") from error
        except OSError as error:
            hint = ""
            if "://" in word:
                hint = f"; for one request write: plimsoll scenario curl {word}"
            raise UsageError(f"cannot read {word}: {error.strerror}{hint}") from error

    @property
    def beginning(self) -> str:
        return self.text[:_SNIFFED]

    @property
    def folder(self) -> Path | None:
        """Where the relative paths in it begin; None: it must not name files."""
        if self.is_sent:
            return None
        return self.path.parent if self.path else Path()

    @property
    def environment(self) -> Mapping[str, str] | None:
        """The environment variables that it may use; None: it must not."""
        return None if self.is_sent else os.environ

    @cached_property
    def json(self) -> Any:
        """Its JSON value. Raises UsageError with line and column."""
        try:
            # Half a character of UTF-16 cannot be sent, nor written.
            return json.loads(_HALF.sub(r"\\ufffd", self.text))
        except json.JSONDecodeError as error:
            is_cut = error.msg.startswith("Unterminated") or error.pos >= len(self.text.rstrip())
            hint = "; the file ends too early: save it again" if is_cut else ""
            raise UsageError(f"{self.name}:{error.lineno}:{error.colno}: not JSON: {error.msg}{hint}") from error
        except (ValueError, RecursionError) as error:
            # Numbers of thousands of digits, and lists within lists without end.
            raise UsageError(f"{self.name}: not JSON that can be read: {error}") from error

    @cached_property
    def yaml(self) -> Any:
        """Its value as YAML. Raises UsageError with line and column."""
        return yaml_document(self.name, self.text)


def file_in(folder: Path | None, path: str, where: str) -> Path:
    """A file that a source names. folder: of the source. Raises UsageError if the source must not name files."""
    if folder is None:
        raise UsageError(f"{where}: names the file {path}; plimsoll scenario in a terminal reads it, the page does not")
    return folder / Path(path).expanduser()


def existing_file(path: str, folder: Path | None, where: str) -> str:
    """The path of a file that is a body, from the current folder. folder: of the source. Raises UsageError if it is
    not there."""
    file = file_in(folder, path, where)
    if not file.is_file():
        raise UsageError(f"{where}: cannot read {path}: it is no file")
    return str(file)


def path_from(path: str, folder: Path | None) -> str:
    """A path as a file in this folder says it; absolute if it is so, or without a folder."""
    if folder is None or Path(path).is_absolute():
        return str(Path(path).absolute())
    return Path(os.path.relpath(path, folder)).as_posix()


def _decoded(name: str, content: bytes) -> str:
    if len(content) > LONGEST_INPUT:
        raise UsageError(f"{name}: longer than {LONGEST_INPUT >> 20} MiB; record fewer pages, or leave out bodies")
    if content.startswith(_GZIP):
        logs = "packed access logs are read, those of an unknown format with --log-format"
        raise UsageError(f"{name}: is packed by gzip: unpack it first (gunzip); {logs}")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{name}:{line}: not UTF-8 text; is this the file of the recording?") from error

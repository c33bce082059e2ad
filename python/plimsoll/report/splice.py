"""A part of a file that is written again in place: what stands between two markers, and nothing else.

    <!-- plimsoll:begin todos -->
    …
    <!-- plimsoll:end todos -->

Each marker has a line of its own. What follows the name of the first is the command that made the block; it is written
with it. Markers within a fenced block of code are examples, and no markers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.report.writing import replaced_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAME = re.compile(r"[\w./+-]+")
"""What a block may be called."""
_MARKER = re.compile(r"\s*<!--\s*plimsoll:(?P<kind>begin|end)\b\s*(?P<name>[\w./+-]*)(?P<rest>.*?)-->\s*")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?:\s|$)")
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Block:
    """Where a block is. Lines count from 0."""

    begin: int
    """Of its first marker."""
    end: int
    """Of its second."""
    under: int
    """How deep the heading is that it stands under; 0 without one."""


class Splice:
    """A file with a block that can be replaced. Raises UsageError, with file and line, when there is no such block."""

    def __init__(self, path: str | Path, name: str) -> None:
        self.path = Path(path)
        self.name = name
        if not NAME.fullmatch(name):
            raise UsageError(f"a block cannot be called {name!r}: letters, digits and . / + - _ only")
        self._lines = _read(self.path)
        self._block = _find(self.path, self._lines, name)
        self.under: int = self._block.under

    def replace(self, text: str, command: str) -> bool:
        """Write the text between the markers, and the command into the first; whether that changed the file.

        Lines of the block end as those of the file do, all others stay byte for byte. Readers see the old file
        or the new one. Raises PlimsollError when it cannot be written.
        """
        block, newline = self._block, _newline(self._lines)
        comment = " ".join(command.split()).replace("-->", "--&gt;")
        begin = f"<!-- plimsoll:begin {self.name}{': ' if comment else ' '}{comment}{' ' if comment else ''}-->"
        made = [begin, "", *text.strip("\n").split("\n"), ""]
        lines = [
            *self._lines[: block.begin],
            *(f"{line}{newline}" for line in made),
            *self._lines[block.end :],
        ]
        if lines == self._lines:
            return False
        _write(self.path, "".join(lines))
        return True


def _read(path: Path) -> list[str]:
    """Lines with their ends."""
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 at byte {error.start}; --splice changes text files only") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    return text.splitlines(keepends=True) if not _odd(text) else re.findall(r"[^\n]*\n|[^\n]+", text)


def _odd(text: str) -> bool:
    """Whether `splitlines` would break it where no line ends, as at a form feed."""
    return any(character in text for character in "\v\f\x1c\x1d\x1e\x85\u2028\u2029")


def _find(path: Path, lines: Sequence[str], name: str) -> Block:
    begin = end = None
    under = 0
    for number, kind, found, deep in _markers(path, lines):
        if found != name:
            continue
        if kind == "begin":
            if begin is not None:
                raise UsageError(f"{path}:{number + 1}: block {name} begins again; it began in line {begin + 1}")
            begin, under = number, deep
        elif begin is None:
            raise UsageError(f"{path}:{number + 1}: block {name} ends before it begins")
        elif end is not None:
            raise UsageError(f"{path}:{number + 1}: block {name} ends again; it ended in line {end + 1}")
        else:
            end = number
    if begin is None:
        raise UsageError(
            f"{path}: no block {name}; put these two lines where it is to be: "
            f"<!-- plimsoll:begin {name} --> and <!-- plimsoll:end {name} -->"
        )
    if end is None:
        raise UsageError(f"{path}:{begin + 1}: block {name} never ends; add <!-- plimsoll:end {name} -->")
    inner = [each for each in _markers(path, lines) if begin < each[0] < end]
    if inner:
        number, kind, found, _ = inner[0]
        raise UsageError(f"{path}:{number + 1}: block {found} {kind}s within block {name}, and would be overwritten")
    return Block(begin, end, under)


def _markers(path: Path, lines: Sequence[str]) -> Iterator[tuple[int, str, str, int]]:
    """(line, begin or end, name, depth of the heading above) outside of code."""
    fence, under = "", 0
    for number, line in enumerate(lines):
        text = line.rstrip("\r\n").removeprefix(_BOM)
        fenced = _FENCE.fullmatch(text)
        if fence:
            if fenced and fenced["fence"].startswith(fence) and not fenced["info"].strip():
                fence = ""
        elif fenced and not (fenced["fence"][0] == "`" and "`" in fenced["info"]):
            fence = fenced["fence"]
        elif found := _MARKER.fullmatch(text):
            if not found["name"]:
                raise UsageError(
                    f"{path}:{number + 1}: the marker names no block: <!-- plimsoll:{found['kind']} NAME -->"
                )
            yield number, found["kind"], found["name"], under
        elif heading := _HEADING.match(text):
            under = len(heading["marks"])


def _newline(lines: Sequence[str]) -> str:
    """The end that most lines have."""
    crlf = sum(line.endswith("\r\n") for line in lines)
    return "\r\n" if 2 * crlf > len(lines) else "\n"


def _write(path: Path, text: str) -> None:
    try:
        with replaced_file(path) as file:
            file.write(text.encode("utf-8"))
    except OSError as error:
        raise PlimsollError(f"cannot write {path}: {error.strerror}") from error

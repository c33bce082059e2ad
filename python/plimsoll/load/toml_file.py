"""A TOML file, with the line of each of its keys."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

from plimsoll._engine import toml_lines
from plimsoll.errors import UsageError
from plimsoll.load.file_access import read_text
from plimsoll.load.mistakes import BadValueError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_POSITION = re.compile(r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)$")


class Places:
    """The positions of fields in a TOML document."""

    def __init__(self, lines: Mapping[str, int], data: Mapping[str, Any]) -> None:
        self._lines = lines
        self._data = data

    def written(self, path: str) -> str:
        """The path as in the document: without the index of a single table, `phase` for `phase[0]`."""
        here: Any = self._data
        parts: list[str] = []
        for part in _split(path):
            if not part.startswith("["):
                here = here.get(part) if isinstance(here, dict) else None
            elif isinstance(here, list):
                index = int(part[1:-1])
                here = here[index] if index < len(here) else None
            else:
                continue
            parts.append(part)
        return _join(parts)

    def line(self, path: str) -> int:
        """Of the field, or of the nearest field around it."""
        parts = _split(self.written(path))
        while parts:
            if (line := self._lines.get(_join(parts))) is not None:
                return line
            parts.pop()
        return 1


def read_toml(file: Path) -> tuple[dict[str, Any], Places]:
    """The content of the file, and the positions. Raises UsageError, with the line if it is not TOML."""
    try:
        text = read_text(file)
    except BadValueError as error:
        raise UsageError(str(error)) from error
    try:
        lines = toml_lines(text)
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        position = _POSITION.search(str(error))
        line = position["line"] if position and position["line"] else text.count("\n") + 1
        raise UsageError(f"{file}:{line}: not TOML: {_POSITION.sub('', str(error))}") from error
    except ValueError as error:
        line, _, message = str(error).removeprefix("line ").partition(": ")
        raise UsageError(f"{file}:{line}: not TOML: {message}") from error
    return data, Places(lines, data)


def _split(path: str) -> list[str]:
    return [part for part in path.replace("[", ".[").split(".") if part]


def _join(parts: Iterable[str]) -> str:
    return ".".join(parts).replace(".[", "[")

"""A TOML file, with the line of each of its keys."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

from plimsoll._engine import toml_lines
from plimsoll.errors import UsageError
from plimsoll.load.complaints import Places
from plimsoll.load.mistakes import BadValueError
from plimsoll.load.table import read_text

if TYPE_CHECKING:
    from pathlib import Path

_POSITION = re.compile(r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)$")


def read_toml(file: Path) -> tuple[dict[str, Any], Places]:
    """What the file says, and where. Raises UsageError, with the line if it is not TOML."""
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

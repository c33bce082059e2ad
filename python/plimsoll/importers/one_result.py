"""Refuses a file with several results: numbers of several runs together are those of a run that never was."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plimsoll.say.names import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.errors import UsageError
    from plimsoll.importers.result_file import ResultFile

_SUMMARY = "hey, oha or ghz"
_BEGINNINGS: Mapping[str, re.Pattern[str]] = {
    "wrk": re.compile(r"\s*Running \d+(?:\.\d+)?[a-z]+ test @ "),
    "vegeta": re.compile(r"\s*Requests\s+\[total[,\]]"),
    _SUMMARY: re.compile(r"\s*Total:\s+\d+(?:\.\d+)?\s*(?:secs?|ns|us|µs|ms|s|m|h)\s*$"),
}
"""A line that a tool prints once for each run."""
_MOST_SHOWN = 5
"""Lines in a message."""
_WORDS = {2: "two", 3: "three", 4: "four"}


def check_printed(source: ResultFile, tool: str) -> None:
    """For what a tool prints at its end. tool: its name. Raises UsageError if the file has another result, too, of
    this tool or of another one that prints text."""
    found: list[tuple[str, int]] = []
    for line, text in source.lines():
        found += [(name, line) for name, beginning in _BEGINNINGS.items() if beginning.match(text)]
    own = _SUMMARY if tool in _SUMMARY else tool
    others = [(name, line) for name, line in found if name != own]
    if others:
        (name, line) = others[0]
        first = next((line for name, line in found if name == own), 1)
        message = f"holds results of {tool} (line {first}) and of {name} (line {line}): split them into one file each"
        raise source.error(None, message)
    if len(found) > 1:
        raise several(source, tool, [line for _, line in found])


def several(source: ResultFile, tool: str, lines: list[int]) -> UsageError:
    """The error for a file with so many results. lines: where they begin."""
    count = _WORDS.get(len(lines), str(len(lines)))
    shown = [str(line) for line in lines]
    many = len(shown) > _MOST_SHOWN
    places = f"{', '.join(shown[:_MOST_SHOWN])}, …" if many else listed(shown)
    return source.error(None, f"holds {count} results of {tool} (lines {places}): split them into one file each")


class OneHeader:
    """Counts the headers of a table or a log while it is read."""

    def __init__(self, source: ResultFile, tool: str, first: int = 0) -> None:
        """first: the line of the header, if it is read already."""
        self._source = source
        self._tool = tool
        self._first = first

    def seen(self, line: int) -> None:
        """Raises UsageError for the second header: another file was appended."""
        if self._first:
            raise several(self._source, self._tool, [self._first, line])
        self._first = line

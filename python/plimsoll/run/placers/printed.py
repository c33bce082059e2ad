"""What the workers of one host print, on its way to people."""

from __future__ import annotations

import re
from collections import deque

from plimsoll.plain_text import printable
from plimsoll.run.transport.joining import ENDED, JOINED, WAITING

LONGEST_LINE = 4000
MOST_LINES = 1000
"""Lines of a host that wait to be printed; of more, the oldest are left out."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def plain_line(data: bytes) -> str:
    """A line without colours and control characters."""
    return printable(_COLOURS.sub("", data.decode(errors="replace")).rstrip())


class PrintedLines:
    """Lines of the workers of one host. What every worker says of its master is left out."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._lines: deque[str] = deque(maxlen=MOST_LINES)
        self.waiting = ""
        """Why the workers have not joined yet, as they say it; "" if they say nothing."""
        self.last = ""
        """The line that was printed last."""

    def add(self, line: str) -> None:
        """line: as `plain_line` makes it."""
        if line.startswith(WAITING):
            self.waiting = line
        elif line.startswith(JOINED):
            self.waiting = ""
        elif line.strip() and line != ENDED:
            self.last = line
            self._lines.append(line)

    def take(self) -> list[str]:
        """The lines since the last call, with the name of the host before them."""
        lines = []
        while self._lines:
            lines.append(f"{self._host}: {self._lines.popleft()}")
        return lines

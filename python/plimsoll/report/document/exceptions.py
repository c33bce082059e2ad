"""Exceptions of the users' code in a line each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.record import CaughtException

_FRAME = re.compile(
    r'^ {2}File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.+)\n(?: {4}(?P<code>\S.*))?', re.MULTILINE
)
_NOT_THE_USERS = ("/site-packages/", "/dist-packages/", "/lib/python3", "<frozen ", str(Path(__file__).parents[1]))


def user_line(traceback: str) -> str:
    """Where in the user's own files it happened: the last line that is neither a library's nor ours; "" for none."""
    own = [frame for frame in _FRAME.finditer(traceback) if not any(part in frame["file"] for part in _NOT_THE_USERS)]
    if not own:
        return ""
    code = f": {own[-1]['code']}" if own[-1]["code"] else ""
    return f"{own[-1]['file']}:{own[-1]['line']}, in {own[-1]['function']}{code}"


def what_of(exception: CaughtException) -> str:
    """What happened: the last line of the traceback, which names the class too."""
    lines = exception.traceback.strip().splitlines()
    first = exception.message.strip().splitlines()[0] if exception.message.strip() else ""
    return lines[-1] if lines and first in lines[-1] else first or (lines[-1] if lines else "")

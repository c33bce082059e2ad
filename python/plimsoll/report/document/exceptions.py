"""Exceptions of the users' code in a line or two each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.report.render.text_table import cut, one_line

if TYPE_CHECKING:
    from plimsoll.record import CaughtException

_FRAME = re.compile(
    r'^ {2}File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.+)\n(?: {4}(?P<code>\S.*))?', re.MULTILINE
)
_NOT_THE_USERS = ("/site-packages/", "/dist-packages/", "/lib/python3", "<frozen ", str(Path(__file__).parents[1]))


def exception_lines(exception: CaughtException, width: int) -> list[str]:
    """How often, what, and where in the user's own files if anywhere."""
    lines = [cut(f"{exception.count:>7} × {one_line(_what(exception))}", width)]
    if where := user_line(exception.traceback):
        lines.append(cut(f"{'':>9} {one_line(where)}", width))
    return lines


def user_line(traceback: str) -> str:
    """Where in the user's own files it happened: the last line that is neither a library's nor ours; "" for none."""
    own = [frame for frame in _FRAME.finditer(traceback) if not any(part in frame["file"] for part in _NOT_THE_USERS)]
    if not own:
        return ""
    code = f": {own[-1]['code']}" if own[-1]["code"] else ""
    return f"{own[-1]['file']}:{own[-1]['line']}, in {own[-1]['function']}{code}"


def _what(exception: CaughtException) -> str:
    """The last line of the traceback names the class too."""
    lines = exception.traceback.strip().splitlines()
    first = exception.message.strip().splitlines()[0] if exception.message.strip() else ""
    return lines[-1] if lines and first in lines[-1] else first or (lines[-1] if lines else "")

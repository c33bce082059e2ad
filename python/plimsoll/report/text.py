"""Text in cells of a terminal: how wide it is, and how it is made to fit."""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

UNLIMITED = 1_000_000
"""Cells in a line that nothing is cut to."""

_HELD = "\u00a0\u202f"
"""Blanks that stand between groups of digits, and between a number and its unit."""
_BLANKS = re.compile(r"[^\S\u00a0\u202f]+")


def cut(text: str, width: int) -> str:
    """The text without its end if it is wider than width."""
    if width < 1:
        return ""
    if cells(text) <= width:
        return text
    left = text[: width - 1]
    while cells(left) > width - 1:
        left = left[:-1]
    return f"{left}…"


def room(stream: TextIO) -> int:
    """Cells in a line of a stream: of a terminal what it has, else as many as one likes, unless COLUMNS says."""
    if stream.isatty() or os.environ.get("COLUMNS"):
        return shutil.get_terminal_size().columns
    return UNLIMITED


def cells(text: str) -> int:
    """How many cells of a terminal the text takes; East Asian characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_cells_of(character) for character in text)


def one_line(text: str) -> str:
    """The text without line breaks and control characters, so that a target's message cannot steer the terminal."""
    flat = _BLANKS.sub(" ", text).strip()
    return printable(flat)


def printable(text: str) -> str:
    """The text with a mark in place of each control character. Blanks that hold a number together stay."""
    return "".join(each if each.isprintable() or each in _HELD else "\ufffd" for each in text)


def _cells_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1

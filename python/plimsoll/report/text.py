"""Text in cells of a terminal: how wide it is, and how it is made to fit."""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

UNLIMITED = 1_000_000
"""Cells in a line that nothing is cut to."""

_HELD = "\u00a0\u202f"
"""Blanks that stand between groups of digits, and between a number and its unit."""
_MARK = "\ufffd"
_BLANKS = re.compile(r"[^\S\u00a0\u202f]+")


def cut(text: str, width: int) -> str:
    """The text without its end if it is wider than width. Reads no further than what fits."""
    if width < 1:
        return ""
    if text.isascii():
        return text if len(text) <= width else f"{text[: width - 1]}…"
    taken = fitting = 0
    for place, character in enumerate(text, 1):
        taken += _cells_of(character)
        if taken > width:
            return f"{text[:fitting]}…"
        if taken < width:
            fitting = place
    return text


def room(stream: TextIO) -> int:
    """Cells in a line of a stream: of a terminal what it has, else as many as one likes, unless COLUMNS says."""
    if stream.isatty() or os.environ.get("COLUMNS"):
        return shutil.get_terminal_size().columns
    return UNLIMITED


def cells(text: str) -> int:
    """How many cells of a terminal the text takes; East Asian characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(count * _cells_of(character) for character, count in Counter(text).items())


def one_line(text: str) -> str:
    """The text without line breaks and control characters, so that a target's message cannot steer the terminal."""
    flat = _BLANKS.sub(" ", text).strip()
    return printable(flat)


def printable(text: str) -> str:
    """The text with a mark in place of each control character. Blanks that hold a number together stay."""
    if text.isprintable():
        return text
    return text.translate({ord(each): _MARK for each in set(text) if not each.isprintable() and each not in _HELD})


def _cells_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1

"""Text in cells of a terminal: how wide it is, and how it is made to fit."""

from __future__ import annotations

import re
import unicodedata

_HELD = "\u00a0\u202f"
"""Blanks that stand between groups of digits, and between a number and its unit."""
_BLANKS = re.compile(r"[^\S\u00a0\u202f]+")


def cut(text: str, width: int) -> str:
    """The text with its middle left out if it is wider than width: both ends of a name tell it from others."""
    if width < 1:
        return ""
    if cells(text) <= width:
        return text
    head = (width - 1) // 2
    tail = width - 1 - head
    left, right = text, text
    while cells(left) > head:
        left = left[:-1]
    while cells(right) > tail:
        right = right[1:]
    return f"{left}…{right}"


def cells(text: str) -> int:
    """How many cells of a terminal the text takes; East Asian characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_cells_of(character) for character in text)


def one_line(text: str) -> str:
    """The text without line breaks and control characters, so that a target's message cannot steer the terminal."""
    flat = _BLANKS.sub(" ", text).strip()
    return "".join(each if each.isprintable() or each in _HELD else "\ufffd" for each in flat)


def _cells_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1

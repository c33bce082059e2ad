"""Text in cells of a terminal: how wide it is, and how it is made to fit."""

from __future__ import annotations

import json
import os
import re
import shutil
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, TextIO

UNLIMITED = 1_000_000
"""Cells in a line that nothing is cut to."""

_UNSEEN = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
"""Control characters that JSON may have as they are, separators of lines, those that are not seen or change the
direction of writing, and halves of characters, which no encoding has."""


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


def _cells_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def dumps(value: Any, **options: Any) -> str:
    """As `json.dumps`, with its options."""
    return plain_json(json.dumps(value, ensure_ascii=False, **options))


def plain_json(text: str) -> str:
    """The same JSON without characters that are not seen."""
    return text if text.isascii() and "\x7f" not in text else _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)

"""What a terminal can show and a file cannot. Nothing here changes how wide a text is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO


def shows_ansi(stream: TextIO) -> bool:
    """Whether the stream is a terminal that knows how to strike text through."""
    return stream.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


def struck(text: str) -> str:
    return f"\x1b[9m{text}\x1b[29m"


def alarming(text: str) -> str:
    """Bold and red, unless NO_COLOR asks for no colors: bold."""
    return f"\x1b[1m{text}\x1b[0m" if os.environ.get("NO_COLOR") else f"\x1b[1;31m{text}\x1b[0m"

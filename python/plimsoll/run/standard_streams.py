"""stdout and stderr of a process, made fit for any text before the first one is written.

A stream may have an encoding without "≤" and "–", or may not be there at all: `>&-` in a shell, a service without a
terminal. Neither must cost the text its reader, the run its exit code, or a database its content.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
import unicodedata

REPLACING = "plimsoll-replacing"
"""An error handler of `codecs`: something readable in place of what an encoding does not have."""
PLAIN_ASCII = "plimsoll-ascii"
"""ASCII under another name. click takes a stream of "ascii" for a mistake of the locale, and writes UTF-8 to it."""

_LOOK_ALIKE = {
    "…": "...", "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "·": "-", "→": "->", "←": "<-", "↑": "^",
    "≤": "<=", "≥": ">=", "≈": "~", "×": "x", "±": "+/-", "√": "sqrt ", "∞": "inf", "°": " deg", "µ": "u", "μ": "u",
    "✓": "+", "✗": "x", "●": "*", "█": "#", "▉": "#", "▊": "#", "▋": "#", "▌": "#", "▍": "-", "▎": "-", "▏": "-",
    "▇": "#", "▆": "#", "▅": "=", "▄": "=", "▃": "-", "▂": "_", "▁": "_", "░": ".", "━": "-", "╸": "-", "╺": "-",
    "─": "-", "│": "|", "├": "|", "└": "`", "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "σ": "sigma",
    "\u00a0": " ", "\u202f": " ", "\ufffd": "?", "€": "EUR", "ß": "ss",
}  # fmt: skip
"""What Plimsoll's own texts consist of. Where columns depend on the width, one character has one in its place."""


def prepare() -> None:
    """Text of this process never fails for its characters, and goes nowhere if its stream is closed. It may be called
    again: a test or a library may have replaced the streams."""
    _open_descriptors()
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - open for ever
    sys.stdout = _prepared(sys.stdout)
    sys.stderr = _prepared(sys.stderr)


def _open_descriptors() -> None:
    """The next file that is opened must not become 0, 1 or 2: a process that we start would write its messages into
    it."""
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number, which is this one: those below are open by now.
            with contextlib.suppress(OSError):
                os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def _prepared(stream: object) -> io.TextIOWrapper:
    """The stream, or one that takes everything."""
    if stream is None or getattr(stream, "closed", False):
        return open(os.devnull, "w", encoding="utf-8", errors="replace")  # noqa: PTH123 - open for ever
    if isinstance(stream, io.TextIOWrapper) and stream.errors != REPLACING:
        known = codecs.lookup(stream.encoding).name
        if known == "ascii":
            stream.reconfigure(encoding=PLAIN_ASCII, errors=REPLACING)
        elif (known, stream.errors) != ("utf-8", "surrogateescape"):  # that writes names of files as they were
            stream.reconfigure(errors=REPLACING)
    return stream  # type: ignore[return-value]


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(character: str) -> str:
    """Some text of ASCII in place of a character."""
    if character in _LOOK_ALIKE:
        return _LOOK_ALIKE[character]
    # The letter of "é" without its accent, the digit of "²".
    parts = unicodedata.normalize("NFKD", character)
    return "".join(each for each in parts if each.isascii()) or ("" if unicodedata.combining(character) else "?")


def _plain_ascii(name: str) -> codecs.CodecInfo | None:
    if name.replace("_", "-") != PLAIN_ASCII:
        return None
    ascii_codec = codecs.lookup("ascii")
    return codecs.CodecInfo(
        ascii_codec.encode, ascii_codec.decode, ascii_codec.streamreader, ascii_codec.streamwriter,
        ascii_codec.incrementalencoder, ascii_codec.incrementaldecoder, PLAIN_ASCII,
    )  # fmt: skip


codecs.register_error(REPLACING, _replaced)
codecs.register(_plain_ascii)

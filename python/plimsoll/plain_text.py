"""Text from elsewhere, made harmless for those who read it as text: people at a terminal, logs, and GitHub Actions.

Formats with a grammar of their own escape what they need to beyond that: `render/markdown.py`, `render/html.py`,
`report/text.py`, `render/csv_writer.py`, `render/annotations.py`, `render/run_junit.py`, `charts/chart.py`.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MARK = "\ufffd"
MASK = "***"
_HELD = "\u00a0\u202f"
"""Blanks that stand between groups of digits, and between a number and its unit."""
_BLANKS = re.compile(r"[^\S\u00a0\u202f]+")
_COMMAND = re.compile(r"^\s*:(?=:)|##(?=\[)", re.MULTILINE)
"""What GitHub Actions takes for a command in the output of a step: `::error::…` at the beginning of a line, `##[…]`."""

# Each of these takes time in proportion to the text: it begins with something literal, and never goes far back.
_SCHEME = r"(?P<scheme>\b[a-zA-Z][a-zA-Z0-9+.\-]{0,30}:)/{1,2}"
"""A path that was made of a URL has one slash where that has two."""
# The user information of a URL goes up to the last "@" before the path. Anything that ends a URL's authority ends it,
# and so do white space and quotes, because URLs are found inside of messages and command lines too.
_USERINFO = re.compile(rf"{_SCHEME}(?P<userinfo>[^/?#\s\"'<>]*)@")
# A password with a blank in it is a mistake. `http://host:8000 refused a@b` has none: this is a port.
_PASSWORD = r"[^/?#\"'<>\n@]{1,300}"
_WITH_BLANK = re.compile(rf"{_SCHEME}(?P<userinfo>[^/?#\s\"'<>:@]{{1,100}}:(?!\d{{1,5}}\s){_PASSWORD})@")
# A message quotes what cannot be a URL: one without a scheme, say.
_QUOTED = re.compile(
    r"(?<=[\"'])(?P<scheme>(?:[a-zA-Z][a-zA-Z0-9+.\-]{0,30}:)?)(?:/{1,3})?"
    rf"(?P<userinfo>[^/?#\s\"'<>@:]{{1,100}}:{_PASSWORD})@"
)


def printable(text: str) -> str:
    """The text with a mark in place of each control character, those that change the direction of writing included.
    Blanks that hold a number together stay."""
    if text.isprintable():
        return text
    return text.translate({ord(each): MARK for each in set(text) if not each.isprintable() and each not in _HELD})


def one_line(text: str) -> str:
    """The text without line breaks and control characters, so that a target's message cannot steer the terminal."""
    return printable(_BLANKS.sub(" ", text).strip())


def plain_lines(text: str) -> str:
    """The text with marks in place of control characters, except for the ends of its lines. None of the lines is a
    command of GitHub Actions."""
    return without_commands("\n".join(map(printable, text.expandtabs().split("\n"))))


def without_commands(text: str) -> str:
    """The text with a blank in what GitHub Actions would take for a command."""
    return _COMMAND.sub(r"\g<0> ", text) if "::" in text or "##[" in text else text


def without_userinfo(text: str) -> str:
    """The text with the passwords of URLs masked, also of what looks like a URL with a mistake. A URL of HTTP, a
    WebSocket, gRPC or a SOCKS proxy with a user but no password is taken to carry a token in the user's place, which is
    masked as well."""
    if "@" not in text:
        return text
    return _QUOTED.sub(_mask, _WITH_BLANK.sub(_mask, _USERINFO.sub(_mask, text)))


def without_passwords_of(words: Iterable[str], text: str) -> str:
    """The text, which may repeat some of these words, with the passwords masked of all that look like URLs."""
    for word in words:
        for url in filter(None, (word, word.partition("=")[2]) if "@" in word else ()):
            text = text.replace(url, without_userinfo(f"'{url}'")[1:-1])
    return without_userinfo(text)


_WITH_TOKENS = ("http", "https", "ws", "wss", "grpc", "grpcs", "socks5", "socks5h")


def _mask(found: re.Match[str]) -> str:
    scheme, userinfo = found["scheme"], found["userinfo"]
    user, _, password = userinfo.partition(":")
    whole, start = found[0], found.start()
    before = whole[: found.start("userinfo") - start]
    if password:
        return f"{before}{user}:{MASK}@"
    if userinfo and scheme.lower().rstrip(":") in _WITH_TOKENS:
        return f"{before}{MASK}@"
    return whole


class LogFormatter(logging.Formatter):
    """Messages and tracebacks contain data of the target, which must not control a terminal, and URLs."""

    def format(self, record: logging.LogRecord) -> str:
        return plain_lines(without_userinfo(super().format(record)))

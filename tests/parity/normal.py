"""Makes equal what may differ: every rule with its reason. What no rule names is compared as it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

RULES: tuple[tuple[str, str, str], ...] = (
    (r"/tmp/parity-(locust|plimsoll)-\w+", "FOLDER", "every run has a working directory of its own"),
    (r'  File "(?!FOLDER)[^"]*", line \d+, in \S+\n(    .*\n)*', "", "frames of the tools themselves in a traceback"),
    (r"0x[0-9a-f]{6,}", "0x…", "addresses of objects"),
    (r"127\.0\.0\.1:[0-9]{4,5}", "TARGET", "the target has another port in every run of the harness"),
    (r"(localhost):[0-9]{4,5}", r"\1:PORT", "the same by name"),
    (r"port=[0-9]{4,5}", "port=PORT", "the same in the words of urllib3"),
    (r"multipart/form-data; boundary=[0-9a-f]{32}", "multipart/form-data; boundary=BOUNDARY", "drawn at random"),
    (r"--[0-9a-f]{32}", "--BOUNDARY", "the same in a body"),
    (r"([?&]_=)[0-9]{13}\b", r"\1MS", "rest_() puts the time of day into the URL"),
    (r'(response="|cnonce=")[0-9a-f]{16,32}"', r"\1DRAWN", "the client's nonce of a digest is drawn at random"),
)
"""(pattern, what stands for it, why)"""

_COMPILED = tuple((re.compile(pattern), text) for pattern, text, _ in RULES)


def text(value: str) -> str:
    """The text by all rules."""
    for pattern, replacement in _COMPILED:
        value = pattern.sub(replacement, value)
    return value


def value(any_value: Any) -> Any:
    """The same for everything in a value as JSON has it."""
    if isinstance(any_value, str):
        return text(any_value)
    if isinstance(any_value, dict):
        return {text(key): value(each) for key, each in any_value.items()}
    if isinstance(any_value, (list, tuple)):
        return [value(each) for each in any_value]
    return any_value


def relative(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder))

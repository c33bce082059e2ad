"""Texts that a target, a file or a user may send, and how they are planted in everything that is reported."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import re
import sys
import typing
from typing import Any, Literal

PIECES = (
    "\x1b[31mred\x1b]0;PWNED\x07",
    "\x9b31m",
    "\u202egpj.exe\u2066\u2069\u200f",
    "\n::error::planted",
    "\r\n##[error]planted",
    "%0A::warning::planted",
    "[x](javascript:alert(1)) ![x](http://planted.example/x.png)",
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    "|a|b|",
    "`code` ```\n<details>",
    "=cmd|' /C calc'!A0",
    "\" ' \\ \\\" \\' \\\\",
    "\u2028\u2029\x85",
    "]]> --> */ ;",
    "x" * 200,
)
BEGINNINGS = ("", "::error title=planted::", "=cmd|", "# ", "`", "\\")
"""What does harm at the beginning of a line, of a cell or of a text."""
NOT_STORED = ("\0", "\ud800", "\udfff")
"""A store takes none of these; a study of imported results may have them."""
TEXT = "".join(PIECES)

SPARED = {
    ("Finding", "id"): "the name of a rule",
    ("FailureKind", "outcome"): "an outcome of the engine",
    ("Noise", "kind"): "a kind of metric",
    ("TracedRequest", "outcome"): "an outcome of the engine",
    ("TracedRequest", "trace"): "hexadecimal digits of our own",
    ("Metric", "endpoint"): "names an endpoint as a user writes it; it is planted with the endpoints",
}
"""Texts that are names of ours: others would be another study, not another text."""
SPARED_KEYS = {("Measured", "outcomes"), ("Measured", "quantiles"), ("Finding", "evidence"), ("Precision", "digits")}


def planted(value: Any, text: str) -> Any:
    """A copy of a dataclass with the text before each text in it. Equal texts stay equal."""
    if isinstance(value, str):
        return text + value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(planted(each, text) for each in value))
    if isinstance(value, tuple | list):
        return type(value)(planted(each, text) for each in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _of_dataclass(value, text)
    return value


def _of_dataclass(value: Any, text: str) -> Any:
    kind = type(value)
    new: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        old = getattr(value, field.name)
        is_text = isinstance(old, str | tuple | list | dict) or dataclasses.is_dataclass(old)
        if (
            not field.init
            or not is_text
            or not old
            or _is_ours(kind, str(field.type))
            or (kind.__name__, field.name) in SPARED
        ):
            continue
        if isinstance(old, dict):
            keys = (lambda key: key) if (kind.__name__, field.name) in SPARED_KEYS else _planted_key(text)
            new[field.name] = {keys(key): planted(each, text) for key, each in old.items()}
        else:
            new[field.name] = planted(old, text)
    return dataclasses.replace(value, **new)


def _planted_key(text: str) -> Any:
    return lambda key: planted(key, text)


@functools.cache
def _is_ours(kind: type, annotation: str) -> bool:
    """One of a few words, by the names of types in an annotation."""
    names: dict[str, Any] = {}
    for name in ("stats.study", "stats.metric", "stats.findings.finding", "stats.compare.comparison", "stats.kinds"):
        names |= vars(importlib.import_module(f"plimsoll.{name}"))
    names |= vars(sys.modules[kind.__module__])
    words = re.findall(r"\w+", annotation)
    return "Literal" in words or any(typing.get_origin(names.get(word)) is Literal for word in words)

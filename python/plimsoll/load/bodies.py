"""Texts of a request: its body in four notations, its method and its headers."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus

from plimsoll.load.mistakes import BadValueError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PLAIN = r"\$\$\{|[^}$]|\$(?!\{)"
_INSIDE = rf"(?:{_PLAIN})*+"
for _ in range(4):
    _INSIDE = rf"(?:{_PLAIN}|\$\{{{_INSIDE}\}})*+"
"""What is between `${` and `}`: the texts of functions may have variables and functions, which may have others."""
_FIXED = re.compile(rf"(?<!\$)\$\{{{_INSIDE}\}}?")
"""A variable that is not escaped."""
_VARIABLE = re.compile(rf"\$?\$\{{{_INSIDE}\}}")


def json_template(value: Any) -> str:
    """A JSON document that contains variables. Raises UsageError if filling them in would make it invalid."""
    if not isinstance(value, str):
        return _json(value)
    try:
        json.loads(without_variables(value))
    except json.JSONDecodeError as error:
        raise BadValueError(
            f"{shown(value)} is not JSON: {error.msg} (line {error.lineno}); for other text there is body"
        ) from error
    return value


def without_variables(text: str) -> str:
    """A JSON document with a number in place of each variable."""
    return _VARIABLE.sub("0", text)


def fixed_text(text: str) -> str:
    """A text in which no variables are replaced, with `$${` as in other texts. Raises UsageError for one with a
    variable: it would be taken literally."""
    if match := _FIXED.search(text):
        name = shown(match.group())
        raise BadValueError(f"variables are not replaced here, so {name} would be literal; for the text ${{ write $${{")
    return text.replace("$${", "${")


def has_variables(text: str) -> bool:
    """Whether a text has a variable that is not escaped."""
    return _FIXED.search(text) is not None


def json_value(value: Any) -> Any:
    """The value as it is. Raises UsageError if JSON has no such value."""
    _json(value)
    return value


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadValueError(f"cannot be JSON: {error}; put dates and times into quotes") from error


def form_template(fields: Mapping[str, Sequence[str]]) -> str:
    """An application/x-www-form-urlencoded body: encoded, but for variables, whose values are encoded as they are
    filled in."""
    return "&".join(f"{_form_text(name)}={_form_text(value)}" for name, values in fields.items() for value in values)


def _form_text(text: str) -> str:
    pieces, position = [], 0
    for match in _FIXED.finditer(text):
        pieces += [quote_plus(text[position : match.start()].replace("$${", "${")), match.group()]
        position = match.end()
    return "".join((*pieces, quote_plus(text[position:].replace("$${", "${"))))


def encoded(content: bytes) -> dict[str, str]:
    """A body that is sent unchanged."""
    return {"base64": base64.b64encode(content).decode("ascii")}


def is_method(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def header_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise BadValueError(f"{shown(name)} cannot be the name of a header")
    return name


def header_value(value: str) -> str:
    if any(character in value for character in "\r\n\0"):
        raise BadValueError(f"{shown(value)} cannot be the value of a header: it has a line end or NUL")
    return value


def header_lines(headers: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """In the format for native users."""
    return [[name, value] for name, values in headers.items() for value in values]


def overridden(weak: list[list[str]], strong: list[list[str]]) -> list[list[str]]:
    """All lines of `strong`, and those of `weak` with other names."""
    names = {name.lower() for name, _ in strong}
    return [*(line for line in weak if line[0].lower() not in names), *strong]


def parse_header(line: str) -> list[str]:
    """`Name: value`. Raises UsageError."""
    name, colon, value = line.partition(":")
    if not colon:
        raise BadValueError(f"{shown(line)} is not a header; valid is Name: value")
    return [header_name(name.strip()), header_value(value.strip())]

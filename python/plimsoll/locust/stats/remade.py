"""Recreates exceptions from the text of their `repr`."""

from __future__ import annotations

import ast
import builtins
import socket
import warnings
from typing import Any

from requests import exceptions as requests_errors

from plimsoll.users import exceptions as locust_errors

_PLACES = (locust_errors, builtins, requests_errors, socket)
"""Modules searched for exception classes by name; the first match counts."""


class FiledError(Exception):
    """Represents an exception of an unknown class. It has the arguments that can be read from the text."""

    def __init__(self, text: str, *args: Any) -> None:
        super().__init__(*args)
        self.text = text

    def __str__(self) -> str:
        return super().__str__() if self.args else self.text

    def __repr__(self) -> str:
        return self.text


def remade(text: str) -> BaseException:
    """An exception with this text as its `repr`, and with the original's `str` if the text contains it."""
    try:
        with warnings.catch_warnings(action="ignore"):
            node = ast.parse(text, mode="eval").body
        return _made(node, text) if isinstance(node, ast.Call) else FiledError(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return FiledError(text)


def _made(call: ast.Call, text: str) -> BaseException:
    own = ast.get_source_segment(text, call) or text
    if call.keywords or not isinstance(call.func, ast.Name):
        return FiledError(own)
    arguments = [_value(each, text) for each in call.args]
    kind = next((found for place in _PLACES if _is_error(found := getattr(place, call.func.id, None))), None)
    if kind is not None:
        try:
            made = kind(*arguments)
            if repr(made) == own:
                return made  # type: ignore[no-any-return]
        except Exception:
            pass
    return FiledError(own, *arguments)


def _value(node: ast.expr, text: str) -> Any:
    """Raises ValueError unless it is an exception or a constant."""
    return _made(node, text) if isinstance(node, ast.Call) else ast.literal_eval(node)


def _is_error(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, BaseException)

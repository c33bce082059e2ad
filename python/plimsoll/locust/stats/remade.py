"""Exceptions made again from the text of their `repr`."""

from __future__ import annotations

import ast
import builtins
import socket
import warnings
from typing import Any

from requests import exceptions as requests_errors

from plimsoll.users import exceptions as locust_errors

_PLACES = (locust_errors, builtins, requests_errors, socket)
"""Where classes of exceptions are looked for by their names; the first that has one counts."""


class FiledError(Exception):
    """Stands for an exception whose class is not known here. It has the arguments that can be read from the text."""

    def __init__(self, text: str, *args: Any) -> None:
        super().__init__(*args)
        self.text = text

    def __str__(self) -> str:
        return super().__str__() if self.args else self.text

    def __repr__(self) -> str:
        return self.text


def remade(text: str) -> BaseException:
    """An exception whose `repr` is this text, and whose `str` is that of the original where the text has it."""
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
    """Raises ValueError for what is neither an exception nor a constant."""
    return _made(node, text) if isinstance(node, ast.Call) else ast.literal_eval(node)


def _is_error(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, BaseException)

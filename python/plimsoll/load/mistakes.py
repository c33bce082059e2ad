"""Errors about unusable values, and their wording."""

from __future__ import annotations

import difflib
import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from plimsoll.errors import UsageError
from plimsoll.plain_text import without_userinfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Read = TypeVar("Read")

_LONGEST = 60


class BadValueError(UsageError, ValueError):
    """A value is wrong. Also a ValueError, so that pydantic collects it with the others of a file.

    field: the field at fault, below the value that was being read; "" for the value itself.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Complaint:
    """One error of a file."""

    path: str
    """Of the field, e.g. `phase[1].rate`; "" for the whole file."""
    message: str


def at(field: str, read: Callable[[Any], Read], value: Any) -> Read:
    """The parsed value; errors name a field below the one that is being read."""
    try:
        return read(value)
    except BadValueError as error:
        raise BadValueError(str(error), f"{field}.{error.field}".strip(".")) from error


@contextmanager
def named(place: str) -> Iterator[None]:
    """Errors in this block name an option, or a line of a file. Raises BadValueError."""
    try:
        yield
    except BadValueError as error:
        raise BadValueError(f"{place}: {error}") from error


def shown(value: object) -> str:
    """A value in a plan's notation, cut off if long. Passwords of URLs are masked."""
    text = without_userinfo(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.7)
    return found[0] if found else None

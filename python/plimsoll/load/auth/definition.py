"""What native users get of `auth`, and what of it may be shown. It is read without what reads plans.

A definition has a list `auths` of the ways that are made anew for each request, and steps have their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.redact import MASK

if TYPE_CHECKING:
    from collections.abc import Iterable

Value = str | float | list[list[str]] | None
AuthFields = dict[str, dict[str, Value]]
"""The kind of a scheme, and its fields."""
_PLAIN = ("name", "target", "path", "issuer", "timeout", "refresh_before", "region", "service")
"""Fields of a definition that say nothing secret."""


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """The request for a token, in the format for native users."""

    name: str
    """The URL, for messages and for its row."""
    target: int
    path: str
    headers: list[list[str]]
    authorization: str | None
    """The value of the header: the client, if the form does not name it."""
    body: str
    refresh: str
    """The form for another token by a refresh token, without that."""
    refresh_before: float
    """Seconds."""
    timeout: float
    """Seconds."""
    issuer: str | None = None
    """Whose metadata have the URL; None when it is known. Until then target and path are those of the metadata."""


def plain_auths(auths: Iterable[AuthFields]) -> list[AuthFields]:
    """The list `auths` of a definition as it may be shown and kept."""
    return [
        {
            kind: {name: value if name in _PLAIN or value is None else MASK for name, value in fields.items()}
            for kind, fields in auth.items()
        }
        for auth in auths
    ]

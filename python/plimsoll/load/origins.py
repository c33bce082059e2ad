"""The target of a URL: the origin to connect to, and the request path."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from plimsoll._engine import Origin
from plimsoll.load.mistakes import BadValueError, shown

_SCHEMES = ("http://", "https://", "http+unix://")
_SOCKET_SCHEMES = {"ws": "http", "wss": "https"}
"""A WebSocket begins as a request to the same host with this scheme."""


class Address(NamedTuple):
    origin: str
    """scheme://host[:port]"""
    path: str
    """Path and query as sent; begins with "/"."""


def is_url(text: str) -> bool:
    return text.lower().startswith(_SCHEMES)


def is_socket_url(text: str) -> bool:
    """It is the URL of a WebSocket."""
    return text.lower().startswith(("ws://", "wss://"))


def split_socket_url(url: str) -> Address:
    """The target of the request that opens a WebSocket. Raises UsageError for another URL."""
    scheme, _, rest = url.partition("://")
    if not is_socket_url(url):
        raise BadValueError(
            f'{shown(url)} is not the URL of a WebSocket; valid is "ws://127.0.0.1:8000/chat" or a path'
        )
    return split_url(f"{_SOCKET_SCHEMES[scheme.lower()]}://{rest}")


def split_url(url: str) -> Address:
    """Raises UsageError for a URL that cannot be requested."""
    if is_socket_url(url):
        why = "is the URL of a WebSocket, which a step opens with connect; elsewhere write http:// or https://"
        raise BadValueError(f"{shown(url)} {why}")
    if not is_url(url):
        raise BadValueError(f"{shown(url)} is not a URL; valid is http://127.0.0.1:8000/path")
    head, slashes, rest = url.partition("://")
    end = min((at for at in (rest.find(mark) for mark in "/?#") if at >= 0), default=len(rest))
    origin, path = head + slashes + rest[:end], rest[end:].partition("#")[0]
    if "${" in origin:
        raise BadValueError(f"{shown(origin)} cannot be a template: variables are for what comes after the host")
    if "@" in origin:
        raise BadValueError(f"{shown(url)} has a user and a password; send an Authorization header instead")
    _check(origin)
    return Address(origin, path if path.startswith("/") else f"/{path}")


@cache
def _check(origin: str) -> None:
    # Cached: target files have the same one in every line.
    try:
        Origin(origin)
    except ValueError as error:
        raise BadValueError(str(error)) from error


def escaped(text: str) -> str:
    """A plain text as a template."""
    return text.replace("${", "$${")


def target(origin: str, headers: list[list[str]] | None = None, *, http2: bool = False) -> dict[str, object]:
    """A target without other settings, in the format for native users."""
    made = {"url": origin, "verify": True, "cert": None, "proxy": None, "headers": headers or []}
    return made | ({"http2": True} if http2 else {})

"""The target of a URL: the origin to connect to, and the request path."""

from __future__ import annotations

import base64
import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from plimsoll._engine import Origin
from plimsoll.load.mistakes import BadValueError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult

_ZONE = re.compile(r"://\[[0-9A-Fa-f:.]+%")
_SCHEMES = ("http://", "https://", "http+unix://")
_SOCKET_SCHEMES = {"ws": "http", "wss": "https"}
"""A WebSocket begins as a request to the same host with this scheme."""
_GRPC_SCHEMES = {"grpc": "http", "grpcs": "https"}
"""A call of gRPC is a request to the same host with this scheme, over HTTP/2."""


def basic_authorization(user: str) -> str:
    """The value of an Authorization header. user: with a colon and a password."""
    return f"Basic {base64.b64encode(user.encode()).decode()}"


def authorization_of(parts: SplitResult) -> dict[str, str]:
    """The header for the user and the password of a URL; none without a user."""
    if parts.username is None:
        return {}
    return {"Authorization": basic_authorization(f"{unquote(parts.username)}:{unquote(parts.password or '')}")}


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


def is_grpc_url(text: str) -> bool:
    """It is the URL of a method, or of a target, of gRPC."""
    return text.lower().startswith(("grpc://", "grpcs://"))


def is_host_url(text: str) -> bool:
    """It is the URL of a host that users of a locustfile may have."""
    return is_url(text) or is_grpc_url(text)


def http_url(url: str) -> str:
    """The same for HTTP, if it is a URL of gRPC."""
    scheme, _, rest = url.partition("://")
    return f"{_GRPC_SCHEMES[scheme.lower()]}://{rest}" if is_grpc_url(url) else url


def grpc_url(url: str) -> str:
    """The inverse of `http_url`, for the target of a call."""
    scheme, mark, rest = url.partition("://")
    known = {http: grpc for grpc, http in _GRPC_SCHEMES.items()}
    return f"{known.get(scheme, scheme)}{mark}{rest}"


def target_urls(scenario: Mapping[str, Any]) -> list[str]:
    """The targets as people know them: one that has nothing but calls is of gRPC."""
    others = {step.get("target") or 0 for flow in scenario["flows"] for step in flow["steps"] if not step.get("grpc")}
    calls = {step.get("target") or 0 for flow in scenario["flows"] for step in flow["steps"]} - others
    return [
        grpc_url(target["url"]) if index in calls else target["url"] for index, target in enumerate(scenario["targets"])
    ]


def split_grpc_url(url: str) -> Address:
    """The target of a call, and its path. Raises UsageError for another URL."""
    if not is_grpc_url(url):
        raise BadValueError(
            f'{shown(url)} is not a URL of gRPC; valid is "grpc://127.0.0.1:50051/package.Service/Method"'
        )
    return split_url(http_url(url))


def split_target(url: str) -> tuple[Address, bool]:
    """The base URL of a target, and whether it is one of gRPC. Raises UsageError."""
    return (split_grpc_url(url), True) if is_grpc_url(url) else (split_url(url), False)


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
    if is_grpc_url(url):
        raise BadValueError(f"{shown(url)} is a URL of gRPC, which a step calls with grpc; elsewhere write http://")
    if not is_url(url):
        raise BadValueError(f"{shown(url)} is not a URL; valid is http://127.0.0.1:8000/path")
    head, slashes, rest = url.partition("://")
    end = min((at for at in (rest.find(mark) for mark in "/?#") if at >= 0), default=len(rest))
    origin, path = head + slashes + rest[:end], rest[end:].partition("#")[0]
    if "${" in origin:
        raise BadValueError(f"{shown(origin)} cannot be a template: variables are for what comes after the host")
    if "@" in origin:
        raise BadValueError(f"{shown(url)} has a user and a password; send an Authorization header instead")
    if _ZONE.search(origin):
        raise BadValueError(
            f"{shown(origin)} has the zone of a link-local address, which is not supported; use a global address or a "
            "name of the target"
        )
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
